// Random weights for tests of kernels that read matrices.

import {
  allocateMatrix,
  type Device,
  type Matrix,
  MatrixWriter,
  type QuantFormat,
  quantFormats,
} from "../../kernels/mod.ts";
import { randomFloats } from "../gpu.ts";
import { randomBlocks } from "./quants/random_blocks.ts";

/** A format by its GGML name. */
export function formatNamed(name: string): QuantFormat {
  const format = quantFormats.find((format) => format.name === name);
  if (!format) throw new RangeError(`Cannot test ${name}: no such format`);
  return format;
}

/** Blocks of a format; a float format's are values as weights have, not all kinds of numbers. */
export function randomWeights(format: QuantFormat, blocks: number): Uint8Array {
  if (format.kind === "integer") return randomBlocks(format, blocks, blocks);
  const values = randomFloats(blocks, blocks);
  const words = new Uint32Array(values.buffer);
  if (format.name === "F32") return new Uint8Array(words.buffer);
  if (format.name === "F16") return new Uint8Array(Float16Array.from(values).buffer);
  return new Uint8Array(Uint16Array.from(words, (word) => word >>> 16).buffer);
}

/** A random matrix: on the GPU, written in two pieces a side, and decoded, [sides * rows, columns]. */
export function randomMatrix(
  device: Device,
  format: QuantFormat,
  shape: { rows: number; columns: number; sides?: 1 | 2 },
): { matrix: Matrix; weights: Float32Array } {
  const { rows, columns, sides = 1 } = shape;
  const matrix = allocateMatrix(device, "w", format, shape);
  const blocks = sides * rows * columns / format.blockSize;
  const source = randomWeights(format, blocks);
  const rowBytes = columns / format.blockSize * format.blockBytes;
  for (const side of [0, 1] as const) {
    if (side === sides) break;
    const bytes = source.subarray(side * rows * rowBytes, (side + 1) * rows * rowBytes);
    const middle = Math.floor(rows / 2) * rowBytes;
    const writer = new MatrixWriter(device, matrix, side);
    writer.append(bytes.subarray(0, middle));
    writer.append(bytes.subarray(middle));
    writer.finish();
  }
  return { matrix, weights: format.dequantize(source, blocks) };
}
