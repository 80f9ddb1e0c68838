// Matrices of random weights for trying products: small ones whose weights are known, and large ones that
// repeat some rows.

import { GROUP, padTo } from "../../ops/activation.ts";
import type { MatrixShape } from "../../ops/matrix.ts";
import { type QuantFormat, quantFormats } from "../../quants/mod.ts";
import type { Gpu } from "../gpu.ts";
import { allocateMatrix, type GpuMatrix, GpuMatrixWriter } from "../matrix.ts";

/** Blocks of random weights of a format. */
type Blocks = readonly Uint8Array<ArrayBuffer>[];

/** About the number of bytes that are repacked at a time for a large matrix. */
const FILLED_BYTES = 2 ** 20;

/** Bytes of weights that caches do not hold. On the CPU they are few, so that a trial takes moments. */
const COLD_BYTES = 64 * 2 ** 20;
const COLD_BYTES_SOFTWARE = 2 ** 20;

/** Fewest bytes of weights that are timed, so that they come from memory. */
export function coldBytes({ capabilities }: Gpu): number {
  return capabilities.software ? COLD_BYTES_SOFTWARE : COLD_BYTES;
}

/** The format of this name; undefined if there is none. */
export function formatOf(name: string): QuantFormat | undefined {
  return quantFormats.find((format) => format.name === name);
}

/** A small matrix, and the weights of each of its sides. Errors: GpuMemoryError. */
export function knownMatrix(
  device: Gpu,
  format: QuantFormat,
  blocks: Blocks,
  shape: MatrixShape,
): { matrix: GpuMatrix; weights: Float32Array[] } {
  const { rows, columns, sides = 1 } = shape;
  const matrix = allocateMatrix(device, "tuning", format, shape);
  const count = rows * columns / format.blockSize;
  const weights = Array.from({ length: sides }, (_, side) => {
    const drawn = drawBlocks(blocks, count, 7 + side);
    const writer = new GpuMatrixWriter(device, matrix, side as 0 | 1);
    writer.append(drawn);
    writer.finish();
    return format.dequantize(drawn, count);
  });
  return { matrix, weights };
}

/** A large matrix. Errors: GpuMemoryError. */
export function largeMatrix(
  device: Gpu,
  format: QuantFormat,
  blocks: Blocks,
  shape: MatrixShape,
): GpuMatrix {
  const { rows, columns, sides = 1 } = shape;
  const matrix = allocateMatrix(device, "tuning", format, shape);
  const rowBlocks = columns / format.blockSize;
  const rowBytes = rowBlocks * format.blockBytes;
  const fill = Math.min(rows, padTo(Math.ceil(FILLED_BYTES / rowBytes), GROUP));
  const piece = drawBlocks(blocks, fill * rowBlocks, 1);
  for (let side = 0 as 0 | 1; side < sides; side++) {
    const writer = new GpuMatrixWriter(device, matrix, side);
    for (let row = 0; row < rows; row += fill) {
      writer.append(piece.subarray(0, Math.min(fill, rows - row) * rowBytes));
    }
    writer.finish();
  }
  return matrix;
}

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
