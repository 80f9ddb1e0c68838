// Products of one input by several matrices, whose results lie side by side in y. For few rows, those
// that fit into one kernel are one dispatch, since each dispatch waits for the one before it: some
// workgroups compute the tiles of one matrix, the others those of another. linear.wgsl is expanded
// for each of them, with names of its own.

import type { Commands } from "../device.ts";
import type { FloatRows } from "../operation.ts";
import type { Activation } from "../ops/activation.ts";
import type { StackedMatrix } from "../ops/matrix.ts";
import type { Gpu } from "./gpu.ts";
import type { Dispatch } from "./kernel.ts";
import {
  encodeTiles,
  type GpuLinearOptions,
  Linear,
  MOST_BUFFERS,
  type Product,
  productKernel,
  shapeOf,
} from "./linear.ts";
import type { GpuMatrix } from "./matrix.ts";
import { renamedName } from "./template.ts";
import { columnsOf, MOST_COLS, rowsOf, type Tile } from "./tile.ts";
import { Variants } from "./choices.ts";
import { weightBuffers } from "./weight_code.ts";

/** The options of stacked products. */
export type GpuStackOptions = Pick<GpuLinearOptions, "accumulate" | "tile">;

/** A matrix of a stack. */
type Part = StackedMatrix<GpuMatrix>;

/** Products of one input with their results side by side. */
export class StackedLinear {
  readonly #products: readonly (Linear | JoinedLinear)[];

  /**
   * @param x [tokens, columns]
   * @param y [tokens, rows of all matrices] or wider
   */
  constructor(
    device: Gpu,
    parts: readonly Part[],
    x: Activation,
    y: FloatRows,
    options: GpuStackOptions = {},
  ) {
    this.#products = joinable(device, parts).map((parts) => {
      const alone = parts.map(({ matrix, first }) =>
        new Linear(device, matrix, x, y, { ...options, first })
      );
      return parts.length > 1 ? new JoinedLinear(device, parts, x, y, options, alone) : alone[0];
    });
  }

  /** Binds the variants for up to `most` rows of x. Errors: GpuError. */
  prepare(most: number): void {
    for (const product of this.#products) product.prepare(most);
  }

  /** Records the products for the first `tokens` rows of x. Errors: GpuError. */
  encode(pass: GPUComputePassEncoder, tokens: number): void {
    for (const product of this.#products) product.encode(pass, tokens);
  }
}

/** Neighbours that one kernel can have, and parts that are alone. */
function joinable(device: Gpu, parts: readonly Part[]): Part[][] {
  const groups: Part[][] = [];
  for (const part of parts) {
    const group = groups.at(-1);
    if (group && canJoin(device, [...group, part])) group.push(part);
    else groups.push([part]);
  }
  return groups;
}

function canJoin({ capabilities }: Gpu, parts: readonly Part[]): boolean {
  // A driver on the CPU takes long to compile a kernel, and a dispatch more costs it little.
  if (capabilities.software) return false;
  if (parts.some(({ matrix }) => matrix.parts.length > 1)) return false;
  const planes = parts.reduce((sum, { matrix }) => sum + weightBuffers(matrix.format), 0);
  return planes + (hasAffine(parts) ? 3 : 2) <= MOST_BUFFERS; // with x, y, and affine
}

function hasAffine(parts: readonly Part[]): boolean {
  return parts.some(({ matrix }) => matrix.parts[0].affine);
}

/** Products that are one dispatch for up to MOST_COLS rows. */
class JoinedLinear {
  readonly #device: Gpu;
  readonly #products: readonly (Product & { readonly first: number })[];
  /** Each for itself, for more rows. */
  readonly #alone: readonly Linear[];
  /** Scales and biases of all, in the order of y. */
  readonly #affine: GPUBuffer | undefined;
  /** The largest of the products, whose tiles all get. */
  readonly #largest: Product;
  readonly #variants: Variants;
  readonly #isTuned: boolean;

  constructor(
    device: Gpu,
    parts: readonly Part[],
    x: Activation,
    y: FloatRows,
    { accumulate = false, tile }: GpuStackOptions,
    alone: readonly Linear[],
  ) {
    this.#device = device;
    this.#products = parts.map(({ matrix, first }) => ({ matrix, first, x, y, accumulate }));
    this.#alone = alone;
    this.#affine = hasAffine(parts) ? joinedAffine(device, parts, y.columns) : undefined;
    const largest = this.#products.reduce((a, b) => b.matrix.rows > a.matrix.rows ? b : a);
    this.#largest = largest;
    this.#isTuned = tile === undefined;
    const { choices } = device;
    this.#variants = new Variants({
      version: () => choices.version,
      choose: (tokens) => tile ?? choices.tile(shapeOf(largest), tokens),
      bind: (tile) => [this.#bind(tile)],
    });
  }

  prepare(most: number): void {
    const few = Math.min(most, MOST_COLS);
    if (this.#isTuned) this.#device.choices.prepareProduct(shapeOf(this.#largest), few);
    this.#variants.prepare(few);
    if (most > few) { for (const linear of this.#alone) linear.prepare(most, few + 1); }
  }

  encode(pass: GPUComputePassEncoder, tokens: number): void {
    if (tokens > MOST_COLS) {
      for (const linear of this.#alone) linear.encode(pass, tokens);
      return;
    }
    const { tile, dispatches: [dispatch] } = this.#variants.for(tokens);
    const rowTiles = this.#products.reduce((sum, { matrix }) => sum + tilesOf(matrix, tile), 0);
    encodeTiles(pass, dispatch, rowTiles, Math.ceil(tokens / columnsOf(tile)));
  }

  #bind(tile: Tile): Dispatch {
    const affine = this.#affine;
    const kernels = this.#products.map((product, i) => {
      const { matrix, first } = product;
      const part = { ...matrix.parts[0], ...(affine ? { affine } : {}) };
      return productKernel(this.#device, product, part, tile, {
        constants: { PRODUCTS: this.#products.length, JOINED: true, FURTHER: i > 0 },
        resources: {},
        params: { rows: part.rows, first, tiles: tilesOf(matrix, tile) },
      });
    });
    const [own, ...others] = kernels;
    const planes = others.flatMap(({ resources }, i) =>
      Object.entries(resources).filter(([name]) => name.startsWith("w_"))
        .map(([name, resource]) => [renamedName(name, i + 1), resource])
    );
    const name = `linear ${this.#products.map(({ matrix }) => matrix.format.name).join(", ")}`;
    const kernel = this.#device.kernel({
      ...own.source,
      name,
      joined: others.map(({ source }) => source),
    });
    const resources = { ...own.resources, ...Object.fromEntries(planes) };
    return kernel.bind(resources, ...kernels.map(({ params }) => params));
  }
}

/** Tiles of the rows of a matrix. */
function tilesOf(matrix: GpuMatrix, tile: Tile): number {
  return Math.ceil(matrix.rows / rowsOf(tile, matrix));
}

/** The scale and bias of each column of y, two floats: [columns]. */
function joinedAffine(device: Gpu, parts: readonly Part[], columns: number): GPUBuffer {
  const none = new Float32Array(2 * columns).map((_, i) => i % 2 === 0 ? 1 : 0);
  const joined = device.buffer("affine", none.byteLength, "weights");
  device.write(joined, 0, none);
  const encoder = device.gpu.createCommandEncoder();
  for (const { matrix: { rows, parts: [{ affine }] }, first } of parts) {
    const bytes = (count: number) => 2 * Float32Array.BYTES_PER_ELEMENT * count;
    if (affine) encoder.copyBufferToBuffer(affine, 0, joined, bytes(first), bytes(rows));
  }
  device.submit(encoder.finish() as Commands);
  return joined;
}
