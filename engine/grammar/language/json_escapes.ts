// How a JSON string's content spells a character: UTF-8, with the escapes of JSON.stringify and no
// others (RFC 8259, section 7). Plain text spells them without escapes.

/** What follows the backslash, by code point; other controls take u00 and two digits. */
export const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x22, '"'],
  [0x5c, "\\"],
  [0x08, "b"],
  [0x0c, "f"],
  [0x0a, "n"],
  [0x0d, "r"],
  [0x09, "t"],
]);

/** Inclusive ranges of characters with one length in bytes, those that read best first. */
const LENGTHS: readonly (readonly [low: number, high: number, bytes: number])[] = [
  [0x61, 0x7a, 1],
  [0x30, 0x39, 1],
  [0x41, 0x5a, 1],
  [0x20, 0x21, 1],
  [0x23, 0x5b, 1],
  [0x5d, 0x7f, 1],
  [0x22, 0x22, 2],
  [0x5c, 0x5c, 2],
  [0x08, 0x0a, 2],
  [0x0c, 0x0d, 2],
  [0x80, 0x7ff, 2],
  [0x800, 0xffff, 3],
  [0x10000, 0x10ffff, 4],
  [0x00, 0x1f, 6],
];

/** A character and how many bytes it takes. */
export interface Spelling {
  readonly character: number;
  readonly bytes: number;
}

/** The same of plain text. */
const PLAIN_LENGTHS: typeof LENGTHS = [
  [0x61, 0x7a, 1],
  [0x30, 0x39, 1],
  [0x41, 0x5a, 1],
  [0x20, 0x7f, 1],
  [0x00, 0x1f, 1],
  [0x80, 0x7ff, 2],
  [0x800, 0xffff, 3],
  [0x10000, 0x10ffff, 4],
];

/** How the characters of a language are written: as the content of a JSON string, or as they are. */
export type Writing = "json" | "plain";

/** The shortest to spell of the characters from `low` to `high`. */
export function cheapestCharacter(low: number, high: number, writing: Writing): Spelling {
  for (const [from, to, bytes] of writing === "json" ? LENGTHS : PLAIN_LENGTHS) {
    if (low <= to && high >= from) return { character: Math.max(low, from), bytes };
  }
  throw new RangeError(`Choosing a character: ${low} to ${high} holds none`);
}

const encoder = new TextEncoder();

/** The canonical spelling of code points, in bytes. */
export function spell(codePoints: readonly number[], writing: Writing): number[] {
  let text = "";
  for (const codePoint of codePoints) text += String.fromCodePoint(codePoint);
  return [...encoder.encode(writing === "json" ? JSON.stringify(text).slice(1, -1) : text)];
}
