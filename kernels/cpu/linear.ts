// Matrix products of a CPU device, by the kernels of the format on all threads. The kernels handle
// scales and biases of rows, accumulation and partial bands (linear/bands.ts). The gate of a pair and int8
// groups are computed from complete rows.

import {
  type Activation,
  type ActivationFunction,
  type FloatRows,
  GROUP,
  isQuantized,
} from "../ops/activation.ts";
import type { ExpertLinearOptions } from "../ops/experts.ts";
import type { LinearOptions, StackedMatrix } from "../ops/matrix.ts";
import { activationBytes } from "./quantize/kernel.ts";
import {
  affineBytes,
  PLAIN_PRODUCT,
  PRODUCT_ARGUMENTS,
  productItems,
  tokensAtOnce,
} from "./linear/bands.ts";
import type { BoundKernel, KernelCall } from "./calls.ts";
import type { CpuCore } from "./core.ts";
import { ACTIVATE_ARGUMENTS } from "./activate/kernel.ts";
import type { CpuExpertPairs } from "./experts/route.ts";
import { BAND, blockColumns, type CpuFormat } from "./formats/mod.ts";
import { keepCalls } from "./kept_calls.ts";
import { inOrder } from "./kernel.ts";
import type { PackedSide, WeightMatrix } from "./matrix.ts";
import { floatProductKernel, isFloatFormat } from "./linear/float_kernel.ts";
import { productKernel } from "./linear/kernel.ts";
import { cpu, type CpuBuffer } from "./memory.ts";

/** Tokens up to which a product is over within some microseconds. */
const MOST_BRIEF_TOKENS = 8;

/** Rows of f32 that an operation writes: an address, and the bytes of a row. */
interface Rows {
  readonly address: number;
  readonly stride: number;
}

/** The rows that are multiplied: tokens, or pairs of tokens and experts. */
interface Work {
  readonly tokens: number;
  /** Number of tokens in int8 activations, [groups, tokens]. */
  readonly all: number;
  readonly experts?: { chosen: CpuExpertPairs; share: number; pairs: number };
}

/** How int8 groups are made: an item is a row or, of a lone row, a group. */
interface Codes {
  ofRows(): BoundKernel;
  ofGroups(): BoundKernel;
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
    this.#format = matrix.layout;
    this.#vectors = vectors;
    this.#bands = Math.ceil(matrix.unit / BAND);
    this.#packed = matrix.packed(core);
  }

  /**
   * The calls of y = x W^T, or of y += x W^T; for a pair, of f(gate) * up.
   *
   * @param codes int8 groups that are made of complete rows
   */
  calls(
    work: Work,
    y: Rows,
    options: { accumulate: boolean; activation: ActivationFunction },
    codes: Codes | undefined,
  ): KernelCall[][] {
    const core = this.#core;
    const { sides, unit } = this.#matrix;
    const accumulate = Number(options.accumulate);
    if (sides === 1) {
      const product = this.#products(work, [{ ...y, accumulate }]);
      return codes ? [product, [{ ...codes.ofRows(), items: work.tokens }]] : [product];
    }
    // Rows of both sides, each in whole bands. Columns after the last row are zero and stay zero.
    const stride = 4 * BAND * this.#bands;
    const { address } = core.results(2 * work.tokens * stride);
    const up = address + work.tokens * stride;
    const rows = [address, up].map((address) => ({ address, stride, accumulate: 0 }));
    const products = this.#products(work, rows);
    const gate = (strides: Record<"xStride" | "yStride" | "columns", number>): BoundKernel => ({
      kernels: core.common,
      name: `activate_${options.activation}`,
      arguments: inOrder(ACTIVATE_ARGUMENTS, {
        ...{ x: address, up, y: y.address, accumulate },
        ...strides,
      }),
    });
    if (work.tokens > 1 || work.experts || unit % GROUP !== 0) {
      const ofRows = gate({ xStride: stride, yStride: y.stride, columns: unit });
      return [products, [{ ...ofRows, then: codes?.ofRows(), items: work.tokens }]];
    }
    // The groups of a lone row are rows of their own, so that a thread goes on with those it has.
    const width = 4 * GROUP;
    const ofGroups = gate({ xStride: width, yStride: width, columns: GROUP });
    const [first, second] = products.map((product) => ({ ...product, per: GROUP / BAND }));
    const then = { ...second!, then: { ...ofGroups, then: codes?.ofGroups() } };
    return [[{ ...first!, items: unit / GROUP, then, multiple: 1 }]];
  }

  /** The product of each side. */
  #products(
    { tokens, all, experts }: Work,
    results: readonly (Rows & { accumulate: number })[],
  ): KernelCall[] {
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
    const atOnce = tokensAtOnce(tokens, isInteger ? 0 : 4 * columns);
    const units = experts ? Math.min(experts.chosen.routing.experts, experts.pairs) : 1;
    return results.map(({ address, stride, accumulate }, side) => {
      const { memory, address: weights, unitBytes } = this.#packed[side]!;
      const affineSide = side + this.#matrix.affineSide;
      const sideAffine = affineSide * affineBytes(this.#bands) * (this.#matrix.rows / unit);
      const words = inOrder(PRODUCT_ARGUMENTS, {
        ...PLAIN_PRODUCT,
        ...{ weights, y: address, stride, accumulate, tokens, all, rows: unit, unitBytes },
        ...{ x: few.address, tokenBytes: few.tokenBytes, vectorBytes: few.vectorBytes },
        ...{ panelX: many.address, panelTokenBytes: many.tokenBytes },
        panelVectorBytes: many.vectorBytes,
        atOnce,
        blocks: Math.ceil(columns / blockColumns(this.#format)),
        affine: affine ? affine.address + sideAffine : 0,
        ...ofPairs,
      });
      const kernels = core.formatKernels(this.#format, memory);
      // An expert is chosen at most once for each token.
      const most = experts ? tokens / experts.chosen.routing.topK : tokens;
      const format = this.#format;
      const { machine, joins } = core;
      const options = { machine, joins, hasExperts: experts !== undefined };
      const { name, bands, runs } = isInteger && !isFloatFormat(format)
        ? productKernel(format, most, options)
        : floatProductKernel(format, most, options);
      const items = units * productItems(this.#bands, { ofItem: bands, tokens, atOnce });
      const isBrief = tokens <= MOST_BRIEF_TOKENS;
      return { kernels, name, arguments: words, items, isBrief, multiple: runs };
    });
  }

  /** The addresses of x for few tokens and for many: see PRODUCT_ARGUMENTS. */
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
  options: LinearOptions = {},
): (rows: number) => void {
  return keepCalls(core, linearCalls(core, matrix, x, y, options));
}

function linearCalls(
  core: CpuCore,
  matrix: WeightMatrix,
  x: Activation,
  y: Activation,
  { accumulate = false, first = 0, activation = "silu" }: LinearOptions,
): (rows: number) => KernelCall[][] {
  const product = new Product(core, matrix, x);
  expectRows(core, matrix, y);
  return (rows) => {
    const work = { tokens: rows, all: rows };
    const target = targetOf(core, y, rows, first + matrix.rows);
    const to = { address: target.address + 4 * first, stride: 4 * y.stride };
    return product.calls(work, to, { accumulate, activation }, codesOf(core, target, y, rows));
  };
}

/** y = x W^T, or y += x W^T, by several matrices, each at its columns of y. */
export function stackedLinear(
  core: CpuCore,
  parts: readonly StackedMatrix<WeightMatrix>[],
  x: Activation,
  y: FloatRows,
  options: { accumulate?: boolean } = {},
): (rows: number) => void {
  const calls = parts.map(({ matrix, first }) =>
    linearCalls(core, matrix, x, y, { ...options, first })
  );
  // Matrices with a phase each are independent of each other.
  return keepCalls(core, (rows: number) => {
    const all = calls.map((make) => make(rows));
    return all.every((phases) => phases.length === 1) ? [all.flat(2)] : all.flat();
  });
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
  if (isQuantized(x)) core.readByExperts(cpu(x.groups));
  expectRows(core, matrix, y);
  return keepCalls(core, (rows: number) => {
    const pairs = rows * chosen.routing.topK;
    const all = Math.ceil(pairs / share / vectors);
    const work = { tokens: pairs, all, experts: { chosen, share, pairs } };
    const target = targetOf(core, y, pairs, matrix.unit);
    const to = { address: target.address, stride: 4 * y.stride };
    const codes = codesOf(core, target, y, pairs);
    return product.calls(work, to, { accumulate: false, activation }, codes);
  });
}

/** The kernels that quantize complete rows, if y is int8. */
function codesOf(
  core: CpuCore,
  rows: CpuBuffer,
  y: Activation,
  count: number,
): Codes | undefined {
  if (!isQuantized(y)) return undefined;
  const groups = y.stride / GROUP;
  return {
    ofRows: () => core.quantizing(rows, cpu(y.groups), count, groups),
    ofGroups: () => core.quantizing(rows, cpu(y.groups), groups, 1),
  };
}

/** Reserves memory for rows before they are quantized, and for a pair's rows before its gate is applied. */
function expectRows(core: CpuCore, { sides, unit }: WeightMatrix, y: Activation): void {
  const rows = isQuantized(y)
    ? Math.floor(y.groups.size / core.groupBytes) * GROUP / y.stride
    : y.floats.size / (4 * y.stride);
  const temporary = isQuantized(y) ? 4 * rows * y.stride : 0;
  const results = sides > 1 ? 2 * rows * 4 * BAND * Math.ceil(unit / BAND) : 0;
  core.expect({ temporary, results });
}

/** The address of the first `columns` floats of each row: y's, or memory before quantization. */
function targetOf(core: CpuCore, y: Activation, rows: number, columns: number): CpuBuffer {
  if (!isQuantized(y)) return cpu(y.floats);
  if (columns === y.stride) return core.temporary(rows * y.stride * 4);
  // The columns after them are quantized, too; they are zeros, and never written.
  const most = Math.floor(y.groups.size / core.groupBytes) * GROUP;
  return core.kept(`rows of ${columns} in ${y.stride}`, most * 4);
}
