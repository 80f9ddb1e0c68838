// RoPE on queries and keys, by tables for positions of text or by angles that each row brings along,
// as images have them; and keys and values into the paged KV cache. Any part of it can be left out:
// heads of one kind by having none, the rotation by `rotary: 0`.

import type { Buffer } from "../operation.ts";
import type { HeadShape } from "./kv_cache.ts";
import type { RopeOptions } from "./rope_tables.ts";

/** What is rotated, and what goes into the cache: keys and values where there are `kvHeads`. */
export interface RotateOptions extends HeadShape {
  /** Rotated elements of a head, a multiple of four; 0 for none. */
  rotary: number;
  /** The first of them, a multiple of four; default 0. */
  rotaryStart?: number;
  /** Pairs (i, i + rotary/2) instead of (2i, 2i + 1). */
  halfPairs: boolean;
  /** The tables of {@linkcode ropeTables}; not needed where nothing is rotated. */
  lowTurns?: Buffer;
  highTurns?: Buffer;
  /** M-RoPE; missing: all pairs turn by the position in the cache. */
  sections?: RotarySections | undefined;
  /** Column of the first head in its row, a multiple of four; default 0. */
  first?: number;
}

/** Which part of a position turns which pair. */
export interface RotarySections extends Pick<RopeOptions, "sections" | "interleaved"> {
  /** [rows of images] of {@linkcode MROPE_POSITION}. */
  mropePositions: Buffer;
}

/** What is rotated, and how. */
export interface RotateRowsOptions {
  /** Heads from the start of each row on. */
  heads: number;
  /** Elements of a head, an even number. */
  headDim: number;
  /** From an element to the one it is paired with: a divisor of `headDim / 2`. */
  distance: number;
}

/** One head in plain loops; turns [headDim / 2] of (cos, sin). */
export function rotateRowsReference(
  head: Float32Array,
  turns: Float32Array,
  distance: number,
): Float32Array {
  const rotated = head.slice();
  for (let pair = 0; pair < head.length / 2; pair++) {
    const first = Math.floor(pair / distance) * 2 * distance + pair % distance;
    const [a, b] = [head[first], head[first + distance]];
    const [cos, sin] = turns.subarray(2 * pair);
    rotated[first] = a * cos - b * sin;
    rotated[first + distance] = b * cos + a * sin;
  }
  return rotated;
}
