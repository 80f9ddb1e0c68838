// The tiles of a mixture of experts' products, and for many rows the lists of pairs that share an
// expert: the binding of expert_pairs.wgsl.

import pairsSource from "./expert_pairs.wgsl" with { type: "text" };
import type { Buffer, Pass, Work, WorkCounts } from "../operation.ts";
import type { ExpertPairs, ExpertPairsOptions, Routing } from "../ops/experts.ts";
import { FLOAT } from "../ops/work.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { tokenClass, tokenClasses } from "./tile.ts";

/** Width of the widest tile. */
const MOST_COLUMNS = 64;

/**
 * Average pairs per expert from which grouping is worthwhile. GPUs are limited by memory bandwidth.
 */
const GROUPED_PAIRS = 2;

const GROUPED_PAIRS_SOFTWARE = 4;

/** How the pairs of a step are tiled. */
export interface ExpertTiling {
  /** Pairs in a tile. With one, tile i is pair i and nothing is grouped. */
  readonly cols: number;
  /** Number of tiles, some of them empty. */
  readonly tiles: number;
}

/** The pairs of a step, grouped by expert. All layers share one, one layer after the other. */
export class GpuExpertPairs implements ExpertPairs {
  readonly name = "expert pairs";
  readonly reads: readonly Buffer[];
  readonly writes: readonly Buffer[];
  readonly routing: Routing;
  /** Whether each row has every expert: tile i is of expert i % experts. */
  readonly every: boolean;
  /** For each tile its expert and pairs, in the tiling of the step: [tiles]. Undefined with `every`. */
  readonly tiles: GPUBuffer | undefined;
  readonly #device: Gpu;
  readonly #cols: number | undefined;
  readonly #dispatches = new Map<number, Dispatch>();
  /** Width of tiles, by class of densities, and the version of the device's choices that it follows. */
  #columns: number[] = [];
  #version: number | undefined;

  /**
   * @param rows most rows
   * @param options `cols`: width of tiles; default: the device's choice. With 1, pairs are never
   *   grouped
   */
  constructor(device: Gpu, routing: Routing, rows: number, options: ExpertPairsOptions = {}) {
    const { cols, every = false } = options;
    this.#device = device;
    this.routing = routing;
    this.every = every;
    this.#cols = cols;
    const pairs = rows * routing.topK;
    const words = 2 * pairs + routing.experts * (1 + MOST_COLUMNS);
    this.tiles = every ? undefined : device.buffer("expert pairs", words * 4, "scratch");
    this.reads = every ? [] : [routing.count, routing.ids];
    this.writes = this.tiles && cols !== 1 ? [this.tiles] : [];
  }

  /**
   * Average number of pairs that share an expert, on which a product's tile depends. One:
   * ungrouped.
   */
  density(rows: number): number {
    if (this.#cols !== undefined) return this.#cols;
    const { experts, topK } = this.routing;
    const { software } = this.#device.capabilities;
    const density = Math.floor(rows * topK / experts);
    return density < (software ? GROUPED_PAIRS_SOFTWARE : GROUPED_PAIRS) ? 1 : density;
  }

  /** Pairs in a tile at this density. */
  columns(density: number): number {
    if (this.#cols !== undefined) return this.#cols;
    const { choices } = this.#device;
    if (this.#version !== choices.version) {
      this.#columns = [];
      this.#version = choices.version;
    }
    return this.#columns[tokenClass(density)] ??= choices.pairColumns(this.routing, density);
  }

  /** How the pairs of `rows` rows are tiled. */
  tiling(rows: number): ExpertTiling {
    const { experts, topK } = this.routing;
    const cols = this.columns(this.density(rows));
    if (this.every) return { cols, tiles: experts * Math.ceil(rows / cols) };
    const pairs = rows * topK;
    return { cols, tiles: cols === 1 ? pairs : Math.floor(pairs / cols) + experts };
  }

  /** The expert of each pair is read, and the pair is written to its place. */
  work({ rows }: WorkCounts): Work {
    if (this.every) return { bytesRead: 0, bytesWritten: 0, flops: 0 };
    const bytes = FLOAT * rows * this.routing.topK;
    return { bytesRead: bytes, bytesWritten: bytes, flops: 0 };
  }

  /** Binds the grouping for up to `most` rows. */
  prepare(most: number): void {
    for (const density of tokenClasses(this.density(most))) this.#dispatch(this.columns(density));
  }

  /**
   * Records the grouping of the pairs that {@linkcode Route} chose for `rows` rows, if they are
   * grouped.
   */
  encode(pass: Pass, rows: number): void {
    const { cols } = this.tiling(rows);
    const dispatch = this.#dispatch(cols);
    if (!dispatch) return;
    encodeDispatch(pass as GPUComputePassEncoder, dispatch, [this.routing.experts]);
  }

  /** Undefined if pairs are not grouped. */
  #dispatch(cols: number): Dispatch | undefined {
    if (cols === 1 || !this.tiles) return undefined;
    let dispatch = this.#dispatches.get(cols);
    if (!dispatch) this.#dispatches.set(cols, dispatch = this.#bind(this.tiles, cols));
    return dispatch;
  }

  #bind(tiles: GPUBuffer, cols: number): Dispatch {
    const { count, ids } = this.routing;
    const WORKGROUP = this.#device.capabilities.software ? 8 : 64;
    return this.#device.kernel({
      name: "expert pairs",
      source: pairsSource,
      constants: { WORKGROUP },
    }).bind({ count, ids, pair_tiles: tiles }, { cols });
  }
}
