// A matrix product for trying tiles: a small matrix with known products is checked, and matrices of full
// size, as many as exceed the GPU's caches, are timed.

import type { ProductCase } from "../../tuning.ts";
import { type Activation, floatRows, GROUP, padTo, quantizedRows } from "../../ops/activation.ts";
import type { QuantFormat } from "../../quants/mod.ts";
import type { Gpu } from "../gpu.ts";
import { Linear } from "../linear.ts";
import { canPair, type GpuMatrix } from "../matrix.ts";
import { type Tile, tileName } from "../tile.ts";
import { productTiles } from "../candidates.ts";
import { KnownResult, knownRow, wholeNumbers, writeRows } from "./known_result.ts";
import { coldBytes, formatOf, knownMatrix, largeMatrix, moderateBlocks } from "./random_matrix.ts";
import type { Bench, Encode } from "./trial.ts";

/** Rows, of each side, and most columns of the product that is checked. No tile divides the rows. */
const CHECKED_ROWS = 160;
const MOST_CHECKED_COLUMNS = 4096;

/** Number of tokens in excess of one staged tile. */
const MOST_TOKENS = 70;

/** Most matrices that are timed. */
const MOST_COPIES = 8;

interface Operands {
  readonly matrix: GpuMatrix;
  readonly x: Activation;
  readonly y: Activation;
}

/** Why a product, also one of experts, cannot be tried; undefined if it can. */
export function productFault(
  { format: name, rows, columns, sides }: Pick<
    ProductCase,
    "format" | "rows" | "columns" | "sides"
  >,
): string | undefined {
  const format = formatOf(name);
  if (!format) return `no weights are ${name}`;
  if (columns % format.blockSize !== 0) return `${columns} columns are no whole blocks of ${name}`;
  if (sides === 2 && !canPair(format, rows, columns)) return "such matrices are not paired";
  return undefined;
}

/** The tiles of a product on a device. */
export class ProductBench implements Bench {
  readonly ways: readonly string[];
  readonly #device: Gpu;
  readonly #kernel: ProductCase;
  readonly #format: QuantFormat;
  readonly #tiles: Map<string, Tile>;
  readonly #blocks: Uint8Array<ArrayBuffer>[];
  #full: Operands[] | undefined;
  #known: Promise<{ operands: Operands; tokens: number; result: KnownResult }> | undefined;

  /** @param device what it allocates is freed with it */
  constructor(device: Gpu, kernel: ProductCase) {
    this.#device = device;
    this.#kernel = kernel;
    this.#format = formatOf(kernel.format)!;
    this.#blocks = moderateBlocks(this.#format, kernel.columns);
    const tiles = productTiles(device.profile, kernel);
    this.#tiles = new Map(tiles.map((tile) => [tileName(tile), tile]));
    this.ways = [...this.#tiles.keys()];
  }

  async check(way: string): Promise<string | undefined> {
    const { operands, tokens, result } = await (this.#known ??= this.#know());
    return await result.faultOf(this.#encode(operands, way, tokens));
  }

  full(way: string): Encode[] {
    const all = this.#full ??= this.#allocateFull();
    return all.map((operands) => this.#encode(operands, way, this.#kernel.tokens));
  }

  #encode({ matrix, x, y }: Operands, way: string, tokens: number): Encode {
    const linear = new Linear(this.#device, matrix, x, y, { tile: this.#tiles.get(way)! });
    return (pass) => linear.encode(pass, tokens);
  }

  #rowsFor(tokens: number, rows: number, columns: number): Pick<Operands, "x" | "y"> {
    const { integer, quantized } = this.#kernel;
    return {
      x: (integer ? quantizedRows : floatRows)(this.#device, "tuning x", tokens, columns),
      y: (quantized ? quantizedRows : floatRows)(this.#device, "tuning y", tokens, rows),
    };
  }

  #allocateFull(): Operands[] {
    const { rows, columns, sides, tokens } = this.#kernel;
    const { blockSize, blockBytes } = this.#format;
    const rowBytes = sides * columns / blockSize * blockBytes;
    const cold = coldBytes(this.#device);
    // The time of a part of a large matrix counts for that part.
    const most = Math.min(rows, padTo(Math.ceil(2 * cold / rowBytes), GROUP));
    const copies = Math.max(1, Math.min(MOST_COPIES, Math.ceil(cold / (most * rowBytes))));
    const shape = { rows: most, columns, sides };
    const read = this.#rowsFor(tokens, most, columns);
    return Array.from({ length: copies }, () => ({
      matrix: largeMatrix(this.#device, this.#format, this.#blocks, shape),
      ...read,
    }));
  }

  /** A product whose first and last results are known. */
  async #know() {
    const { sides } = this.#kernel;
    const columns = Math.min(this.#kernel.columns, MOST_CHECKED_COLUMNS);
    const tokens = Math.min(this.#kernel.tokens, MOST_TOKENS);
    const shape = { rows: CHECKED_ROWS, columns, sides };
    const { matrix, weights } = knownMatrix(this.#device, this.#format, this.#blocks, shape);
    const operands = { matrix, ...this.#rowsFor(tokens, CHECKED_ROWS, columns) };
    const x = wholeNumbers(tokens, columns);
    writeRows(this.#device, operands.x, x);
    const picked = [...new Set([0, 1, tokens - 1])].filter((token) => token < tokens);
    const known = picked.map((token) =>
      knownRow(this.#format, token, weights, x.subarray(token * columns, (token + 1) * columns))
    );
    return { operands, tokens, result: await KnownResult.of(this.#device, operands.y, known) };
  }
}
