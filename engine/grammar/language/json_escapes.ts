// The spelling of characters in a JSON string: UTF-8, with the escapes of JSON.stringify and no
// others (RFC 8259, section 7). Plain text has no escapes.

import type { Expression } from "./expression_store.ts";
import { segmentOf } from "./segments.ts";
import type { Work } from "./work.ts";

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

// A character of a string of which some bytes are written: the code points that it may still
// become, in UTF-8 (RFC 3629) or as the letters of an escape, and what follows each of them.

/** The code points that are still possible, and their targets. */
export interface PartialCharacter {
  /** Number of bytes to come, of 6 bits each; 0 for an escape. */
  readonly length: number;
  /** The language before the character, and the first possible code point; 0 for an escape. */
  readonly language: Expression;
  readonly low: number;
  /**
   * The first number of each segment, relative to the first possible code point; for an escape,
   * bytes.
   */
  readonly starts: readonly number[];
  /** Targets: expressions; for an escape, states. */
  readonly targets: readonly number[];
}

/** The least first byte of a character beyond ASCII. */
export const FIRST_LEAD = 0xc2;

/** The greatest one. */
export const LAST_LEAD = 0xf4;

/** Steps of work for a segment. */
export const SEGMENT_STEPS = 0.25;

/** A first byte of a character. */
export interface LeadByte {
  /** Number of bytes that follow. */
  readonly length: number;
  /**
   * The first code point with this first byte, and the first one that is not spelled longer than
   * necessary.
   */
  readonly low: number;
  readonly fewest: number;
}

/** The facts of a first byte in UTF-8. */
export function leadOf(byte: number): LeadByte {
  if (byte < 0x80) return { length: 0, low: byte, fewest: 0 };
  const length = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
  const low = (byte & (0x3f >> length)) << (6 * length);
  return { length, low, fewest: length === 1 ? 0x80 : length === 2 ? 0x800 : 0x10000 };
}

/** A number above all states and expressions, for keys. */
const MANY = 1 << 24;

/**
 * A key that is equal for characters which continue in the same way, as far as that is easy to see.
 */
export function keyOf(
  { length, language, low, starts, targets }: PartialCharacter,
): string | number {
  if (length === 0) return `${starts} ${targets}`;
  if (targets.length === 1) return 4 * targets[0]! + length;
  return 4 * (MANY + language * 0x110000 + low) + length;
}

/** Segments of code points and their targets. */
export type Segments = Pick<PartialCharacter, "starts" | "targets">;

/** A range of code points, and which of them count. */
export interface SliceOptions {
  /** The first code point, and the base-64 logarithm of their number. */
  readonly low: number;
  readonly length: number;
  /** How many of the first ones are not allowed. */
  readonly skip: number;
  /** The target that is a dead end. */
  readonly empty: Expression;
  /** Whether a target can be completed. */
  readonly isAlive: (target: Expression) => boolean;
  readonly work: Work;
}

/**
 * The segments of 64^length code points, counted from the first one; none if all are dead ends.
 */
export function sliceOf({ starts, targets }: Segments, options: SliceOptions): Segments {
  const { low, length, skip, empty, isAlive, work } = options;
  const end = low + 64 ** length;
  const slice = { starts: [] as number[], targets: [] as Expression[] };
  let hasTarget = false;
  const put = (start: number, target: Expression) => {
    if (slice.targets.at(-1) === target) return;
    slice.starts.push(start);
    slice.targets.push(target);
  };
  if (skip > 0) put(0, empty);
  for (let i = segmentOf(starts, low); i < starts.length && starts[i]! < end; i++) {
    work.spend(SEGMENT_STEPS);
    const last = Math.min(starts[i + 1] ?? end, end) - 1 - low;
    const from = Math.max(starts[i]! - low, skip);
    if (from > last) continue;
    const target = isAlive(targets[i]!) ? targets[i]! : empty;
    hasTarget ||= target !== empty;
    put(from, target);
  }
  return hasTarget ? slice : { starts: [], targets: [] };
}
