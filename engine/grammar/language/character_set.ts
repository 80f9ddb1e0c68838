// Sets of characters as sorted, disjoint intervals of code points. A character is a Unicode scalar
// value: surrogates are in no set that `characterSet` makes.

/** Inclusive intervals, flat: [low, high, low, high, …], sorted, neither touching nor overlapping. */
export type CharacterSet = readonly number[];

/** The last code point. */
export const LAST_CHARACTER = 0x10ffff;

/** Every character. */
export const ANY_CHARACTER: CharacterSet = [0, 0xd7ff, 0xe000, LAST_CHARACTER];

function normalize(pairs: readonly (readonly [number, number])[]): CharacterSet {
  const sorted = pairs.filter(([low, high]) => low <= high).sort((a, b) => a[0] - b[0]);
  const set: number[] = [];
  for (const [low, high] of sorted) {
    const last = set.length - 1;
    if (last > 0 && low <= set[last]! + 1) set[last] = Math.max(set[last]!, high);
    else set.push(low, high);
  }
  return set;
}

function toPairs(set: CharacterSet): [number, number][] {
  const pairs: [number, number][] = [];
  for (let i = 0; i < set.length; i += 2) pairs.push([set[i]!, set[i + 1]!]);
  return pairs;
}

/** The characters of inclusive ranges, in any order. */
export function characterSet(...ranges: readonly (readonly [number, number])[]): CharacterSet {
  return intersectSets(normalize(ranges), ANY_CHARACTER);
}

/** The characters that are in `a` or in `b`. */
export function uniteSets(a: CharacterSet, b: CharacterSet): CharacterSet {
  return normalize([...toPairs(a), ...toPairs(b)]);
}

/** The characters that are in `a` and in `b`. */
export function intersectSets(a: CharacterSet, b: CharacterSet): CharacterSet {
  const set: number[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const low = Math.max(a[i]!, b[j]!);
    const high = Math.min(a[i + 1]!, b[j + 1]!);
    if (low <= high) set.push(low, high);
    if (a[i + 1]! < b[j + 1]!) i += 2;
    else j += 2;
  }
  return set;
}

/** The characters that are not in `set`. */
export function invertSet(set: CharacterSet): CharacterSet {
  const gaps: number[] = [];
  let low = 0;
  for (let i = 0; i < set.length; i += 2) {
    if (low < set[i]!) gaps.push(low, set[i]! - 1);
    low = set[i + 1]! + 1;
  }
  if (low <= LAST_CHARACTER) gaps.push(low, LAST_CHARACTER);
  return intersectSets(gaps, ANY_CHARACTER);
}

/** The last code point before an offset of a text. */
export function lastCodePoint(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  const codePoint = end > 1 && unit >= 0xdc00 && unit <= 0xdfff ? text.codePointAt(end - 2)! : unit;
  return codePoint > 0xffff ? codePoint : unit;
}

/** Whether `set` holds a code point. */
export function hasCharacter(set: CharacterSet, codePoint: number): boolean {
  let low = 0;
  let high = set.length >> 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (set[2 * middle + 1]! < codePoint) low = middle + 1;
    else high = middle;
  }
  return 2 * low < set.length && set[2 * low]! <= codePoint;
}

/** A division of the numbers from 0 on into segments, each with the number of its block. */
export interface Partition {
  /** The first code point of each segment; the first is 0. */
  readonly starts: readonly number[];
  /** The block of each segment: segments of one block are in the same sets. */
  readonly blocks: readonly number[];
  /** Number of blocks. */
  readonly count: number;
}

/** The coarsest partition in which each set is a union of blocks. */
export function partition(sets: readonly CharacterSet[]): Partition {
  const cuts = new Set([0]);
  for (const set of sets) {
    for (let i = 0; i < set.length; i += 2) cuts.add(set[i]!).add(set[i + 1]! + 1);
  }
  const starts = [...cuts].sort((a, b) => a - b);
  let blocks = new Array<number>(starts.length).fill(0);
  let count = 1;
  for (const set of sets) {
    const renamed = new Map<number, number>();
    let interval = 0;
    blocks = blocks.map((block, i) => {
      while (interval < set.length && set[interval + 1]! < starts[i]!) interval += 2;
      const inside = interval < set.length && set[interval]! <= starts[i]!;
      const key = 2 * block + (inside ? 1 : 0);
      const name = renamed.get(key) ?? renamed.size;
      renamed.set(key, name);
      return name;
    });
    count = renamed.size;
  }
  return { starts, blocks, count };
}

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

/** All classes of ASCII. */
export const ASCII = 2 ** ASCII_CLASSES.length - 1;

/** Characters beyond ASCII, except for white space. */
export const BEYOND_ASCII = ASCII + 1;

/** White space beyond ASCII that is plain: what \\s matches. */
const SPACES = 2 * BEYOND_ASCII;

/** All classes of plain characters. */
export const EVERY_CLASS = ASCII | BEYOND_ASCII | SPACES;

/**
 * What is not plain: quotes, backslashes and control characters, and U+2028 and U+2029, which a dot
 * in patterns does not match.
 */
export const ROUGH = 2 * SPACES;

const CLASS_OF_ASCII = new Int32Array(0x80).fill(ROUGH);
ASCII_CLASSES.forEach((members, index) => {
  for (const member of members) CLASS_OF_ASCII[member.charCodeAt(0)] = 1 << index;
});

/** Inclusive ranges from 0x80 on of other classes than BEYOND_ASCII; surrogates are not plain. */
const EXCEPTIONS = [
  [0xa0, 0xa0, SPACES],
  [0x1680, 0x1680, SPACES],
  [0x2000, 0x200a, SPACES],
  [0x2028, 0x2029, ROUGH],
  [0x202f, 0x202f, SPACES],
  [0x205f, 0x205f, SPACES],
  [0x3000, 0x3000, SPACES],
  [0xd800, 0xdfff, ROUGH],
  [0xfeff, 0xfeff, SPACES],
] as const;

/** The class of a character, or {@linkcode ROUGH}. */
export function classOf(codePoint: number): number {
  if (codePoint < 0x80) return CLASS_OF_ASCII[codePoint]!;
  for (const [low, high, classes] of EXCEPTIONS) {
    if (codePoint <= high) return codePoint < low ? BEYOND_ASCII : classes;
  }
  return BEYOND_ASCII;
}

/** The classes of the plain characters among some code points, both ends included. */
export function classesBetween(low: number, high: number): number {
  let classes = 0;
  for (let at = low; at <= Math.min(high, 0x7f); at++) classes |= CLASS_OF_ASCII[at]!;
  let first = Math.max(low, 0x80);
  for (const [from, to, own] of EXCEPTIONS) {
    if (from > high) break;
    if (to < first) continue;
    classes |= first < from ? BEYOND_ASCII | own : own;
    first = to + 1;
  }
  if (first <= high) classes |= BEYOND_ASCII;
  return classes & EVERY_CLASS;
}

/**
 * Whether tokens that end within a character tell whether they are of some classes: their last
 * bytes count as BEYOND_ASCII, and may begin white space too.
 */
export function areSeparable(classes: number): boolean {
  return (classes & (BEYOND_ASCII | SPACES)) !== SPACES;
}

/** The classes of the plain characters in a set; undefined if it has only a part of one. */
export function wholeClasses(set: CharacterSet): number | undefined {
  const classesIn = (ranges: CharacterSet) => {
    let classes = 0;
    for (let at = 0; at < ranges.length; at += 2) {
      classes |= classesBetween(ranges[at]!, ranges[at + 1]!);
    }
    return classes;
  };
  const inside = classesIn(set);
  const isWhole = (inside & classesIn(invertSet(set))) === 0;
  return isWhole && areSeparable(inside) ? inside : undefined;
}

/** The classes of the characters of a text. */
export function classesOf(text: string): number {
  let classes = 0;
  for (const character of text) classes |= classOf(character.codePointAt(0)!);
  return classes;
}
