// The product of pairs of tokens and experts for trying tiles, and numbers of pairs in a tile: a few small experts with known products
// are checked, and as many of full size as exceed the GPU's caches are timed.

import type { ExpertPairsCase, ExpertsCase } from "../../tuning.ts";
import { type Activation, floatRows, GROUP, padTo, quantizedRows } from "../../ops/activation.ts";
import { allocateRouting } from "../../ops/experts.ts";
import type { QuantFormat } from "../../quants/mod.ts";
import { expertWays } from "../candidates.ts";
import { GpuExpertPairs } from "../expert_pairs.ts";
import { ExpertLinear } from "../experts.ts";
import type { Gpu } from "../gpu.ts";
import type { GpuMatrix } from "../matrix.ts";
import { columnsOf, type Tile } from "../tile.ts";
import { KnownResult, knownRow, wholeNumbers, writeRows } from "./known_result.ts";
import {
  coldBytes,
  formatOf,
  knownMatrix,
  largeMatrix,
  moderateBlocks,
  randomBits,
} from "./random_matrix.ts";
import type { Bench, Encode } from "./trial.ts";

/** Rows of each side, and most columns, of the experts that are checked. No tile divides the rows. */
const CHECKED_ROWS = 160;
const MOST_CHECKED_COLUMNS = 4096;

/** Experts that are checked, one of which gets no pair if there are so many, and those of a token. */
const CHECKED_EXPERTS = 5;
const MOST_CHECKED_PER_TOKEN = 3;

/** Number of pairs whose results are compared. */
const CHECKED_PAIRS = 6;

/** Most matrices, and most tokens of which each reads experts of its own. */
const MOST_COPIES = 8;

/** Most bytes of the results of the pairs that are timed, with which there are fewer experts. */
const MOST_RESULT_BYTES = 64 * 2 ** 20;

/** The experts of pairs, and how many tokens and experts there are. */
interface Drawn {
  readonly tokens: number;
  readonly experts: number;
  readonly topK: number;
  readonly ids: Uint32Array<ArrayBuffer>;
}

interface Operands {
  readonly matrix: GpuMatrix;
  /** By the number in a tile. */
  readonly pairs: ReadonlyMap<number, GpuExpertPairs>;
  readonly tokens: number;
  readonly x: Activation;
  readonly y: Activation;
}

/** The tiles of a product of experts on a device. */
export class ExpertsBench implements Bench {
  readonly ways: readonly string[];
  readonly #device: Gpu;
  readonly #kernel: ExpertsCase | ExpertPairsCase;
  readonly #format: QuantFormat;
  readonly #tiles: Map<string, Tile>;
  readonly #blocks: Uint8Array<ArrayBuffer>[];
  #full: Operands[] | undefined;
  #known: Promise<{ operands: Operands; result: KnownResult }> | undefined;

  /** @param device what it allocates is freed with it */
  constructor(device: Gpu, kernel: ExpertsCase | ExpertPairsCase) {
    this.#device = device;
    this.#kernel = kernel;
    this.#format = formatOf(kernel.format)!;
    this.#blocks = moderateBlocks(this.#format, kernel.columns);
    this.#tiles = expertWays(device.profile, kernel);
    this.ways = [...this.#tiles.keys()];
  }

  async check(way: string): Promise<string | undefined> {
    const { operands, result } = await (this.#known ??= this.#know());
    return await result.faultOf(this.#encode(operands, way));
  }

  full(way: string): Encode[] {
    const all = this.#full ??= this.#allocateFull();
    return all.map((operands) => this.#encode(operands, way));
  }

  #encode({ matrix, pairs, tokens, x, y }: Operands, way: string): Encode {
    const tile = this.#tiles.get(way)!;
    const own = pairs.get(columnsOf(tile))!;
    const share = this.#kernel.perPair ? 1 : own.routing.topK;
    const product = new ExpertLinear(this.#device, matrix, own, x, y, { share, tile });
    return (pass) => product.encode(pass, tokens);
  }

  /** All numbers of pairs in a tile. */
  get #columns(): number[] {
    return [...new Set(this.#tiles.values().map(columnsOf))];
  }

  /** The pairs of tokens on the device, in tiles of each number of them. */
  #upload(drawn: Drawn): Operands["pairs"] {
    return new Map(this.#columns.map((cols) => [cols, this.#uploadIn(cols, drawn)]));
  }

  #uploadIn(cols: number, { tokens, experts, topK, ids }: Drawn): GpuExpertPairs {
    const device = this.#device;
    const routing = allocateRouting(device, tokens, { experts, topK });
    device.write(routing.ids as GPUBuffer, 0, ids);
    device.write(routing.count as GPUBuffer, 0, Uint32Array.of(ids.length));
    const pairs = new GpuExpertPairs(device, routing, tokens, { cols });
    const encoder = device.gpu.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pairs.encode(pass as never, tokens);
    pass.end();
    device.gpu.queue.submit([encoder.finish()]);
    return pairs;
  }

  #rowsFor({ tokens, ids }: Drawn, rows: number, columns: number): Pick<Operands, "x" | "y"> {
    const { integer, quantized, perPair } = this.#kernel;
    const read = perPair ? ids.length : tokens;
    return {
      x: (integer ? quantizedRows : floatRows)(this.#device, "tuning x", read, columns),
      y: (quantized ? quantizedRows : floatRows)(this.#device, "tuning y", ids.length, rows),
    };
  }

  #allocateFull(): Operands[] {
    const { rows, columns, sides, topK, density } = this.#kernel;
    const { blockSize, blockBytes } = this.#format;
    const rowBytes = sides * columns / blockSize * blockBytes;
    const cold = coldBytes(this.#device);
    // The time of a part of large experts counts for that part.
    const most = Math.min(rows, padTo(Math.ceil(2 * cold / (topK * rowBytes)), GROUP));
    const experts = this.#fewestExperts(2 * cold / (most * rowBytes), most);
    const copies = Math.min(MOST_COPIES, Math.ceil(cold / (experts * most * rowBytes)));
    const draws = density === 1
      ? dealt({ experts, topK }, Math.ceil(MOST_COPIES / copies))
      : [drawn({ experts, topK }, Math.ceil(density * experts / topK))];
    const pairs = draws.map((draw) => this.#upload(draw));
    const read = this.#rowsFor(draws[0]!, most, columns);
    const shape = { rows: experts * most, columns, sides, unit: most };
    return Array.from({ length: copies }, () => {
      const matrix = largeMatrix(this.#device, this.#format, this.#blocks, shape);
      return pairs.map((pairs, i) => ({ matrix, pairs, tokens: draws[i]!.tokens, ...read }));
    }).flat();
  }

  /** About `wanted` experts, if the model has so many and their results have room; those of a token at least. */
  #fewestExperts(wanted: number, rows: number): number {
    const { experts, topK, density } = this.#kernel;
    const most = Math.floor(MOST_RESULT_BYTES / (density * rows * 4));
    return Math.max(topK, Math.min(experts, Math.ceil(wanted), most));
  }

  /** Products of which some are known. */
  async #know() {
    const { sides, perPair } = this.#kernel;
    const columns = Math.min(this.#kernel.columns, MOST_CHECKED_COLUMNS);
    const experts = Math.min(this.#kernel.experts, CHECKED_EXPERTS);
    const topK = Math.min(this.#kernel.topK, MOST_CHECKED_PER_TOKEN, Math.max(1, experts - 1));
    // More than one tile of each expert, of which the last is not full.
    const used = Math.max(topK, experts - 1);
    const tokens = Math.ceil((Math.max(...this.#columns) + 1) * used / topK) + 1;
    const draw = { ...drawn({ experts: used, topK }, tokens), experts };
    const shape = { rows: experts * CHECKED_ROWS, columns, sides, unit: CHECKED_ROWS };
    const { matrix, weights } = knownMatrix(this.#device, this.#format, this.#blocks, shape);
    const operands = {
      ...{ matrix, pairs: this.#upload(draw), tokens },
      ...this.#rowsFor(draw, CHECKED_ROWS, columns),
    };
    const x = wholeNumbers(perPair ? draw.ids.length : tokens, columns);
    writeRows(this.#device, operands.x, x);
    const last = draw.ids.length - 1;
    const picked = new Set(
      Array.from({ length: CHECKED_PAIRS }, (_, i) => Math.round(i * last / (CHECKED_PAIRS - 1))),
    );
    const known = [...picked].map((pair) => {
      const row = perPair ? pair : Math.floor(pair / topK);
      const first = draw.ids[pair]! * CHECKED_ROWS;
      const own = weights.map((side) =>
        side.subarray(first * columns, (first + CHECKED_ROWS) * columns)
      );
      return knownRow(this.#format, pair, own, x.subarray(row * columns, (row + 1) * columns));
    });
    return { operands, result: await KnownResult.of(this.#device, operands.y, known) };
  }
}

type Shape = Pick<Drawn, "experts" | "topK">;

/** Tokens that choose their experts at random, so that some experts get more pairs than others. */
function drawn({ experts, topK }: Shape, tokens: number): Drawn {
  const next = randomBits(tokens);
  const deck = Uint32Array.from({ length: experts }, (_, expert) => expert);
  const ids = new Uint32Array(tokens * topK);
  for (let token = 0; token < tokens; token++) {
    shuffle(deck, topK, next);
    ids.set(deck.subarray(0, topK), token * topK);
  }
  return { experts, topK, tokens, ids };
}

/**
 * Single tokens, at most `most`, of which no two have an expert in common: what one reads is in no cache
 * because of another.
 */
function dealt({ experts, topK }: Shape, most: number): Drawn[] {
  const deck = Uint32Array.from({ length: experts }, (_, expert) => expert);
  shuffle(deck, experts, randomBits(experts));
  const count = Math.min(most, Math.floor(experts / topK));
  return Array.from({ length: count }, (_, i) => ({
    ...{ experts, topK, tokens: 1 },
    ids: deck.slice(i * topK, (i + 1) * topK),
  }));
}

/** Moves a random one to each of the first `count` places, each as likely as any other (Fisher and Yates). */
function shuffle(deck: Uint32Array, count: number, next: () => number): void {
  for (let i = 0; i < count; i++) {
    const j = i + next() % (deck.length - i);
    [deck[i], deck[j]] = [deck[j]!, deck[i]!];
  }
}
