// Matrix products: the bindings of linear.wgsl (few tokens, or a driver without fast workgroup
// memory) and matmul.wgsl (many tokens). tile.ts chooses between them. experts.ts binds the same
// kernels for expert matrices.

import groupSource from "./group.wgsl" with { type: "text" };
import linearSource from "./linear.wgsl" with { type: "text" };
import matmulSource from "./matmul.wgsl" with { type: "text" };
import productSource from "./product.wgsl" with { type: "text" };
import quantizeSource from "./quantize_group.wgsl" with { type: "text" };
import { GpuError } from "../errors.ts";
import { type Activation, bufferOf, GROUP, isQuantized } from "../ops/activation.ts";
import type { ActivationFunction } from "../ops/activation_function.ts";
import type { LinearOptions } from "../ops/linear.ts";
import type { QuantFormat } from "../quants/mod.ts";
import { activationFunction } from "./activation_function.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch, type Resource } from "./kernel.ts";
import { bindWeights, type GpuMatrix, type MatrixPart } from "./matrix.ts";
import {
  columnsOf,
  type LinearTile,
  rowsOf,
  shuffledLanes,
  STAGED,
  stagedGroups,
  type Tile,
  tileFault,
  tileName,
  type TileUse,
  tokenClass,
  tokenClasses,
  usesSubgroups,
} from "./tile.ts";
import type { ProductShape } from "./choices.ts";

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

  /** @param x [tokens, columns] @param y [tokens, rows] or wider, see {@linkcode LinearOptions} */
  constructor(
    device: Gpu,
    matrix: GpuMatrix,
    x: Activation,
    y: Activation,
    options: GpuLinearOptions = {},
  ) {
    this.#device = device;
    this.#product = { matrix, x, y, ...options };
    this.#options = options;
    const shape = shapeOf(this.#product);
    if (!options.tile) device.choices.noteProduct(shape);
    this.#variants = new Variants({
      version: () => device.choices.version,
      choose: (tokens) => options.tile ?? device.choices.tile(shape, tokens),
      bind: (tile) => matrix.parts.map((part) => this.#bind(part, tile)),
    });
  }

  /** Binds the variants for up to `most` rows of x. Errors: GpuError, see `tile`. */
  prepare(most: number): void {
    if (!this.#options.tile) this.#device.choices.prepareProduct(shapeOf(this.#product), most);
    this.#variants.prepare(most);
  }

  /** Records the product for the first `tokens` rows of x. Errors: GpuError, see `tile`. */
  encode(pass: GPUComputePassEncoder, tokens: number): void {
    const { matrix } = this.#product;
    const variant = this.#variants.for(tokens);
    const tokenTiles = Math.ceil(tokens / columnsOf(variant.tile));
    variant.dispatches.forEach((dispatch, i) => {
      const rowTiles = matrix.parts[i].rows / rowsOf(variant.tile, matrix);
      encodeTiles(pass, dispatch, rowTiles, tokenTiles);
    });
  }

  #bind(part: MatrixPart, tile: Tile): Dispatch {
    return bindProduct(this.#device, this.#product, part, tile, {
      constants: { GATHER: false, GROUPED: false },
      resources: {},
      params: { rows: part.rows, first: (this.#options.first ?? 0) + part.first },
    });
  }
}

/** A product bound with one tile: a dispatch per part of the matrix. */
export interface Variant {
  readonly tile: Tile;
  readonly dispatches: readonly Dispatch[];
}

/** Makes the variants of a product. */
export interface VariantMaker {
  /** Changes when choose() may choose otherwise than before; missing: it never does. */
  version?(): number;
  /** The tile for a number of tokens. */
  choose(tokens: number): Tile;
  bind(tile: Tile): readonly Dispatch[];
}

/** The variants of a product: one for each class of token counts, bound once for each tile. */
export class Variants {
  readonly #maker: VariantMaker;
  readonly #byTile = new Map<string, Variant>();
  #byClass: Variant[] = [];
  #version: number | undefined;

  constructor(maker: VariantMaker) {
    this.#maker = maker;
  }

  /** The variant for a number of tokens. */
  for(tokens: number): Variant {
    const version = this.#maker.version?.();
    if (version !== this.#version) {
      this.#byClass = [];
      this.#version = version;
    }
    return this.#byClass[tokenClass(tokens)] ??= this.#make(tokens);
  }

  /** Binds those for up to `most` tokens. */
  prepare(most: number): void {
    for (const tokens of tokenClasses(most)) this.for(tokens);
  }

  #make(tokens: number): Variant {
    const tile = this.#maker.choose(tokens);
    const name = tileName(tile);
    let variant = this.#byTile.get(name);
    if (!variant) this.#byTile.set(name, variant = { tile, dispatches: this.#maker.bind(tile) });
    return variant;
  }
}

/** The operands of a product. */
export interface Product {
  readonly matrix: GpuMatrix;
  readonly x: Activation;
  readonly y: Activation;
  readonly accumulate?: boolean;
  readonly activation?: ActivationFunction;
}

/** The properties of a product on which its tiles depend. */
export function useOf({ matrix, x, y }: Product): TileUse {
  return { sides: matrix.sides, integer: isQuantized(x), quantized: isQuantized(y) };
}

/** What is noted and chosen for a product. */
function shapeOf(product: Product): ProductShape {
  const { format, rows, columns } = product.matrix;
  return { format: format.name, rows, columns, ...useOf(product) };
}

/** Records a product over `rowTiles` (rounded up) times `tokenTiles` tiles. */
export function encodeTiles(
  pass: GPUComputePassEncoder,
  dispatch: Dispatch,
  rowTiles: number,
  tokenTiles: number,
): void {
  const x = Math.min(Math.ceil(rowTiles), 32768);
  encodeDispatch(pass, dispatch, [x, tokenTiles, Math.ceil(rowTiles / x)]);
}

/**
 * Binds the kernel of a tile to a part of a product's matrix; `more` has the caller's bindings and
 * constants. Errors: GpuError for a tile that the device or the kernel cannot run, and for results
 * that are not whole int8 groups.
 */
export function bindProduct(
  device: Gpu,
  product: Product,
  part: MatrixPart,
  tile: Tile,
  more: {
    constants: { GATHER: boolean; GROUPED: boolean };
    resources: Record<string, Resource>;
    params: Record<string, number> & { rows: number; first: number };
  },
): Dispatch {
  const { matrix, x, y, accumulate = false, activation = "silu" } = product;
  const use = useOf(product);
  const { first } = more.params;
  const fault = tileFault(device.profile, tile, use) ??
    (use.quantized && first % GROUP !== 0
      ? `its int8 groups would begin at column ${first}`
      : use.quantized && accumulate
      ? "int8 groups cannot be added to"
      : undefined);
  if (fault) {
    throw new GpuError(
      `Cannot multiply by ${matrix.label} in tiles ${tileName(tile)}: ${fault}`,
    );
  }
  const { format, sides } = matrix;
  const staged = tile === STAGED;
  const gate = sides === 2 ? activationFunction(activation) : undefined;
  const kernel = device.kernel({
    name: `${staged ? "matmul" : "linear"} ${format.name}`,
    source: staged ? matmulSource : linearSource,
    constants: {
      ...weightConstants(format),
      ...(staged ? stagedConstants(use) : tileConstants(device, tile, use)),
      ...gate?.constants,
      ...more.constants,
      COLS: columnsOf(tile),
      SIDES: sides,
      PAIRED: sides === 2,
      INTEGER: use.integer,
      QUANTIZED_OUTPUT: use.quantized,
      AFFINE: part.affine !== undefined,
      ACCUMULATE: accumulate,
    },
    snippets: weightSnippets(format, [
      ...(use.integer || use.quantized ? [quantizeSource] : []),
      ...(gate ? [gate.snippet] : []),
      productSource,
    ]),
  });
  return kernel.bind({
    x: bufferOf(x),
    y: bufferOf(y),
    ...bindWeights(matrix, part),
    ...(part.affine ? { affine: part.affine } : {}),
    ...more.resources,
  }, { groups: Math.ceil(matrix.columns / GROUP), stride: y.stride, ...more.params });
}

function stagedConstants(use: TileUse) {
  return { GROUPS: stagedGroups(use), OUTPUT_ROWS: 4 / use.sides };
}

function tileConstants(device: Gpu, tile: LinearTile, { sides }: TileUse) {
  const { rows, cols, lanes, workgroup } = tile;
  const sums = sides * rows * cols;
  const SUBGROUPS = usesSubgroups(tile, device.profile);
  const SHUFFLED = SUBGROUPS ? 1 : shuffledLanes(tile, device.profile);
  return {
    ROWS: rows,
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

/** Constants that describe a format's snippet to a kernel. */
export function weightConstants(format: QuantFormat): Record<string, boolean> {
  return {
    FLOAT_WEIGHTS: format.kind === "float",
    HAS_MINIMUM: format.hasMinimum,
    UNIFORM_GROUP: format.uniformGroup,
  };
}

/** Declarations of a format's planes and codebook from binding 8 on, and its snippet. */
export function weightSnippets(format: QuantFormat, more: readonly string[] = []): string[] {
  const { planes, codebook } = format;
  const tables = codebook ? [...planes, { ...codebook, name: "codebook" }] : planes;
  const bindings = tables.map(({ name, type }, i) =>
    `@group(0) @binding(${8 + i}) var<storage, read> w_${name}: array<${type}>;`
  );
  return [bindings.join("\n"), groupSource, format.snippet, ...more];
}
