// Matrix products: the bindings of linear.wgsl (few tokens, or a driver without fast workgroup
// memory) and matmul.wgsl (many tokens). tile.ts chooses between them. experts.ts binds the same
// kernels for expert matrices.

import linearSource from "./linear.wgsl" with { type: "text" };
import codesSource from "./linear_codes.wgsl" with { type: "text" };
import floatsSource from "./linear_floats.wgsl" with { type: "text" };
import outputSource from "./linear_output.wgsl" with { type: "text" };
import sumsSource from "./linear_sums.wgsl" with { type: "text" };
import matmulSource from "./matmul.wgsl" with { type: "text" };
import matricesSource from "./matmul_matrices.wgsl" with { type: "text" };
import productSource from "./product.wgsl" with { type: "text" };
import quantizeSource from "./quantize_group.wgsl" with { type: "text" };
import { GpuError } from "../errors.ts";
import {
  type Activation,
  type ActivationFunction,
  bufferOf,
  GROUP,
  isQuantized,
} from "../ops/activation.ts";
import type { FusedNorm, LinearOptions } from "../ops/matrix.ts";
import { activationFunction } from "./snippets.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch, type KernelSource, type Resource } from "./kernel.ts";
import { bindWeights, type GpuMatrix, type MatrixPart } from "./matrix.ts";
import { MATRIX_EXTENSIONS, matrixConstants, matrixSize } from "./subgroup_matrices.ts";
import {
  columnsOf,
  isStaged,
  type LinearTile,
  MATRICES,
  MOST_COLS,
  rowsOf,
  shuffledLanes,
  STAGED,
  stagedBuffers,
  type Tile,
  tileFault,
  tileName,
  type TileUse,
  usesSubgroups,
} from "./tile.ts";
import { type ProductShape, Variants } from "./choices.ts";
import { weightBuffers, weightConstants, weightReading, weightSnippets } from "./weight_code.ts";

/** The parts of linear.wgsl. */
const LINEAR_PARTS = {
  codes: codesSource,
  floats: floatsSource,
  output: outputSource,
  sums: sumsSource,
};

/** All that kernels of products consist of, besides the formats. */
export const PRODUCT_TEXTS: readonly string[] = [
  linearSource,
  ...Object.values(LINEAR_PARTS),
  matmulSource,
  matricesSource,
  productSource,
  quantizeSource,
];

/** The options of a product. */
export interface GpuLinearOptions extends LinearOptions {
  /** Overrides the choice of the tile, for tests and tuning. */
  tile?: Tile;
}

/** A matrix product with its input and output bound. */
export class Linear {
  readonly #device: Gpu;
  readonly #product: Product;
  readonly #options: GpuLinearOptions;
  readonly #variants: Variants;
  /** Those that a norm is fused with, and most rows for which they run. */
  readonly #normed:
    | { readonly product: Product; readonly variants: Variants; most: number }
    | undefined;

  /**
   * @param x [tokens, columns]
   * @param y [tokens, rows] or wider, see {@linkcode LinearOptions}
   * @throws GpuError for a norm that cannot be fused
   */
  constructor(
    device: Gpu,
    matrix: GpuMatrix,
    x: Activation,
    y: Activation,
    options: GpuLinearOptions = {},
  ) {
    const { norm, ...alone } = options;
    this.#device = device;
    this.#product = { matrix, x, y, ...alone };
    this.#options = options;
    this.#variants = this.#variantsOf(this.#product);
    if (!norm) return;
    const fault = normFault(matrix, y, norm);
    if (fault) throw new GpuError(`Cannot multiply by ${matrix.label} with a fused norm: ${fault}`);
    const product = { ...this.#product, norm };
    const variants = this.#variantsOf(product);
    this.#normed = { product, variants, most: mostFusedNormRows(matrix) };
  }

  #variantsOf(product: Product): Variants {
    const { choices } = this.#device;
    const shape = shapeOf(product);
    const { tile } = this.#options;
    if (!tile) choices.noteProduct(shape);
    return new Variants({
      version: () => choices.version,
      choose: (tokens) => tile ?? choices.tile(shape, tokens),
      bind: (tile) => product.matrix.parts.map((part) => this.#bind(product, part, tile)),
    });
  }

  /** Binds the variants for up to `most` rows of x, from `least` on. Errors: GpuError, see `tile`. */
  prepare(most: number, least = 1): void {
    const normed = this.#normed;
    const few = Math.min(most, Math.max(normed?.most ?? 0, least - 1));
    const { choices } = this.#device;
    if (normed) {
      if (!this.#options.tile) choices.prepareProduct(shapeOf(normed.product), few, least);
      normed.variants.prepare(few, least);
    }
    if (most <= few) return;
    if (!this.#options.tile) choices.prepareProduct(shapeOf(this.#product), most, few + 1);
    this.#variants.prepare(most, few + 1);
  }

  /** Records the product for the first `tokens` rows of x. Errors: GpuError, see `tile`. */
  encode(pass: GPUComputePassEncoder, tokens: number): void {
    const { matrix } = this.#product;
    const normed = this.#normed;
    const variants = normed && tokens <= normed.most ? normed.variants : this.#variants;
    const variant = variants.for(tokens);
    const tokenTiles = Math.ceil(tokens / columnsOf(variant.tile));
    variant.dispatches.forEach((dispatch, i) => {
      const rowTiles = matrix.parts[i].rows / rowsOf(variant.tile, matrix);
      encodeTiles(pass, dispatch, rowTiles, tokenTiles);
    });
  }

  #bind(product: Product, part: MatrixPart, tile: Tile): Dispatch {
    return bindProduct(this.#device, product, part, tile, {
      constants: {},
      resources: {},
      params: { rows: part.rows, first: (this.#options.first ?? 0) + part.first },
    });
  }
}

/** The operands of a product. */
export interface Product {
  readonly matrix: GpuMatrix;
  readonly x: Activation;
  readonly y: Activation;
  readonly accumulate?: boolean;
  readonly activation?: ActivationFunction;
  readonly norm?: FusedNorm;
}

/** The properties of a product on which its tiles depend. */
export function useOf({ matrix, x, y, norm }: Product): TileUse {
  const quantized = isQuantized(y) || norm !== undefined;
  return { sides: matrix.sides, integer: isQuantized(x), quantized };
}

/** Most storage buffers of a product besides the planes of its weights: x, y, affine, normed, norm. */
const OTHER_BUFFERS = 5;
/** Storage buffers that a kernel has on every device. */
export const MOST_BUFFERS = 8;

/** Most rows for which a norm is fused with the product by a matrix. */
export function mostFusedNormRows({ format, rows, sides }: GpuMatrix): number {
  const isPossible = sides === 1 && rows % GROUP === 0 &&
    weightBuffers(format) + OTHER_BUFFERS <= MOST_BUFFERS;
  return isPossible ? MOST_COLS : 0;
}

/** Why a norm cannot be fused with the product by a matrix; undefined if it can. */
function normFault(
  matrix: GpuMatrix,
  y: Activation,
  { norm, y: to }: FusedNorm,
): string | undefined {
  if (mostFusedNormRows(matrix) === 0) {
    return `it is ${matrix.format.name}, with ${matrix.rows} rows and ${matrix.sides} sides`;
  }
  if (norm.kind !== "rms" || norm.bias || !norm.weight) {
    return "only RMSNorms with weights and without biases are fused";
  }
  if (isQuantized(y) || to.stride !== y.stride || matrix.rows !== y.columns) {
    return `it has ${matrix.rows} rows, its result ${y.columns} columns, the norm ${to.columns}`;
  }
  if (to.deferredEpsilon !== norm.epsilon) return `readers are told of ${to.deferredEpsilon}`;
}

/** What is noted and chosen for a product. */
export function shapeOf(product: Product): ProductShape {
  const { format, rows, columns } = product.matrix;
  return { format: format.name, rows, columns, ...useOf(product) };
}

/**
 * Records a product over `rowTiles` (rounded up) times `tokenTiles` tiles. All token tiles of a row tile
 * follow each other, because weights are more than a cache holds: the first reads them from memory,
 * the others from the cache.
 */
export function encodeTiles(
  pass: GPUComputePassEncoder,
  dispatch: Dispatch,
  rowTiles: number,
  tokenTiles: number,
): void {
  const y = Math.min(Math.ceil(rowTiles), 32768);
  encodeDispatch(pass, dispatch, [tokenTiles, y, Math.ceil(rowTiles / y)]);
}

/** The caller's own constants, bindings and parameters of a product's kernel. */
interface ProductBindings {
  readonly constants: {
    readonly GATHER?: boolean;
    readonly GROUPED?: boolean;
    readonly EVERY?: boolean;
    /** See stacked_linear.ts. */
    readonly PRODUCTS?: number;
    readonly JOINED?: boolean;
    readonly FURTHER?: boolean;
  };
  readonly resources: Record<string, Resource>;
  readonly params: Record<string, number> & { readonly rows: number; readonly first: number };
}

/** The kernel of a product, and what is to be bound to it. */
interface ProductKernel {
  readonly source: KernelSource;
  readonly resources: Record<string, Resource>;
  readonly params: Record<string, number>;
}

/** Binds the kernel of a tile to a part of a product's matrix. Errors: see {@linkcode productKernel}. */
export function bindProduct(...product: Parameters<typeof productKernel>): Dispatch {
  const [device] = product;
  const { source, resources, params } = productKernel(...product);
  return device.kernel(source).bind(resources, params);
}

/**
 * The kernel of a tile for a part of a product's matrix. Errors: GpuError for a tile that the device or
 * the kernel cannot run, and for results that are not whole int8 groups.
 */
export function productKernel(
  device: Gpu,
  product: Product,
  part: MatrixPart,
  tile: Tile,
  more: ProductBindings,
): ProductKernel {
  const { matrix, x, y, accumulate = false, activation = "silu", norm } = product;
  const use = useOf(product);
  const { first } = more.params;
  const epsilon = x.deferredEpsilon;
  const fault = tileFault(device.profile, tile, use) ??
    (use.quantized && first % GROUP !== 0
      ? `its int8 groups would begin at column ${first}`
      : isQuantized(y) && accumulate
      ? "int8 groups cannot be added to"
      : norm && isStaged(tile)
      ? "no norm is fused with them"
      : undefined);
  if (fault) {
    throw new GpuError(
      `Cannot multiply by ${matrix.label} in tiles ${tileName(tile)}: ${fault}`,
    );
  }
  const { format, sides } = matrix;
  const { text, parts, constants, extensions } = kernelOf(device, tile, use, matrix);
  const gate = sides === 2 ? activationFunction(activation) : undefined;
  // Many tokens, for which a tile is staged, come from norm(), which defers nothing.
  const DEFERRED_NORM = epsilon !== undefined && !isStaged(tile);
  const QUANTIZED_OUTPUT = isQuantized(y) || (norm !== undefined && isQuantized(norm.y));
  const own = {
    GATHER: false,
    GROUPED: false,
    EVERY: false,
    PRODUCTS: 1,
    JOINED: false,
    FURTHER: false,
  };
  const source = {
    name: `${text === linearSource ? "linear" : "matmul"} ${format.name}`,
    source: text,
    parts,
    extensions,
    constants: {
      ...weightConstants(format),
      ...constants,
      ...gate?.constants,
      ...own,
      ...more.constants,
      COLS: columnsOf(tile),
      SIDES: sides,
      PAIRED: sides === 2,
      INTEGER: use.integer,
      FLOAT_OUTPUT: !isQuantized(y),
      QUANTIZED_OUTPUT,
      NORM: norm !== undefined,
      FLOAT_NORM: norm !== undefined && !QUANTIZED_OUTPUT,
      DEFERRED_NORM,
      AFFINE: part.affine !== undefined,
      ACCUMULATE: accumulate || norm !== undefined,
    },
    snippets: weightSnippets(format, [
      ...((use.integer || QUANTIZED_OUTPUT) && !more.constants.FURTHER ? [quantizeSource] : []),
      ...(gate ? [gate.snippet] : []),
      productSource,
    ]),
  };
  const resources = {
    x: bufferOf(x),
    ...(isQuantized(y) ? { groups: y.groups } : { y: y.floats }),
    ...(norm ? { norm_weight: norm.norm.weight!, ...normedBuffer(norm.y) } : {}),
    ...bindWeights(matrix, part),
    ...(part.affine ? { affine: part.affine } : {}),
    ...more.resources,
  };
  const params = {
    groups: Math.ceil(matrix.columns / GROUP),
    stride: y.stride,
    columns: matrix.columns,
    epsilon: epsilon ?? 0,
    squares: squaresOf(x) / 4,
    normed_squares: norm ? squaresOf(norm.y) : 0,
    ...more.params,
  };
  return { source, resources, params };
}

function normedBuffer(y: Activation): Record<string, Resource> {
  return isQuantized(y) ? { groups: y.groups } : { normed: y.floats };
}

function squaresOf(x: Activation): number {
  return isQuantized(x) ? 0 : x.squares ?? 0;
}

/** The kernel of a tile, its constants that depend on the tile, and the extensions of WGSL it uses. */
function kernelOf(device: Gpu, tile: Tile, use: TileUse, { format }: GpuMatrix) {
  if (tile === MATRICES) {
    const matrices = device.profile.matrices!;
    const constants = matrixConstants(matrices, matrixSize(matrices, use)!);
    return { text: matricesSource, parts: {}, constants, extensions: MATRIX_EXTENSIONS };
  }
  return tile === STAGED
    ? { text: matmulSource, parts: {}, constants: stagedConstants(device, use), extensions: [] }
    : {
      text: linearSource,
      parts: LINEAR_PARTS,
      constants: {
        ...weightReading(format, tile, use, device.capabilities.software),
        ...tileConstants(device, tile, use),
      },
      extensions: [],
    };
}

function stagedConstants(device: Gpu, use: TileUse) {
  const BUFFERS = stagedBuffers(device.profile, use);
  return { BUFFERS, DOUBLE: BUFFERS === 2, OUTPUT_ROWS: 4 / use.sides };
}

function tileConstants(device: Gpu, tile: LinearTile, { sides }: TileUse) {
  const { rows, cols, lanes, workgroup } = tile;
  const sums = sides * rows * cols;
  const SUBGROUPS = usesSubgroups(tile, device.profile);
  const SHUFFLED = SUBGROUPS ? 1 : shuffledLanes(tile, device.profile);
  return {
    ROWS: rows,
    GROUP_TEAMS: GROUP / rows,
    LANES: lanes,
    WORKGROUP: workgroup,
    SUBGROUPS,
    SHUFFLES: SHUFFLED > 1,
    SHUFFLED,
    SHUFFLE_STEPS: Math.log2(SHUFFLED),
    SHARED: lanes > SHUFFLED && !SUBGROUPS,
    TWO_STAGES: SHUFFLED === 1 && sums < lanes && lanes % sums === 0,
  };
}
