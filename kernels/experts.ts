// The products of a mixture of experts: each pair of a row and an expert chosen for it by that
// expert's matrix. The experts are one matrix, row after row, and the kernels are those of linear.ts
// with a table of which pairs make up a tile: the pairs as they are, or ExpertPlan's lists.

import type { Activation } from "./activation.ts";
import type { ActivationFunction } from "./activation_function.ts";
import type { Device } from "./device.ts";
import { GpuError } from "./errors.ts";
import type { ExpertPlan } from "./expert_plan.ts";
import type { Dispatch } from "./kernel.ts";
import { bindProduct, encodeTiles, type Product, useOf, Variants } from "./linear.ts";
import type { Matrix, MatrixPart } from "./matrix.ts";
import { chooseTile, columnsOf, rowsOf, type Tile } from "./tile.ts";

/** How pairs read x, and how the product is done. */
export interface ExpertLinearOptions {
  /** Pairs that read the same row of x: `choices` where x has a row per token, 1 per pair. */
  share: number;
  /** What a paired matrix applies to its gate. Default "silu". */
  activation?: ActivationFunction;
  /** Overrides the choice of the tile, for tests and tuning; as wide as the plan's. */
  tile?: Tile;
}

/** y[pair] = x[pair / share] W^T of the pair's expert, then scaled, biased and gated as Linear does. */
export class ExpertLinear {
  readonly #device: Device;
  readonly #plan: ExpertPlan;
  readonly #product: Product;
  readonly #options: ExpertLinearOptions;
  readonly #rows: number;
  readonly #variants = new Variants();

  /**
   * @param matrix [experts * rows, columns], allocated with `unit` = rows
   * @param x [pairs / share, columns] @param y [pairs, rows]
   * Errors: GpuError for a part that ends within an expert.
   */
  constructor(
    device: Device,
    matrix: Matrix,
    plan: ExpertPlan,
    x: Activation,
    y: Activation,
    options: ExpertLinearOptions,
  ) {
    this.#device = device;
    this.#plan = plan;
    this.#product = { matrix, x, y, ...options };
    this.#options = options;
    this.#rows = matrix.rows / plan.routing.experts;
    const broken = matrix.parts.find((part) => part.rows % this.#rows !== 0);
    if (broken) {
      const state = `a part has ${broken.rows} rows, an expert ${this.#rows}`;
      throw new GpuError(`Cannot bind the experts of ${matrix.label}: ${state}`);
    }
  }

  /** Records the product for the pairs of the first `rows` rows. Errors: GpuError, see `tile`. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    const { matrix } = this.#product;
    const { cols, tiles } = this.#plan.tiling(rows);
    const { tile, dispatches } = this.#variants.for(rows, {
      choose: () => this.#options.tile ?? this.#chooseTile(rows, cols),
      bind: (tile) => matrix.parts.map((part) => this.#bind(part, tile)),
    });
    if (columnsOf(tile) !== cols) {
      const state = `a tile has ${columnsOf(tile)} columns, the plan ${cols}`;
      throw new GpuError(`Cannot multiply by the experts of ${matrix.label}: ${state}`);
    }
    for (const dispatch of dispatches) {
      encodeTiles(pass, dispatch, this.#rows / rowsOf(tile, matrix), tiles);
    }
  }

  /** The best tile of those as wide as the plan's. */
  #chooseTile(rows: number, cols: number): Tile {
    const use = { ...useOf(this.#product), cols };
    return chooseTile(this.#device.profile, this.#plan.density(rows), use);
  }

  #bind(part: MatrixPart, tile: Tile): Dispatch {
    const { routing, tiles } = this.#plan;
    const PLANNED = columnsOf(tile) > 1;
    return bindProduct(this.#device, this.#product, part, tile, {
      constants: { GATHER: true, PLANNED },
      resources: PLANNED ? { plan: tiles } : { ids: routing.ids },
      params: {
        rows: this.#rows,
        first: 0,
        share: this.#options.share,
        experts: part.rows / this.#rows,
        first_expert: part.first / this.#rows,
      },
    });
  }
}

/** The product in plain loops: weights [experts, rows, columns], x [pairs / share, columns]. */
export function expertLinearReference(
  weights: Float32Array,
  x: Float32Array,
  ids: ArrayLike<number>,
  { rows, columns, share }: { rows: number; columns: number; share: number },
): Float32Array {
  const y = new Float32Array(ids.length * rows); // [pairs, rows]
  for (let i = 0; i < y.length; i++) {
    const pair = Math.floor(i / rows);
    const w = (ids[pair] * rows + i % rows) * columns;
    const from = Math.floor(pair / share) * columns;
    let sum = 0;
    for (let k = 0; k < columns; k++) sum += x[from + k] * weights[w + k];
    y[i] = sum;
  }
  return y;
}
