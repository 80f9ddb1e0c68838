// Matrix products of a CPU device, by the kernels of the format on all threads, or for a format that
// has none in plain loops over its rows as floats. What comes after a product (scales and biases of
// rows, a gate, another place) is plain.

import { type Activation, GROUP, isQuantized, type QuantizedRows } from "../ops/activation.ts";
import { type ActivationFunction, gateReference } from "../ops/activation_function.ts";
import type { ExpertLinearOptions, Routing } from "../ops/experts.ts";
import type { LinearOptions } from "../ops/linear.ts";
import { activationBytes, codeBytes } from "./activations.ts";
import type { CpuCore } from "./core.ts";
import { ACTIVATE_ARGUMENTS } from "./elementwise.ts";
import { BAND, blockColumns, type CpuFormat, cpuFormat } from "./formats/mod.ts";
import { inOrder } from "./kernel.ts";
import type { PackedSide, WeightMatrix } from "./matrix.ts";
import { cpu, type CpuBuffer } from "./memory.ts";
import { floatsOf, targetOf } from "./plain/rows.ts";
import { PRODUCT_ARGUMENTS } from "./product.ts";

/** One call of a product kernel: some rows of x by a unit of a matrix. */
interface Call {
  readonly side: number;
  readonly unit: number;
  /** Rows of x, and the first of them. */
  readonly first: number;
  readonly rows: number;
  /** Which of the vectors side by side in a row; default 0. */
  readonly vector?: number;
}

/** Where results go: [rows of all calls, stride]. */
interface Results {
  readonly buffer: CpuBuffer;
  /** The first float. */
  readonly at: number;
  readonly stride: number;
}

/** The products of one matrix with one activation. */
class Products {
  readonly #core: CpuCore;
  readonly #matrix: WeightMatrix;
  readonly #x: Activation;
  readonly #format: CpuFormat | undefined;
  readonly #packed: readonly PackedSide[];
  readonly #vectors: number;

  /** @param vectors vectors side by side in a row of x, each as wide as x says */
  constructor(core: CpuCore, matrix: WeightMatrix, x: Activation, vectors = 1) {
    this.#vectors = vectors;
    this.#core = core;
    this.#matrix = matrix;
    this.#x = x;
    const format = cpuFormat(matrix.format.name);
    // Kernels take rows of floats that end where their blocks do.
    const fits = format && (isQuantized(x) || x.stride % blockColumns(format) === 0);
    this.#format = fits ? format : undefined;
    this.#packed = this.#format ? matrix.packed(this.#format, core) : [];
    if (!this.#format) matrix.keepBlocks();
  }

  /** Rows of a unit as products have them: whole bands. */
  get width(): number {
    return Math.ceil(this.#matrix.unit / BAND) * BAND;
  }

  /** Whether results can go where they belong at once. */
  get isDirect(): boolean {
    return this.#format !== undefined && this.width === this.#matrix.unit;
  }

  /**
   * Runs calls whose results lie one after the other at `to`: [rows of all calls, width].
   * @param stride floats from a row of results to the next
   */
  run(calls: readonly Call[], to: Results, { all, adds = false }: { all: number; adds?: boolean }) {
    if (this.#format) this.#runKernels(this.#format, calls, to, { all, adds });
    else this.#runPlain(calls, to, all);
  }

  #runKernels(
    format: CpuFormat,
    calls: readonly Call[],
    { buffer, at, stride }: Results,
    { all, adds }: { all: number; adds: boolean },
  ): void {
    const core = this.#core;
    const x = this.#x;
    const name = isQuantized(x) ? "product" : "float_product";
    const input = isQuantized(x) ? core.inputAddress(format, cpu(x.groups)) : cpu(x.floats).address;
    // Groups of one token lie beside those of the others, rows of floats one after the other.
    const tokenBytes = isQuantized(x)
      ? activationBytes(input !== cpu(x.groups).address)
      : 4 * x.stride * this.#vectors;
    const vectorBytes = isQuantized(x) ? x.stride / GROUP * all * tokenBytes : 4 * x.stride;
    const items = this.width / BAND;
    let row = 0;
    const operations = calls.map(({ side, unit, first, rows, vector = 0 }) => {
      const { memory, address, unitBytes } = this.#packed[side]!;
      const values = {
        weights: address + unit * unitBytes,
        x: input + first * tokenBytes + vector * vectorBytes,
        y: buffer.address + 4 * (at + row * stride),
        blocks: Math.ceil(this.#matrix.columns / blockColumns(format)),
        tokens: rows,
        stride: 4 * stride,
        accumulate: Number(adds),
        all,
      } as Record<string, number>;
      row += rows;
      const words = PRODUCT_ARGUMENTS.map((name) => values[name]!);
      return { kernels: core.formatKernels(format, memory), name, arguments: words, items };
    });
    core.run(operations);
  }

  #runPlain(calls: readonly Call[], { buffer, at, stride }: Results, all: number): void {
    const { unit: unitRows, columns } = this.#matrix;
    this.#core.flush();
    const rowStride = this.#x.stride * this.#vectors;
    const x = this.#floatInput(all);
    let start = 0;
    for (const { side, unit, first, rows, vector = 0 } of calls) {
      for (let r = 0; r < unitRows; r++) {
        const w = this.#matrix.floatRow(unit * unitRows + r, side);
        for (let t = 0; t < rows; t++) {
          const from = (first + t) * rowStride + vector * this.#x.stride;
          let sum = 0;
          for (let k = 0; k < columns; k++) sum += x[from + k] * w[k];
          buffer.floats[at + (start + t) * stride + r] = sum;
        }
      }
      start += rows;
    }
  }

  /** All rows of x as floats. */
  #floatInput(all: number): Float32Array {
    const x = this.#x;
    return isQuantized(x) ? dequantizeGroups(x, x.stride * this.#vectors, all) : floatsOf(x);
  }
}

/** The values that int8 groups stand for: [rows, stride]. */
function dequantizeGroups({ groups }: QuantizedRows, stride: number, rows: number): Float32Array {
  const { bytes } = cpu(groups);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const values = new Float32Array(rows * stride);
  for (let row = 0; row < rows; row++) {
    for (let group = 0; group < stride / GROUP; group++) {
      const at = (group * rows + row) * activationBytes(false);
      const scale = view.getFloat32(at + codeBytes(false), true);
      const to = row * stride + group * GROUP;
      for (let i = 0; i < GROUP; i++) values[to + i] = scale * view.getInt8(at + i);
    }
  }
  return values;
}

/** y = x W^T, or y += x W^T, or f(gate) * up for a pair. */
export function linear(
  core: CpuCore,
  matrix: WeightMatrix,
  x: Activation,
  y: Activation,
  { accumulate = false, first = 0, activation = "silu" }: LinearOptions,
) {
  const products = new Products(core, matrix, x);
  /** f(gate) * up of whole rows, by the kernel. */
  const gate = (results: CpuBuffer, rows: number) => {
    const to = isQuantized(y) ? core.temporary(rows * y.stride * 4) : cpu(y.floats);
    const words = inOrder(ACTIVATE_ARGUMENTS, {
      x: results.address,
      up: results.address + rows * y.stride * 4,
      xStride: y.stride * 4,
      y: to.address,
      yStride: y.stride * 4,
      columns: y.stride,
    });
    const name = `activate_${activation}`;
    core.run([{ kernels: core.common, name, arguments: words, items: rows }]);
    if (isQuantized(y)) core.quantize(to, cpu(y.groups), rows, y.stride / GROUP);
  };
  return (rows: number) => {
    const call = { unit: 0, first: 0, rows };
    if (products.isDirect && matrix.sides === 1 && !matrix.affine && !isQuantized(y)) {
      const to = { buffer: cpu(y.floats), at: first, stride: y.stride };
      return products.run([{ ...call, side: 0 }], to, { all: rows, adds: accumulate });
    }
    const { width } = products;
    const results = core.results(matrix.sides * rows * width * 4);
    const isWhole = width === y.stride && first === 0 && !accumulate && !matrix.affine;
    const sides = Array.from({ length: matrix.sides }, (_, side) => ({ ...call, side }));
    products.run(sides, { buffer: results, at: 0, stride: width }, { all: rows });
    if (isWhole && matrix.sides === 2) return gate(results, rows);
    core.flush();
    const target = targetOf(core, y, rows);
    for (let row = 0; row < rows; row++) {
      for (let r = 0; r < matrix.rows; r++) {
        const value = resultOf(results.floats, matrix, {
          at: row * width + r,
          other: (rows + row) * width + r,
          row: r,
          activation,
        });
        const at = row * target.stride + first + r;
        target.floats[at] = accumulate ? target.floats[at] + value : value;
      }
    }
    target.finish(rows);
  };
}

/** y[pair] = x[pair / share] W^T of the pair's expert. */
export function expertLinear(
  core: CpuCore,
  matrix: WeightMatrix,
  routing: Routing,
  x: Activation,
  y: Activation,
  { share, activation = "silu", vectors = 1 }: ExpertLinearOptions,
) {
  const products = new Products(core, matrix, x, vectors);
  const ids = cpu(routing.ids).words;
  const { unit } = matrix;
  return (rows: number) => {
    const pairs = rows * routing.choices;
    const { width } = products;
    const results = core.results(matrix.sides * pairs * width * 4);
    const calls = Array.from({ length: matrix.sides * pairs }, (_, i) => {
      const pair = i % pairs;
      const read = Math.floor(pair / share);
      return {
        side: Math.floor(i / pairs),
        unit: ids[pair]!,
        first: Math.floor(read / vectors),
        vector: read % vectors,
        rows: 1,
      };
    });
    const all = Math.ceil(pairs / share / vectors);
    products.run(calls, { buffer: results, at: 0, stride: width }, { all });
    core.flush();
    const target = targetOf(core, y, pairs);
    for (let pair = 0; pair < pairs; pair++) {
      for (let r = 0; r < unit; r++) {
        target.floats[pair * target.stride + r] = resultOf(results.floats, matrix, {
          at: pair * width + r,
          other: (pairs + pair) * width + r,
          row: ids[pair]! * unit + r,
          activation,
        });
      }
    }
    target.finish(pairs);
  };
}

/** A result with its row's factor and bias, and where there are two sides, gated. */
function resultOf(
  results: Float32Array,
  { affine, rows, sides }: WeightMatrix,
  { at, other, row, activation }: {
    at: number;
    other: number;
    row: number;
    activation: ActivationFunction;
  },
): number {
  const finished = (value: number, of: number) =>
    affine ? affine.scale[of]! * value + affine.bias[of]! : value;
  const value = finished(results[at]!, row);
  return sides === 1
    ? value
    : gateReference(activation, value, finished(results[other]!, rows + row));
}
