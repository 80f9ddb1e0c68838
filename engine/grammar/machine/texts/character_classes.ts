// Classes of bytes in a string's content, as bits. If all bytes of some classes lead from a state
// back to it, whole subtrees of tokens are accepted at once.

/** Sets of bytes that strings usually treat alike; ASCII only. */
const CLASSES = [
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

/** Valid characters beyond ASCII, except for the line separators. */
export const BEYOND_ASCII = 1 << CLASSES.length;

/** U+2028 and U+2029, which the dot of patterns does not match. */
export const LINE_SEPARATORS = 2 * BEYOND_ASCII;

/** All classes whose bytes need no escape. */
export const EVERY_CLASS = 4 * BEYOND_ASCII - 1;

/** Quotes, escapes, control characters and invalid UTF-8, which always have to be examined. */
export const UNSAFE = 4 * BEYOND_ASCII;

/** The ASCII bytes of each class, in the order of their bits. */
export const CLASS_MEMBERS: readonly (readonly number[])[] = CLASSES.map((members) =>
  [...members].map((member) => member.charCodeAt(0))
);

/** The class of each ASCII byte, as a bit; UNSAFE for the others. */
export const CLASS_OF: Int32Array = new Int32Array(256).fill(UNSAFE);
CLASS_MEMBERS.forEach((members, index) => {
  for (const member of members) CLASS_OF[member] = 1 << index;
});

/** The classes of some ASCII characters. */
export function classesOf(characters: string): number {
  let classes = 0;
  for (const character of characters) classes |= CLASS_OF[character.charCodeAt(0)]!;
  return classes;
}

/** The first two bytes of the line separators, as one number. */
const SEPARATOR_PREFIX = 0xe280;

/**
 * Whether a character beyond ASCII is a line separator, by its last byte and the number of those
 * before.
 */
export function isSeparator(before: number, last: number): boolean {
  return before === SEPARATOR_PREFIX && (last === 0xa8 || last === 0xa9);
}

/**
 * Whether line separators are among the characters with these first bytes that lack a number of
 * bytes.
 */
export function holdsSeparators(begun: number, left: number): boolean {
  return left === 1 && begun === SEPARATOR_PREFIX || left === 2 && begun === SEPARATOR_PREFIX >> 8;
}

/** Number of bytes that must follow a first byte of UTF-8; -1 if it is not one. */
export function continuationsOf(byte: number): number {
  if (byte < 0x80) return 0;
  if (byte >= 0xc2 && byte < 0xe0) return 1;
  if (byte >= 0xe0 && byte < 0xf0) return 2;
  return byte >= 0xf0 && byte < 0xf5 ? 3 : -1;
}

/** The first and last second byte that may follow a first byte of UTF-8. */
export function secondBytesOf(first: number): readonly [number, number] {
  if (first === 0xe0) return [0xa0, 0xbf];
  if (first === 0xed) return [0x80, 0x9f];
  if (first === 0xf0) return [0x90, 0xbf];
  if (first === 0xf4) return [0x80, 0x8f];
  return [0x80, 0xbf];
}

/** The first and last byte that may follow the second one of a character. */
export const ANY_SECOND: readonly [number, number] = [0x80, 0xbf];
