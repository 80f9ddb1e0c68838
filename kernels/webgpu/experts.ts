// The products of a mixture of experts. The kernels are those of linear.ts with a table of the
// pairs in each tile: the pairs as they are, or the lists of expert_pairs.ts.

import { GpuError } from "../errors.ts";
import type { Activation } from "../ops/activation.ts";
import type { ExpertLinearOptions } from "../ops/experts.ts";
import type { GpuExpertPairs } from "./expert_pairs.ts";
import type { Gpu } from "./gpu.ts";
import type { Dispatch } from "./kernel.ts";
import { type ExpertsShape, Variants } from "./choices.ts";
import { bindProduct, encodeTiles, type Product, shapeOf } from "./linear.ts";
import type { GpuMatrix, MatrixPart } from "./matrix.ts";
import { columnsOf, rowsOf, type Tile } from "./tile.ts";

/** How pairs read x, and the options of the product. */
export interface GpuExpertOptions extends ExpertLinearOptions {
  /**
   * Overrides the choice of the tile, for tests and tuning. It has to be as wide as the tiles of
   * pairs.
   */
  tile?: Tile;
}

/**
 * y[pair] = x[pair / share] W^T of the pair's expert, then scaled, biased and gated as in Linear.
 */
export class ExpertLinear {
  readonly #device: Gpu;
  readonly #chosen: GpuExpertPairs;
  readonly #product: Product;
  readonly #options: GpuExpertOptions;
  readonly #rows: number;
  readonly #variants: Variants;

  /**
   * @param matrix [experts * rows, columns], allocated with `unit` = rows
   * @param x [pairs / share, columns]
   * @param y [pairs, rows]
   * @throws GpuError for a part that ends within an expert
   */
  constructor(
    device: Gpu,
    matrix: GpuMatrix,
    chosen: GpuExpertPairs,
    x: Activation,
    y: Activation,
    options: GpuExpertOptions,
  ) {
    this.#device = device;
    this.#chosen = chosen;
    this.#product = { matrix, x, y, ...options };
    this.#options = options;
    this.#rows = matrix.rows / chosen.routing.experts;
    const { choices } = device;
    if (!options.tile) choices.noteExperts(this.#shape);
    this.#variants = new Variants({
      version: () => choices.version,
      choose: (density) =>
        options.tile ?? choices.expertTile(this.#shape, density, chosen.columns(density)),
      bind: (tile) => matrix.parts.map((part) => this.#bind(part, tile)),
    });
    const broken = matrix.parts.find((part) => part.rows % this.#rows !== 0);
    if (broken) {
      const state = `a part has ${broken.rows} rows, an expert ${this.#rows}`;
      throw new GpuError(`Cannot bind the experts of ${matrix.label}: ${state}`);
    }
  }

  /** Binds the variants for up to `most` rows. Errors: GpuError, see `tile`. */
  prepare(most: number): void {
    const density = this.#chosen.density(most);
    if (!this.#options.tile) this.#device.choices.prepareExperts(this.#shape, density);
    this.#variants.prepare(density);
  }

  /** Records the product for the pairs of the first `rows` rows. Errors: GpuError, see `tile`. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    const { matrix } = this.#product;
    const { cols, tiles } = this.#chosen.tiling(rows);
    const { tile, dispatches } = this.#variants.for(this.#chosen.density(rows));
    if (columnsOf(tile) !== cols) {
      const state = `a tile has ${columnsOf(tile)} columns, tiles of pairs ${cols}`;
      throw new GpuError(`Cannot multiply by the experts of ${matrix.label}: ${state}`);
    }
    for (const dispatch of dispatches) {
      encodeTiles(pass, dispatch, this.#rows / rowsOf(tile, matrix), tiles);
    }
  }

  /** What is noted and chosen. */
  get #shape(): ExpertsShape {
    const { experts, topK } = this.#chosen.routing;
    const perPair = this.#options.share === 1;
    return { ...shapeOf(this.#product), rows: this.#rows, experts, topK, perPair };
  }

  #bind(part: MatrixPart, tile: Tile): Dispatch {
    const { routing, tiles, every } = this.#chosen;
    const GROUPED = columnsOf(tile) > 1 && !every;
    return bindProduct(this.#device, this.#product, part, tile, {
      constants: { GATHER: true, GROUPED, EVERY: every },
      resources: every ? {} : GROUPED ? { pair_tiles: tiles! } : { ids: routing.ids },
      params: {
        rows: this.#rows,
        first: 0,
        share: this.#options.share,
        experts: part.rows / this.#rows,
        first_expert: part.first / this.#rows,
        all_experts: routing.experts,
      },
    });
  }
}
