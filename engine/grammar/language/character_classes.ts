// Classes of the characters that a JSON string contains without escapes, as bits of a number. Where
// all characters of a class lead an automaton to the same state, they need not be tried one by one.

/** Sets of ASCII characters that strings usually treat alike. */
const ASCII_CLASSES = [
  "abcdef",
  "ghijklmnopqrstuvwxyz",
  "ABCDEF",
  "GHIJKLMNOPQRSTUVWXYZ",
  "0123456789",
  " ",
  "-",
  "_",
  ".",
  ",",
  ":",
  ";",
  "/",
  "@",
  "+",
  "=",
  "&",
  "?",
  "%",
  "#",
  "!",
  "'",
  "*",
  "~",
  "()",
  "[]{}",
  "<>",
  "$^|`\x7f",
];

/** Characters beyond ASCII, except for the line separators. */
export const BEYOND_ASCII = 1 << ASCII_CLASSES.length;

/** All classes of plain characters. */
export const EVERY_CLASS = 2 * BEYOND_ASCII - 1;

/**
 * What is not plain: quotes, backslashes and control characters, and U+2028 and U+2029, which a dot
 * in patterns does not match.
 */
export const ROUGH = 2 * BEYOND_ASCII;

const CLASS_OF_ASCII = new Int32Array(0x80).fill(ROUGH);
ASCII_CLASSES.forEach((members, index) => {
  for (const member of members) CLASS_OF_ASCII[member.charCodeAt(0)] = 1 << index;
});

/** Code points from 0x80 on that are not plain: the line separators, and surrogates. */
const NOT_PLAIN = [[0x2028, 0x2029], [0xd800, 0xdfff]] as const;

/** The class of a character, or {@linkcode ROUGH}. */
export function classOf(codePoint: number): number {
  if (codePoint < 0x80) return CLASS_OF_ASCII[codePoint]!;
  return NOT_PLAIN.some(([low, high]) => low <= codePoint && codePoint <= high)
    ? ROUGH
    : BEYOND_ASCII;
}

/** The classes of the plain characters among some code points, both ends included. */
export function classesBetween(low: number, high: number): number {
  let classes = 0;
  for (let at = low; at <= Math.min(high, 0x7f); at++) classes |= CLASS_OF_ASCII[at]!;
  const first = Math.max(low, 0x80);
  const isBeyond = first <= high &&
    !NOT_PLAIN.some(([from, to]) => from <= first && high <= to);
  return classes & EVERY_CLASS | (isBeyond ? BEYOND_ASCII : 0);
}

/** The classes of the characters of a text. */
export function classesOf(text: string): number {
  let classes = 0;
  for (const character of text) classes |= classOf(character.codePointAt(0)!);
  return classes;
}
