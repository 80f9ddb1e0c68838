// The spelling of characters in a JSON string: UTF-8, with the escapes of JSON.stringify and no
// others (RFC 8259, section 7). Plain text has no escapes.

/**
 * The characters after the backslash, by code point. Other control characters take u00 and two
 * digits.
 */
export const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x22, '"'],
  [0x5c, "\\"],
  [0x08, "b"],
  [0x0c, "f"],
  [0x0a, "n"],
  [0x0d, "r"],
  [0x09, "t"],
]);

/** Inclusive ranges of characters with the same length in bytes, the most readable ones first. */
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

/** A character and its number of bytes. */
export interface Spelling {
  readonly character: number;
  readonly bytes: number;
}

/** Characters of plain text, as ranges with the bytes that each takes, as in LENGTHS. */
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

/** A way of writing characters: as the content of a JSON string, or as plain text. */
export type Writing = "json" | "plain";

/** The character from `low` to `high` with the fewest bytes. */
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
