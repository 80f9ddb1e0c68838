// In which tiles the products of a mixture of experts are done, and for many rows the lists of
// pairs that share an expert: the binding of expert_plan.wgsl and its plain reference.

import planSource from "./expert_plan.wgsl" with { type: "text" };
import type { Device } from "./device.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import type { Routing } from "./route.ts";
import { chooseTile, columnsOf } from "./tile.ts";

/** The widest tile. */
const MOST_COLUMNS = 64;

/** Pairs per expert, on average, from which it is worth grouping them: memory is the GPU's limit. */
const PLANNED_PAIRS = 2;
const PLANNED_PAIRS_SOFTWARE = 4;

/** What a tile's expert is if it is empty, and a pair if there is none. */
export const NO_PAIR = 0xffffffff;

/** How the pairs of a step are tiled. */
export interface ExpertTiling {
  /** Pairs in a tile; with one, tile i is pair i and there is no plan. */
  readonly cols: number;
  /** Number of tiles, some of them empty. */
  readonly tiles: number;
}

/** Groups the pairs of a step by expert. One plan serves all layers, one after the other. */
export class ExpertPlan {
  readonly routing: Routing;
  /** [tiles] of (expert, pairs of the tile), for the tiling of the step. */
  readonly tiles: GPUBuffer;
  readonly #device: Device;
  readonly #cols: number | undefined;
  readonly #dispatches = new Map<number, Dispatch>();

  /**
   * @param rows the most there are
   * @param options `cols` instead of what the device would choose as the width of tiles; with 1,
   * pairs are never grouped
   */
  constructor(device: Device, routing: Routing, rows: number, options: { cols?: number } = {}) {
    this.#device = device;
    this.routing = routing;
    this.#cols = options.cols;
    const pairs = rows * routing.choices;
    const words = 2 * pairs + routing.experts * (1 + MOST_COLUMNS);
    this.tiles = device.buffer("expert plan", words * 4, "scratch");
  }

  /** Pairs that share an expert, on average: what a product's tile is chosen for. One: ungrouped. */
  density(rows: number): number {
    if (this.#cols !== undefined) return this.#cols;
    const { experts, choices } = this.routing;
    const { software } = this.#device.capabilities;
    const density = Math.floor(rows * choices / experts);
    return density < (software ? PLANNED_PAIRS_SOFTWARE : PLANNED_PAIRS) ? 1 : density;
  }

  /** How the pairs of `rows` rows are tiled. */
  tiling(rows: number): ExpertTiling {
    const { experts, choices } = this.routing;
    // Products of all kinds share the plan: the width is one that the most demanding can have.
    const most = { sides: 2, integer: false, quantized: true } as const;
    const cols = this.#cols ??
      columnsOf(chooseTile(this.#device.profile, this.density(rows), most));
    const pairs = rows * choices;
    return { cols, tiles: cols === 1 ? pairs : Math.floor(pairs / cols) + experts };
  }

  /** Records the grouping of what {@linkcode Route} chose for `rows` rows, if there is any. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    const { cols } = this.tiling(rows);
    if (cols === 1) return;
    let dispatch = this.#dispatches.get(cols);
    if (!dispatch) this.#dispatches.set(cols, dispatch = this.#bind(cols));
    encodeDispatch(pass, dispatch, [this.routing.experts]);
  }

  #bind(cols: number): Dispatch {
    const { count, ids } = this.routing;
    const WORKGROUP = this.#device.capabilities.software ? 8 : 64;
    return this.#device.kernel({
      name: "expert plan",
      source: planSource,
      constants: { WORKGROUP },
    }).bind({ count, ids, plan: this.tiles }, { cols });
  }
}

/** The tiles in plain loops: [pairs / cols + experts, 1 + cols]. */
export function expertPlanReference(
  ids: ArrayLike<number>,
  { experts, cols }: { experts: number; cols: number },
): Uint32Array {
  const tiles = new Uint32Array((Math.floor(ids.length / cols) + experts) * (1 + cols)).fill(
    NO_PAIR,
  );
  const pairs = Array.from(ids, (_, pair) => pair);
  for (let expert = 0; expert < experts; expert++) {
    const lower = pairs.filter((pair) => ids[pair] < expert).length;
    const first = Math.floor(lower / cols) + expert;
    pairs.filter((pair) => ids[pair] === expert).forEach((pair, rank) => {
      const at = (first + Math.floor(rank / cols)) * (1 + cols);
      tiles[at] = expert;
      tiles[at + 1 + rank % cols] = pair;
    });
  }
  return tiles;
}
