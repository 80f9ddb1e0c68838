// Random weights of any format for trying kernels, neither too large nor too small to be compared. It
// knows no format: random blocks are drawn until one decodes to such weights.

import type { QuantFormat } from "../../quants/mod.ts";

/** Number of different blocks, of which a matrix is made in a random order. */
const BLOCKS = 64;

/** Most blocks that are drawn to find a suitable one. */
const MOST_DRAWS = 20_000;

/** Bounds of a block's greatest weight. */
const PEAK = { least: 2 ** -10, most: 2 ** 6 };

/** Random whole numbers of 32 bits: xorshift by Marsaglia, the same for the same seed. */
export function randomBits(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>>= 0;
  };
}

/** Blocks of a format with moderate weights. Errors: RangeError if none are found. */
export function moderateBlocks(format: QuantFormat, seed: number): Uint8Array<ArrayBuffer>[] {
  const next = randomBits(seed);
  const blocks: Uint8Array<ArrayBuffer>[] = [];
  for (let draws = 0; blocks.length < BLOCKS; draws++) {
    if (draws === MOST_DRAWS) throw new RangeError(`Cannot make weights of ${format.name}`);
    const block = Uint8Array.from({ length: format.blockBytes }, () => next() >>> 24);
    const peak = format.dequantize(block, 1).reduce(
      (most, weight) => Math.max(most, Math.abs(weight)),
      0,
    );
    // NaN is within no bounds.
    if (peak >= PEAK.least && peak <= PEAK.most) blocks.push(block);
  }
  return blocks;
}

/** `count` blocks, one after the other, drawn from some. */
export function drawBlocks(
  blocks: readonly Uint8Array<ArrayBuffer>[],
  count: number,
  seed: number,
): Uint8Array<ArrayBuffer> {
  const next = randomBits(seed);
  const size = blocks[0]!.length;
  const drawn = new Uint8Array(count * size);
  for (let i = 0; i < count; i++) drawn.set(blocks[next() % blocks.length]!, i * size);
  return drawn;
}
