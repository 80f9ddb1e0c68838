// A matrix product for trying tiles: a small matrix with known products is checked, and matrices of full
// size, as many as exceed the GPU's caches, are timed.

import type { ProductCase } from "../../tuning.ts";
import {
  type Activation,
  bufferOf,
  floatRows,
  GROUP,
  isQuantized,
  padTo,
  quantizedRows,
} from "../../ops/activation.ts";
import { gateReference } from "../../ops/activation_function.ts";
import { linearReference } from "../../ops/linear.ts";
import { type QuantFormat, quantFormats } from "../../quants/mod.ts";
import { type Gpu, GROUP_BYTES } from "../gpu.ts";
import { Linear } from "../linear.ts";
import { allocateMatrix, canPair, type GpuMatrix, GpuMatrixWriter } from "../matrix.ts";
import { Quantize } from "../quantize.ts";
import { GpuReadback } from "../readback.ts";
import { type Tile, tileName } from "../tile.ts";
import { productTiles } from "../candidates.ts";
import { drawBlocks, moderateBlocks, randomBits } from "./random_weights.ts";
import { type Bench, type Checked, type Encode, faultIn } from "./trial.ts";

/** Rows, of each side, and most columns of the product that is checked. No tile divides the rows. */
const CHECKED_ROWS = 160;
const MOST_CHECKED_COLUMNS = 4096;

/** Tokens whose results are compared: the first ones and the last. */
const CHECKED_TOKENS = 3;

/** Number of tokens in excess of one staged tile. */
const MOST_TOKENS = 70;

/** Fewest bytes of the timed weights, if they are more than one matrix; and most matrices. */
const COLD_BYTES = 64 * 2 ** 20;
const COLD_BYTES_SOFTWARE = 2 ** 20;
const MOST_COPIES = 8;

/** About the number of blocks that are repacked at a time for matrices of full size. */
const FILLED_BYTES = 2 ** 20;

/** Greatest error from another order of additions, as a share of the sum of magnitudes. */
const TOLERANCE = 1e-4;
/** The same for formats with a minimum, whose terms may be several times the weight. */
const TOLERANCE_WITH_MINIMUM = 4e-4;

interface Operands {
  readonly matrix: GpuMatrix;
  readonly x: Activation;
  readonly y: Activation;
}

/** The format of this name; undefined if there is none. */
export function formatOf(name: string): QuantFormat | undefined {
  return quantFormats.find((format) => format.name === name);
}

/** Why a product cannot be tried; undefined if it can. */
export function productFault(
  { format: name, rows, columns, sides }: ProductCase,
): string | undefined {
  const format = formatOf(name);
  if (!format) return `no weights are ${name}`;
  if (columns % format.blockSize !== 0) return `${columns} columns are no whole blocks of ${name}`;
  if (sides === 2 && !canPair(format, rows, columns)) return "such matrices are not paired";
  return undefined;
}

/** The tiles of a product on a device. */
export class ProductBench implements Bench {
  readonly ways: readonly string[];
  readonly #device: Gpu;
  readonly #kernel: ProductCase;
  readonly #format: QuantFormat;
  readonly #tiles: Map<string, Tile>;
  readonly #blocks: Uint8Array<ArrayBuffer>[];
  #full: Operands[] | undefined;
  #known: Promise<{ operands: Operands; readback: GpuReadback; expected: Known }> | undefined;

  /** @param device what it allocates is freed with it */
  constructor(device: Gpu, kernel: ProductCase) {
    this.#device = device;
    this.#kernel = kernel;
    this.#format = formatOf(kernel.format)!;
    this.#blocks = moderateBlocks(this.#format, kernel.columns);
    const tiles = productTiles(device.profile, kernel);
    this.#tiles = new Map(tiles.map((tile) => [tileName(tile), tile]));
    this.ways = [...this.#tiles.keys()];
  }

  async check(way: string): Promise<string | undefined> {
    const { operands: { matrix, x, y }, readback, expected } = await (this.#known ??= this.#know());
    const { tokens } = expected;
    const buffer = bufferOf(y) as GPUBuffer;
    // All bits set are NaN, and codes that do not occur, so that missing writes are found.
    this.#device.write(buffer, 0, new Uint8Array(buffer.size).fill(255));
    const linear = new Linear(this.#device, matrix, x, y, { tile: this.#tiles.get(way)! });
    const encoder = this.#device.gpu.createCommandEncoder();
    const pass = encoder.beginComputePass();
    linear.encode(pass, tokens);
    pass.end();
    encoder.copyBufferToBuffer(buffer, 0, readback.buffer, 0, buffer.size);
    this.#device.gpu.queue.submit([encoder.finish()]);
    const bytes = await readback.readNow(buffer.size);
    return faultIn(
      isQuantized(y) ? asGroups(expected, bytes, y.stride) : asFloats(expected, bytes, y.stride),
    );
  }

  full(way: string): Encode[] {
    const { tokens } = this.#kernel;
    const all = this.#full ??= this.#allocateFull();
    return all.map(({ matrix, x, y }) => {
      const linear = new Linear(this.#device, matrix, x, y, { tile: this.#tiles.get(way)! });
      return (pass) => linear.encode(pass, tokens);
    });
  }

  #allocate(rows: number, columns: number, tokens: number): Operands {
    const { sides, integer, quantized } = this.#kernel;
    return {
      matrix: allocateMatrix(this.#device, "tuning", this.#format, { rows, columns, sides }),
      x: (integer ? quantizedRows : floatRows)(this.#device, "tuning x", tokens, columns),
      y: (quantized ? quantizedRows : floatRows)(this.#device, "tuning y", tokens, rows),
    };
  }

  #allocateFull(): Operands[] {
    const { rows, columns, sides, tokens } = this.#kernel;
    const { blockSize, blockBytes } = this.#format;
    const rowBytes = sides * columns / blockSize * blockBytes;
    const cold = this.#device.capabilities.software ? COLD_BYTES_SOFTWARE : COLD_BYTES;
    // The time of a part of a large matrix counts for that part.
    const most = Math.min(rows, padTo(Math.ceil(2 * cold / rowBytes), GROUP));
    const copies = Math.max(1, Math.min(MOST_COPIES, Math.ceil(cold / (most * rowBytes))));
    const first = this.#allocate(most, columns, tokens);
    const all = [first];
    while (all.length < copies) {
      all.push({
        ...first,
        matrix: allocateMatrix(this.#device, "tuning", this.#format, {
          rows: most,
          columns,
          sides,
        }),
      });
    }
    const fill = Math.min(most, padTo(Math.ceil(FILLED_BYTES * sides / rowBytes), GROUP));
    const piece = drawBlocks(this.#blocks, fill * columns / blockSize, 1);
    for (const { matrix } of all) {
      for (let side = 0 as 0 | 1; side < sides; side++) {
        const writer = new GpuMatrixWriter(this.#device, matrix, side);
        for (let row = 0; row < most; row += fill) {
          writer.append(
            piece.subarray(0, Math.min(fill, most - row) * columns / blockSize * blockBytes),
          );
        }
        writer.finish();
      }
    }
    return all;
  }

  /** A product whose results are known. */
  async #know() {
    const { sides, integer } = this.#kernel;
    const format = this.#format;
    const rows = CHECKED_ROWS;
    const columns = Math.min(this.#kernel.columns, MOST_CHECKED_COLUMNS);
    const tokens = Math.min(this.#kernel.tokens, MOST_TOKENS);
    const operands = this.#allocate(rows, columns, tokens);
    const weights: Float32Array[] = [];
    for (let side = 0 as 0 | 1; side < sides; side++) {
      const count = rows * columns / format.blockSize;
      const blocks = drawBlocks(this.#blocks, count, 7 + side);
      const writer = new GpuMatrixWriter(this.#device, operands.matrix, side);
      writer.append(blocks);
      writer.finish();
      weights.push(format.dequantize(blocks, count));
    }
    const x = wholeNumbers(tokens, columns);
    const floats = integer ? floatRows(this.#device, "tuning x", tokens, columns) : operands.x;
    const { stride } = floats;
    for (let token = 0; token < tokens; token++) {
      const row = x.subarray(token * columns, (token + 1) * columns);
      this.#device.write(bufferOf(floats), token * stride * 4, row);
    }
    if (integer) {
      const quantize = new Quantize(this.#device, floats as never, operands.x as never);
      const encoder = this.#device.gpu.createCommandEncoder();
      const pass = encoder.beginComputePass();
      quantize.encode(pass, tokens);
      pass.end();
      this.#device.gpu.queue.submit([encoder.finish()]);
    }
    const size = (bufferOf(operands.y) as GPUBuffer).size;
    const readback = new GpuReadback(this.#device, "tuning", size);
    await readback.read(4); // From now on it is read without a wait.
    return {
      operands,
      readback,
      expected: expectedOf(format, weights, x, { rows, columns, tokens }),
    };
  }
}

/** The right results of a product for some of its tokens. */
interface Known {
  readonly rows: number;
  readonly tokens: number;
  /** The tokens that are compared. */
  readonly picked: readonly number[];
  /** [picked, rows] */
  readonly values: Float32Array;
  readonly errors: Float32Array;
}

function expectedOf(
  format: QuantFormat,
  sides: readonly Float32Array[],
  x: Float32Array,
  { rows, columns, tokens }: { rows: number; columns: number; tokens: number },
): Known {
  const picked = [...new Set([0, 1, tokens - 1])].filter((token) => token < tokens)
    .slice(0, CHECKED_TOKENS);
  const input = new Float32Array(picked.length * columns);
  picked.forEach((token, i) => {
    input.set(x.subarray(token * columns, (token + 1) * columns), i * columns);
  });
  const shape = { rows, columns, tokens: picked.length };
  const tolerance = format.hasMinimum ? TOLERANCE_WITH_MINIMUM : TOLERANCE;
  const magnitudes = input.map(Math.abs);
  const [gate, up] = sides.map((weights) => ({
    values: linearReference(weights, input, shape),
    errors: linearReference(weights.map(Math.abs), magnitudes, shape).map((sum) => sum * tolerance),
  }));
  const known = { rows, tokens, picked };
  if (!up) return { ...known, ...gate! };
  return {
    ...known,
    values: gate!.values.map((value, i) => gateReference("silu", value, up.values[i]!)),
    // silu has a slope of at most 1.1, and is at most its argument.
    errors: gate!.errors.map((error, i) =>
      1.1 * error * (Math.abs(up.values[i]!) + up.errors[i]!) +
      (Math.abs(gate!.values[i]!) + 1) * up.errors[i]!
    ),
  };
}

/** Compares rows of f32 with the right ones. */
function asFloats(
  { rows, picked, values, errors }: Known,
  bytes: ArrayBuffer,
  stride: number,
): Checked {
  const floats = new Float32Array(bytes);
  const actual = picked.flatMap((
    token,
  ) => [...floats.subarray(token * stride, token * stride + rows)]);
  return { actual, expected: values, errors };
}

/** Compares decoded int8 groups with the right rows: they may differ by half a code more. */
function asGroups(
  { rows, picked, values, errors }: Known,
  bytes: ArrayBuffer,
  stride: number,
): Checked {
  const actual: number[] = [];
  const bounds = errors.slice();
  picked.forEach((token, i) => {
    for (let row = 0; row < rows; row += GROUP) {
      const at = (token * stride + row) / GROUP * GROUP_BYTES;
      const codes = new Int8Array(bytes, at, GROUP);
      const [scale] = new Float32Array(bytes, at + GROUP, 1);
      actual.push(...Array.from(codes, (code) => code * scale!));
      const own = { from: i * rows + row, to: i * rows + row + GROUP };
      const magnitudes = values.subarray(own.from, own.to).map((value, j) =>
        Math.abs(value) + errors[own.from + j]!
      );
      const step = Math.max(...magnitudes) / 127;
      for (let j = own.from; j < own.to; j++) bounds[j]! += 0.51 * step;
    }
  });
  return { actual, expected: values, errors: bounds };
}

/** Rows that int8 groups represent exactly: multiples of a power of two, at most 127 of it. */
function wholeNumbers(tokens: number, columns: number): Float32Array<ArrayBuffer> {
  const next = randomBits(tokens * columns);
  return Float32Array.from({ length: tokens * columns }, (_, i) => {
    const column = i % columns;
    const unit = 2 ** (Math.floor(column / GROUP) % 4 - 10);
    return unit * (column % GROUP === 0 ? -127 : next() % 31 - 15);
  });
}
