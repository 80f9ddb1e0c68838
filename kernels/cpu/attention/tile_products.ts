// The two products of a tile's attention: scores of queries and keys, and values times weights. A
// step of keys or values is in the thread's memory, in which lanes are positions or columns, so that
// nothing is summed across lanes; several queries are multiplied with it at once. It is at constant
// addresses, where V8 joins neighbouring vectors (../README.md, "Vectors of 256 bits"). Sums are
// made in the order of kernel.ts.

import { joinsVectors } from "../engine_features.ts";
import {
  f32x4,
  type FunctionBuilder,
  i32,
  type Local,
  type Memory,
  shuffleLanes,
  type V128,
  v128,
} from "../wasm/mod.ts";
import type { QueryLayout } from "./softmax.ts";
import { BLOCK } from "../../ops/kv_cache.ts";

/** Positions of keys, or columns of values, of a step. */
export const STEP = 16;

const VECTORS = STEP / 4;
const ZERO = v128.const(new Uint8Array(16));

/**
 * Columns are summed apart by their number modulo 8, as lanes of single rows are. So a query's columns lie in
 * this order, each chain padded to whole vectors.
 */
export const CHAINS = 8;

/** Bytes of the columns of a query that are summed one after the other. */
export function chainBytes(headDim: number): number {
  return 16 * Math.ceil(headDim / (4 * CHAINS));
}

/** The most queries that are multiplied at once, for which memory is set aside. */
export const MOST_QUERIES_AT_ONCE = 6;

/** Bytes for the sums of a step. */
export const SUM_BYTES = 4 * STEP * MOST_QUERIES_AT_ONCE;

/** Where the operands of a tile are in a thread's memory. */
export interface TileLayout extends QueryLayout {
  /** A step of keys: [headDim, STEP]. */
  readonly keys: number;
  /** A step of values: [BLOCK, STEP]. */
  readonly values: number;
  /** Sums of a step: [queries at once, STEP]. */
  readonly sums: number;
  /** The first query. */
  readonly queries: number;
}

/** The products of tiles of some shape. */
export class TileProducts {
  readonly #panel: Memory;
  readonly #layout: TileLayout;
  readonly #madd: (a: V128, b: V128, c: V128) => V128;
  /** With vectors of 128 bits, registers hold the sums of two queries; with 256 bits, of six. */
  readonly #atOnce = joinsVectors() ? MOST_QUERIES_AT_ONCE : 2;

  constructor(
    panel: Memory,
    layout: TileLayout,
    madd: (a: V128, b: V128, c: V128) => V128,
  ) {
    this.#panel = panel;
    this.#layout = layout;
    this.#madd = madd;
  }

  /** Writes the scores of a step of keys, the first of which is byte `first` of the scores. */
  score(
    f: FunctionBuilder,
    headDim: number,
    queriesEnd: Local<"i32">,
    first: Local<"i32">,
  ): void {
    const { keys, scores, query } = this.#layout;
    this.#forQueries(f, queriesEnd, (queries) => {
      const sums = (column: number) => {
        const rows = { at: keys, first: column, count: headDim, step: CHAINS };
        return this.#sums(f, queries, rows, query + chainBytes(headDim) * column);
      };
      const add = (some: Sums, others: Sums) =>
        some.map((own, q) => own.map((sum, i) => f.let(f32x4.add(sum, others[q]![i]!))));
      // As lanes of single rows are summed: columns 0, 8 ... and 4, 12 ..., then 2 and 6, then those between.
      const four = (column: number) =>
        add(
          add(sums(column), sums(column + 4)),
          add(sums(column + 2), sums(column + 6)),
        );
      this.#store(add(four(0), four(1)), f);
      queries.forEach((query, q) => {
        const to = f.let(i32.add(query, first));
        this.#loadSums(q).forEach((sum, i) =>
          f.do(this.#panel.v128.store(to, sum, scores + 16 * i))
        );
      });
    });
  }

  /** Adds a step of weighted values, from byte `column` of the results on, to the corrected results. */
  addValues(f: FunctionBuilder, queriesEnd: Local<"i32">, column: Local<"i32">): void {
    const panel = this.#panel;
    const { values, scores, results, correction } = this.#layout;
    this.#forQueries(f, queriesEnd, (queries) => {
      const weights = { at: values, first: 0, count: BLOCK, step: 1 };
      this.#store(this.#sums(f, queries, weights, scores), f);
      queries.forEach((query, q) => {
        const factor = f.let(panel.v128.load32_splat(query, correction));
        const to = f.let(i32.add(query, column));
        this.#loadSums(q).forEach((sum, i) => {
          const result = this.#madd(panel.v128.load(to, results + 16 * i), factor, sum);
          f.do(panel.v128.store(to, result, results + 16 * i));
        });
      });
    });
  }

  /** Runs `body` for several queries at a time; the last of them may be past the end. */
  #forQueries(
    f: FunctionBuilder,
    queriesEnd: Local<"i32">,
    body: (queries: readonly Local<"i32">[]) => void,
  ): void {
    const { queries, bytes } = this.#layout;
    const first = f.let(i32.const(queries));
    f.forUpTo(first, queriesEnd, bytes * this.#atOnce, () => {
      // A pointer for each: accesses with the same offset share the arithmetic of their bounds checks.
      body(Array.from({ length: this.#atOnce }, (_, q) => f.let(i32.add(first, bytes * q))));
    });
  }

  /**
   * The sums over some rows of a step, of the row times a float of each query. The floats lie one after the
   * other, at an offset from the query: four are loaded with one bounds check.
   */
  #sums(
    f: FunctionBuilder,
    queries: readonly Local<"i32">[],
    rows: { at: number; first: number; count: number; step: number },
    offset: number,
  ): Sums {
    const panel = this.#panel;
    const isEmpty = rows.first >= rows.count;
    const sums = queries.map(() =>
      isEmpty ? Array.from({ length: VECTORS }, () => f.let(ZERO)) : []
    );
    let fours: Local<"v128">[] = [];
    for (let row = rows.first, n = 0; row < rows.count; row += rows.step, n++) {
      if (n % 4 === 0) fours = queries.map((at) => f.let(panel.v128.load(at, offset + 4 * n)));
      const at = rows.at + 4 * STEP * row;
      const vectors = Array.from(
        { length: VECTORS },
        (_, i) => f.let(panel.v128.load(i32.const(0), at + 16 * i)),
      );
      fours.forEach((four, q) => {
        const factor = f.let(shuffleLanes(four, four, new Array(4).fill(n % 4)));
        const own = sums[q]!;
        vectors.forEach((vector, i) => {
          if (n === 0) own.push(f.let(f32x4.mul(factor, vector)));
          else f.set(own[i]!, this.#madd(factor, vector, own[i]!));
        });
      });
    }
    return sums;
  }

  /** Stores sums at constant addresses. */
  #store(sums: Sums, f: FunctionBuilder): void {
    sums.flat().forEach((sum, i) =>
      f.do(this.#panel.v128.store(i32.const(0), sum, this.#layout.sums + 16 * i))
    );
  }

  /** The sums of a query, from where they were stored. */
  #loadSums(query: number): V128[] {
    const at = this.#layout.sums + 4 * STEP * query;
    return Array.from(
      { length: VECTORS },
      (_, i) => this.#panel.v128.load(i32.const(0), at + 16 * i),
    );
  }
}

/** The sums of a step: vectors of each query. */
type Sums = readonly (readonly Local<"v128">[])[];
