// y = x W^T for weights of any format: the bindings of linear.wgsl (few tokens, or a driver without
// fast workgroup memory) and matmul.wgsl (many tokens), and the choice between their tiles.
// Matrices that are gathered per token are experts.ts's, which binds the same two.

import groupSource from "./quants/group.wgsl" with { type: "text" };
import linearSource from "./linear.wgsl" with { type: "text" };
import matmulSource from "./matmul.wgsl" with { type: "text" };
import productSource from "./product.wgsl" with { type: "text" };
import quantizeSource from "./quantize_group.wgsl" with { type: "text" };
import { type Activation, bufferOf, GROUP, isQuantized } from "./activation.ts";
import { type ActivationFunction, activationFunction } from "./activation_function.ts";
import type { Capabilities, Device } from "./device.ts";
import { type Dispatch, encodeDispatch, type Resource } from "./kernel.ts";
import { bindWeights, type Matrix, type MatrixPart } from "./matrix.ts";
import type { QuantFormat } from "./quants/mod.ts";

/** Work per invocation and workgroup of linear.wgsl. */
export interface LinearTile {
  /** Rows of each side per team. */
  readonly rows: number;
  /** Tokens per team: 1, 2, 4 or 8. */
  readonly cols: number;
  /** Invocations that share the columns of a row. */
  readonly lanes: number;
  /** Invocations per workgroup. */
  readonly workgroup: number;
}

/** How the product is written. */
export interface LinearOptions {
  /** Adds to y instead of replacing it (the residual stream). */
  accumulate?: boolean;
  /** Column of y that row 0 of the matrix goes to. */
  first?: number;
  /** What a paired matrix applies to its gate. Default "silu". */
  activation?: ActivationFunction;
  /** Overrides the choice of the tile, for tests and tuning. */
  tile?: LinearTile | typeof STAGED;
}

/** 64 rows by 64 tokens in workgroup memory: matmul.wgsl. */
export const STAGED = "staged";
const STAGED_SIZE = 64;

/** Tokens from which a staged tile is worth its idle part. */
const STAGED_TOKENS = 33;

/** Tokens from which register tiles beat teams that split the columns. */
const PREFILL_TOKENS = 9;

/** The tile for a number of tokens. Outputs of a quantized pair come in whole groups of 32. */
export function chooseTile(
  capabilities: Capabilities,
  tokens: number,
  { paired, integer }: { paired: boolean; integer: boolean },
): LinearTile | typeof STAGED {
  const cols = tokens <= 1 ? 1 : tokens <= 2 ? 2 : tokens <= 4 ? 4 : 8;
  if (capabilities.software) {
    // No barriers and no idle lanes: each invocation owns its rows whole.
    if (tokens === 1) return { rows: 2, cols, lanes: 1, workgroup: 16 };
    // Wider tiles run up to 1.5 times faster, but LLVM compiles them for tens of seconds.
    const rows = (integer ? 4 : 2) / (paired ? 2 : 1);
    return { rows, cols: Math.min(4, cols), lanes: 1, workgroup: 32 / rows };
  }
  if (tokens >= STAGED_TOKENS) return STAGED;
  if (tokens >= PREFILL_TOKENS) return { rows: paired ? 2 : 4, cols: 4, lanes: 1, workgroup: 64 };
  const lanes = capabilities.subgroupSize || 32;
  const rows = cols >= 8 ? 2 : 4;
  return { rows, cols, lanes, workgroup: Math.min(256, paired ? lanes * 32 / rows : 64) };
}

/** A matrix product with its input and output bound. */
export class Linear {
  readonly #device: Device;
  readonly #product: Product;
  readonly #options: LinearOptions;
  readonly #variants = new Map<string, Dispatch[]>();

  /** @param x [tokens, columns] @param y [tokens, rows] or wider, see {@linkcode LinearOptions} */
  constructor(
    device: Device,
    matrix: Matrix,
    x: Activation,
    y: Activation,
    options: LinearOptions = {},
  ) {
    this.#device = device;
    this.#product = { matrix, x, y, ...options };
    this.#options = options;
  }

  /** Records the product for the first `tokens` rows of x. */
  encode(pass: GPUComputePassEncoder, tokens: number): void {
    const { matrix, x } = this.#product;
    const tile = this.#options.tile ?? chooseTile(this.#device.capabilities, tokens, {
      paired: matrix.sides === 2,
      integer: isQuantized(x),
    });
    const key = JSON.stringify(tile);
    let dispatches = this.#variants.get(key);
    if (!dispatches) {
      const first = this.#options.first ?? 0;
      dispatches = matrix.parts.map((part) =>
        bindProduct(this.#device, this.#product, part, tile, {
          constants: { GATHER: false, PLANNED: false },
          resources: {},
          params: { rows: part.rows, first: first + part.first },
        })
      );
      this.#variants.set(key, dispatches);
    }
    const tokenTiles = Math.ceil(tokens / columnsOf(tile));
    dispatches.forEach((dispatch, i) => {
      encodeTiles(pass, dispatch, matrix.parts[i].rows / rowsOf(tile, matrix), tokenTiles);
    });
  }
}

/** What a product reads and writes. */
export interface Product {
  readonly matrix: Matrix;
  readonly x: Activation;
  readonly y: Activation;
  readonly accumulate?: boolean;
  readonly activation?: ActivationFunction;
}

/** Rows of each side that one workgroup of a tile makes. */
export function rowsOf(tile: LinearTile | typeof STAGED, { sides }: Matrix): number {
  return tile === STAGED ? STAGED_SIZE / sides : tile.rows * tile.workgroup / tile.lanes;
}

/** Tokens in a tile. */
export function columnsOf(tile: LinearTile | typeof STAGED): number {
  return tile === STAGED ? STAGED_SIZE : tile.cols;
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

/** Binds the kernel of a tile to a part of a product's matrix; `more` is what the caller decides. */
export function bindProduct(
  device: Device,
  product: Product,
  part: MatrixPart,
  tile: LinearTile | typeof STAGED,
  more: {
    constants: { GATHER: boolean; PLANNED: boolean };
    resources: Record<string, Resource>;
    params: Record<string, number>;
  },
): Dispatch {
  const { matrix, x, y, accumulate = false, activation = "silu" } = product;
  const { format, sides } = matrix;
  const staged = tile === STAGED;
  const gate = sides === 2 ? activationFunction(activation) : undefined;
  const kernel = device.kernel({
    name: `${staged ? "matmul" : "linear"} ${format.name}`,
    source: staged ? matmulSource : linearSource,
    constants: {
      ...weightConstants(format),
      ...(staged ? stagedConstants(product) : tileConstants(device, tile)),
      ...gate?.constants,
      ...more.constants,
      COLS: columnsOf(tile),
      SIDES: sides,
      PAIRED: sides === 2,
      INTEGER: isQuantized(x),
      QUANTIZED_OUTPUT: isQuantized(y),
      AFFINE: part.affine !== undefined,
      ACCUMULATE: accumulate,
    },
    snippets: weightSnippets(format, [
      ...(isQuantized(x) || isQuantized(y) ? [quantizeSource] : []),
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

/** One group a step where two would not fit the 16 KiB that every device has. */
function stagedConstants({ matrix, x, y }: Product) {
  const small = isQuantized(x) && !isQuantized(y);
  return { GROUPS: small ? 2 : 1, OUTPUT_ROWS: 4 / matrix.sides };
}

function tileConstants(device: Device, { rows, lanes, workgroup }: LinearTile) {
  const SUBGROUPS = lanes > 1 && lanes === device.capabilities.subgroupSize;
  const SHARED = lanes > 1 && !SUBGROUPS;
  return { ROWS: rows, LANES: lanes, WORKGROUP: workgroup, SUBGROUPS, SHARED };
}

/** Constants that tell a kernel what a format's snippet gives. */
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

/** The product in plain loops, summed in f64: weights [rows, columns], x [tokens, columns]. */
export function linearReference(
  weights: Float32Array,
  x: Float32Array,
  shape: { rows: number; columns: number; tokens: number },
): Float32Array {
  const { rows, columns, tokens } = shape;
  const y = new Float32Array(tokens * rows); // [tokens, rows]
  for (let t = 0; t < tokens; t++) {
    for (let n = 0; n < rows; n++) {
      let sum = 0;
      for (let k = 0; k < columns; k++) sum += x[t * columns + k] * weights[n * columns + k];
      y[t * rows + n] = sum;
    }
  }
  return y;
}
