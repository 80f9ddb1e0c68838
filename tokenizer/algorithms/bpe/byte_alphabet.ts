// The alphabet of byte-level BPE: every byte has a printable character, so that pieces are strings.
// Printable Latin-1 characters stand for themselves, the other 68 bytes have characters from U+0100
// on. Defined by the encoder of GPT-2 (Radford et al. 2019).

/** The character that stands for each byte. */
export const characterOfByte: string[] = [];
const byteOfCharacter = new Map<string, number>();

for (let byte = 0, shifted = 0x100; byte < 256; byte++) {
  const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
  const character = String.fromCharCode(isPrintable ? byte : shifted++);
  characterOfByte.push(character);
  byteOfCharacter.set(character, byte);
}

const encoder = new TextEncoder();

/** Writes the UTF-8 bytes of `text` in the byte alphabet. */
export function toByteAlphabet(text: string): string {
  let written = "";
  for (const byte of encoder.encode(text)) written += characterOfByte[byte]!;
  return written;
}

/** The bytes of `piece`. Characters outside the alphabet stand for their UTF-8. */
export function fromByteAlphabet(piece: string): Uint8Array {
  const bytes = new Uint8Array(3 * piece.length);
  let length = 0;
  for (const character of piece) {
    const byte = byteOfCharacter.get(character);
    if (byte !== undefined) bytes[length++] = byte;
    else length += encoder.encodeInto(character, bytes.subarray(length)).written;
  }
  return bytes.slice(0, length);
}
