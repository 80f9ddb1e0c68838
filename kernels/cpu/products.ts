// Matrix products of a CPU device, by the kernels of the format on all threads. The kernels handle
// scales and biases of rows, accumulation and partial bands (bands.ts). The gate of a pair and int8
// groups are computed from complete rows.

import { type Activation, GROUP, isQuantized } from "../ops/activation.ts";
import type { ActivationFunction } from "../ops/activation_function.ts";
import type { ExpertLinearOptions } from "../ops/experts.ts";
import type { LinearOptions } from "../ops/linear.ts";
import { activationBytes } from "./activations.ts";
import { affineBytes, PLAIN_PRODUCT, PRODUCT_ARGUMENTS } from "./bands.ts";
import type { BoundKernel, CpuCore } from "./core.ts";
import { ACTIVATE_ARGUMENTS } from "./elementwise.ts";
import type { CpuExpertPairs } from "./expert_pairs.ts";
import { BAND, blockColumns, type CpuFormat, cpuFormat } from "./formats/mod.ts";
import { inOrder } from "./kernel.ts";
import type { PackedSide, WeightMatrix } from "./matrix.ts";
import { productKernel } from "./product.ts";
import { cpu, type CpuBuffer } from "./memory.ts";

/** Rows of f32 that an operation writes: an address, and the bytes of a row. */
interface Rows {
  readonly address: number;
  readonly stride: number;
}

/** What is multiplied: tokens, or the pairs of experts. */
interface Work {
  readonly tokens: number;
  /** Tokens that groups of int8 lie beside each other for. */
  readonly all: number;
  readonly experts?: { chosen: CpuExpertPairs; share: number; pairs: number };
}

/** The products of one matrix with one activation. */
class Product {
  readonly #core: CpuCore;
  readonly #matrix: WeightMatrix;
  readonly #x: Activation;
  readonly #format: CpuFormat;
  readonly #packed: readonly PackedSide[];
  readonly #vectors: number;
  readonly #bands: number;

  /** @param vectors vectors side by side in a row of x, each as wide as x says */
  constructor(core: CpuCore, matrix: WeightMatrix, x: Activation, vectors = 1) {
    this.#core = core;
    this.#matrix = matrix;
    this.#x = x;
    this.#format = kernelFormat(matrix);
    this.#vectors = vectors;
    this.#bands = Math.ceil(matrix.unit / BAND);
    this.#packed = matrix.packed(this.#format, core);
  }

  /**
   * y = x W^T, or y += x W^T; of a pair the activation of one times the other.
   *
   * @param then a kernel over complete rows
   */
  run(
    work: Work,
    y: Rows,
    options: { accumulate: boolean; activation: ActivationFunction },
    then: BoundKernel | undefined,
  ): void {
    const { sides, unit } = this.#matrix;
    const accumulate = Number(options.accumulate);
    if (sides === 1) {
      this.#multiply(work, [{ ...y, accumulate }]);
      if (then) this.#core.run([{ ...then, items: work.tokens }]);
      return;
    }
    // Rows of both sides, whole bands each: what is behind the last row is zero and stays so.
    const stride = 4 * BAND * this.#bands;
    const { address } = this.#core.results(2 * work.tokens * stride);
    const up = address + work.tokens * stride;
    this.#multiply(work, [address, up].map((address) => ({ address, stride, accumulate: 0 })));
    const words = inOrder(ACTIVATE_ARGUMENTS, {
      ...{ x: address, up, xStride: stride, y: y.address, yStride: y.stride },
      ...{ columns: unit, accumulate },
    });
    const name = `activate_${options.activation}`;
    const { common } = this.#core;
    this.#core.run([{ kernels: common, name, arguments: words, items: work.tokens, then }]);
  }

  /** The product of each side. */
  #multiply(
    { tokens, all, experts }: Work,
    results: readonly (Rows & { accumulate: number })[],
  ): void {
    const core = this.#core;
    const x = this.#x;
    const { affine, columns, unit } = this.#matrix;
    const isInteger = isQuantized(x);
    const few = this.#input(all, false);
    const many = this.#input(all, true);
    const ofPairs = experts && {
      pairs: cpu(experts.chosen.buffer).address,
      share: experts.share,
      vectors: this.#vectors,
    };
    const units = experts ? Math.min(experts.chosen.routing.experts, experts.pairs) : 1;
    core.run(results.map(({ address, stride, accumulate }, side) => {
      const { memory, address: weights, unitBytes } = this.#packed[side]!;
      const sideAffine = side * affineBytes(this.#bands) * (this.#matrix.rows / unit);
      const words = inOrder(PRODUCT_ARGUMENTS, {
        ...PLAIN_PRODUCT,
        ...{ weights, y: address, stride, accumulate, tokens, all, rows: unit, unitBytes },
        ...{ x: few.address, tokenBytes: few.tokenBytes, vectorBytes: few.vectorBytes },
        ...{ panelX: many.address, panelTokenBytes: many.tokenBytes },
        panelVectorBytes: many.vectorBytes,
        blocks: Math.ceil(columns / blockColumns(this.#format)),
        affine: affine ? affine.address + sideAffine : 0,
        ...ofPairs,
      });
      const kernels = core.formatKernels(this.#format, memory);
      // An expert has each token once at most.
      const most = experts ? tokens / experts.chosen.routing.topK : tokens;
      const name = isInteger ? productKernel(most) : "float_product";
      return { kernels, name, arguments: words, items: units * this.#bands };
    }));
  }

  /** Where x is read, of few tokens or of many: see PRODUCT_ARGUMENTS. */
  #input(all: number, isMany: boolean) {
    const x = this.#x;
    if (!isQuantized(x)) {
      const vectorBytes = 4 * x.stride;
      return {
        address: cpu(x.floats).address,
        tokenBytes: vectorBytes * this.#vectors,
        vectorBytes,
      };
    }
    const groups = cpu(x.groups);
    const addresses = this.#core.inputAddresses(this.#format, groups);
    const address = isMany ? addresses.many : addresses.few;
    const tokenBytes = activationBytes(address !== groups.address);
    return { address, tokenBytes, vectorBytes: x.stride / GROUP * all * tokenBytes };
  }
}

/** y = x W^T, or y += x W^T, or f(gate) * up for a pair. */
export function linear(
  core: CpuCore,
  matrix: WeightMatrix,
  x: Activation,
  y: Activation,
  options: LinearOptions,
): (rows: number) => void {
  const product = new Product(core, matrix, x);
  expectRows(core, matrix, y);
  const { accumulate = false, first = 0, activation = "silu" } = options;
  return (rows) => {
    const work = { tokens: rows, all: rows };
    const target = targetOf(core, y, rows, first + matrix.rows);
    const to = { address: target.address + 4 * first, stride: 4 * y.stride };
    product.run(work, to, { accumulate, activation }, quantizing(core, target, y, rows));
  };
}

/** y[pair] = x[pair / share] W^T of the pair's expert. */
export function expertLinear(
  core: CpuCore,
  matrix: WeightMatrix,
  chosen: CpuExpertPairs,
  x: Activation,
  y: Activation,
  options: ExpertLinearOptions,
): (rows: number) => void {
  const { share, activation = "silu", vectors = 1 } = options;
  const product = new Product(core, matrix, x, vectors);
  expectRows(core, matrix, y);
  return (rows) => {
    const pairs = rows * chosen.routing.topK;
    const all = Math.ceil(pairs / share / vectors);
    const work = { tokens: pairs, all, experts: { chosen, share, pairs } };
    const target = targetOf(core, y, pairs, matrix.unit);
    const to = { address: target.address, stride: 4 * y.stride };
    const then = quantizing(core, target, y, pairs);
    product.run(work, to, { accumulate: false, activation }, then);
  };
}

/** The format whose kernels multiply by a matrix. */
function kernelFormat({ label, format: { name } }: WeightMatrix): CpuFormat {
  const format = cpuFormat(name);
  if (!format) throw new RangeError(`Cannot multiply by "${label}": ${name} has no kernels`);
  return format;
}

/** The kernel that quantizes complete rows, if that is wanted of y. */
function quantizing(core: CpuCore, rows: CpuBuffer, y: Activation, count: number) {
  return isQuantized(y) ? core.quantizing(rows, cpu(y.groups), count, y.stride / GROUP) : undefined;
}

/** Notes the memory that rows take before they are quantized, and those of a pair before its gate. */
function expectRows(core: CpuCore, { sides, unit }: WeightMatrix, y: Activation): void {
  const rows = isQuantized(y)
    ? Math.floor(y.groups.size / core.groupBytes) * GROUP / y.stride
    : y.floats.size / (4 * y.stride);
  const temporary = isQuantized(y) ? 4 * rows * y.stride : 0;
  const results = sides > 1 ? 2 * rows * 4 * BAND * Math.ceil(unit / BAND) : 0;
  core.expect({ temporary, results });
}

/** Where the first `columns` floats of each row go, before they are quantized if that is wanted. */
function targetOf(core: CpuCore, y: Activation, rows: number, columns: number): CpuBuffer {
  if (!isQuantized(y)) return cpu(y.floats);
  if (columns === y.stride) return core.temporary(rows * y.stride * 4);
  // What is behind them is quantized too: zeros that nobody writes to.
  const most = Math.floor(y.groups.size / core.groupBytes) * GROUP;
  return core.kept(`rows of ${columns} in ${y.stride}`, most * 4);
}
