// A character of a string of which some bytes are written: the code points that it may still become, in
// UTF-8 (RFC 3629), or the letters of an escape, and what follows each of them.

import type { Expression } from "./expression_store.ts";
import { segmentOf } from "./segments.ts";
import type { Work } from "./work.ts";

/** The code points still possible, and where they lead. */
export interface PartialCharacter {
  /** Bytes to come, of 6 bits each; 0 for an escape. */
  readonly length: number;
  /** The language that the character began in, and the first code point possible; of an escape, 0. */
  readonly language: Expression;
  readonly low: number;
  /** First of each segment, counted from the first code point possible; of an escape, bytes. */
  readonly starts: readonly number[];
  /** Expressions; of an escape, states. */
  readonly targets: readonly number[];
}

/** The least byte that characters beyond ASCII begin with. */
export const FIRST_LEAD = 0xc2;

/** The greatest of them. */
export const LAST_LEAD = 0xf4;

/** Steps of work that a segment takes. */
export const SEGMENT_STEPS = 0.25;

/** A first byte of a character. */
export interface LeadByte {
  /** How many bytes follow. */
  readonly length: number;
  /** The first code point that begins so, and the first that is not spelled longer than needed. */
  readonly low: number;
  readonly fewest: number;
}

/** What follows a first byte of a character in UTF-8. */
export function leadOf(byte: number): LeadByte {
  if (byte < 0x80) return { length: 0, low: byte, fewest: 0 };
  const length = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
  const low = (byte & (0x3f >> length)) << (6 * length);
  return { length, low, fewest: length === 1 ? 0x80 : length === 2 ? 0x800 : 0x10000 };
}

/** Least number that no state and no expression has, for keys. */
const MANY = 1 << 24;

/** A key that is the same for characters that go on alike, as far as that is easily told. */
export function keyOf(
  { length, language, low, starts, targets }: PartialCharacter,
): string | number {
  if (length === 0) return `${starts} ${targets}`;
  if (targets.length === 1) return 4 * targets[0]! + length;
  return 4 * (MANY + language * 0x110000 + low) + length;
}

/** Where code points lead, in segments. */
export type Segments = Pick<PartialCharacter, "starts" | "targets">;

/** Which part of the code points is cut out, and what of it counts. */
export interface SliceOptions {
  /** The first code point, and the base-64 logarithm of how many there are. */
  readonly low: number;
  readonly length: number;
  /** How many of the first ones are not allowed. */
  readonly skip: number;
  /** What leads nowhere. */
  readonly empty: Expression;
  /** Whether anything follows a target. */
  readonly isAlive: (target: Expression) => boolean;
  readonly work: Work;
}

/** The segments of 64^length code points, counted from the first one; none if all lead nowhere. */
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
