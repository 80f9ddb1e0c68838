// Random weights for tests of kernels that read matrices.

import {
  type Device,
  type MatrixShape,
  type QuantFormat,
  quantFormats,
} from "../../kernels/mod.ts";
import { randomFloats } from "../numbers.ts";
import { randomBlocks } from "./quants/random_blocks.ts";

/** A format by its GGML name. */
export function formatNamed(name: string): QuantFormat {
  const format = quantFormats.find((format) => format.name === name);
  if (!format) throw new RangeError(`Cannot test ${name}: no such format`);
  return format;
}

/** Blocks of a format whose weights are neither tiny nor huge, so that none hides in a sum. */
export function randomWeights(format: QuantFormat, blocks: number): Uint8Array {
  const { blockBytes, blockSize } = format;
  if (format.kind === "float") return floatWeights(format, randomFloats(blocks, blocks));
  const chosen = new Uint8Array(blocks * blockBytes);
  for (let seed = 1, count = 0; count < blocks; seed++) {
    const candidates = randomBlocks(format, blocks, seed);
    const weights = format.dequantize(candidates, blocks);
    for (let block = 0; block < blocks && count < blocks; block++) {
      const values = weights.subarray(block * blockSize, (block + 1) * blockSize);
      const peak = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      if (peak < 2 ** -4 || peak > 2 ** 4) continue;
      const bytes = candidates.subarray(block * blockBytes, (block + 1) * blockBytes);
      chosen.set(bytes, blockBytes * count++);
    }
  }
  return chosen;
}

function floatWeights(format: QuantFormat, values: Float32Array): Uint8Array {
  if (format.name === "F16") return new Uint8Array(Float16Array.from(values).buffer);
  const words = new Uint32Array(values.buffer);
  if (format.name === "F32") return new Uint8Array(words.buffer);
  return new Uint8Array(Uint16Array.from(words, (word) => word >>> 16).buffer); // BF16
}

/** A random matrix: on the device, written in two pieces a side, and decoded, [sides * rows, columns]. */
export function randomMatrix<D extends Device>(
  device: D,
  format: QuantFormat,
  shape: MatrixShape,
): { matrix: ReturnType<D["matrix"]>; weights: Float32Array } {
  const { rows, columns, sides = 1 } = shape;
  const matrix = device.matrix("w", format, shape);
  const blocks = sides * rows * columns / format.blockSize;
  const source = randomWeights(format, blocks);
  const rowBytes = columns / format.blockSize * format.blockBytes;
  for (const side of [0, 1] as const) {
    if (side === sides) break;
    const bytes = source.subarray(side * rows * rowBytes, (side + 1) * rows * rowBytes);
    const middle = Math.floor(rows / 2) * rowBytes;
    const writer = device.matrixWriter(matrix, side);
    writer.append(bytes.subarray(0, middle));
    writer.append(bytes.subarray(middle));
    writer.finish();
  }
  return { matrix: matrix as ReturnType<D["matrix"]>, weights: format.dequantize(source, blocks) };
}
