// Attention of prompts: one item is a tile of rows of one sequence and a key-value head. A block of keys
// and values becomes floats in the thread's memory once for all rows and query heads of the tile. Sums
// are made in the order of attention.ts, so that a row has the same bits alone and in a tile: what a
// row does not see of a block has weight zero.

import {
  type Expression,
  f32,
  f32x4,
  type FunctionBuilder,
  i32,
  i32x4,
  type Local,
  type Memory,
  type ModuleBuilder,
  shuffleLanes,
  type V128,
  v128,
} from "./wasm/mod.ts";
import { type AttentionShape, capScores, LOWEST, SPAN_WORDS, weighScores } from "./attention.ts";
import { halvesToFloats, lanes } from "./formats/scales.ts";
import { BLOCK } from "../ops/kv_cache.ts";

/** What tiles read beside spans of rows: see ATTENTION_ARGUMENTS; `tiles` as AttentionTiling has them. */
export const ATTENTION_TILE_ARGUMENTS = [
  ...["tiles", "spans", "q", "stride", "keys", "values", "kvHeads", "y", "yStride", "sinks"],
  "softcap",
] as const;

const ZERO = v128.const(new Uint8Array(16));
/** Vectors of results that a pass over the values of a block makes, for two queries. */
const PASS = 4;

/** What the size of a tile depends on. */
type TileShape = Pick<AttentionShape, "share" | "headDim" | "valueDim">;

/** Where things are in the thread's memory: queries with all that is theirs, then keys, values. */
function layoutOf({ headDim, valueDim }: TileShape) {
  const results = 4 * headDim;
  const scores = results + 4 * valueDim;
  const maximum = scores + 4 * BLOCK;
  const sum = maximum + 4;
  const keys = 0;
  const values = 4 * BLOCK * headDim;
  const queries = values + 4 * BLOCK * valueDim;
  return { results, scores, maximum, sum, queryBytes: sum + 12, keys, values, queries };
}

/** Rows that a tile may have where a thread's memory has so many bytes; zero if it is too small. */
export function attentionTileRows(shape: TileShape, bytes: number): number {
  const { queries, queryBytes } = layoutOf(shape);
  return Math.max(0, Math.floor((bytes - queries) / (queryBytes * shape.share)));
}

/** Adds `attention_tile(record, first, last)` for items `first` to `last`: tile * kvHeads + head. */
export function addAttentionTile(
  module: ModuleBuilder,
  work: Memory,
  panel: Memory,
  shape: AttentionShape,
): void {
  const { share, headDim, valueDim, half, hasMadd } = shape;
  const layout = layoutOf(shape);
  const elementBytes = half ? 2 : 4;
  const madd = (a: V128, b: V128, c: V128) =>
    hasMadd ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);

  const parameters = { record: "i32", first: "i32", last: "i32" } as const;
  module.function("attention_tile", parameters, (f, { record, first, last }) => {
    const [tiles, spans, q, stride, keys, values, kvHeads, y, yStride, sinks, softcap] =
      ATTENTION_TILE_ARGUMENTS.map((_, i) => f.let(work.i32.load(record, 4 * i)));
    const item = f.let(first);
    f.forUpTo(item, last, 1, () => {
      const tile = f.let(i32.add(tiles, i32.mul(i32.div_u(item, kvHeads), 16)));
      const kv = f.let(i32.rem_u(item, kvHeads));
      const firstRow = f.let(work.i32.load(tile));
      const afterRow = f.let(i32.add(firstRow, work.i32.load(tile, 4)));
      const begin = f.let(i32.const(0x7fffffff));
      const end = f.let(i32.const(0));
      const queriesEnd = f.let(i32.const(layout.queries));
      const spanOf = (row: Local<"i32">) => f.let(i32.add(spans, i32.mul(row, 4 * SPAN_WORDS)));
      const row = f.let(firstRow);
      const head = f.local("i32");
      f.forUpTo(row, afterRow, 1, () => {
        const span = spanOf(row);
        const [from, to] = [0, 4].map((offset) => f.let(work.i32.load(span, offset)));
        f.if(i32.lt_u(from, begin), () => f.set(begin, from));
        f.if(i32.gt_u(to, end), () => f.set(end, to));
        const scale = f.let(work.v128.load32_splat(span, 12));
        const query = f.let(
          i32.add(i32.add(q, i32.mul(row, stride)), i32.mul(kv, 4 * share * headDim)),
        );
        f.set(head, i32.mul(kv, share));
        f.forUpTo(head, i32.mul(i32.add(kv, 1), share), 1, () => {
          for (let i = 0; i < headDim; i += 4) {
            const value = f32x4.mul(work.v128.load(query, 4 * i), scale);
            f.do(panel.v128.store(queriesEnd, value, 4 * i));
          }
          for (let i = 0; i < valueDim; i += 4) {
            f.do(panel.v128.store(queriesEnd, ZERO, layout.results + 4 * i));
          }
          f.do(panel.f32.store(queriesEnd, f32.const(LOWEST), layout.maximum));
          f.do(panel.f32.store(queriesEnd, f32.const(0), layout.sum));
          f.if(sinks, () => {
            const sink = work.f32.load(i32.add(sinks, i32.mul(head, 4)));
            f.do(panel.f32.store(queriesEnd, sink, layout.maximum));
            f.do(panel.f32.store(queriesEnd, f32.const(1), layout.sum));
          });
          f.increase(query, 4 * headDim);
          f.increase(queriesEnd, layout.queryBytes);
        });
      });
      const table = f.let(work.i32.load(spanOf(firstRow), 8));
      const position = f.let(i32.and(begin, -BLOCK));
      f.while(i32.lt_u(position, end), () => {
        const count = f.let(i32.const(BLOCK));
        f.if(
          i32.lt_u(i32.sub(end, position), BLOCK),
          () => f.set(count, i32.sub(end, position)),
        );
        const number = i32.div_u(position, BLOCK);
        const block = work.i32.load(i32.add(table, i32.mul(number, 4)));
        const cell = f.let(i32.mul(i32.add(i32.mul(block, kvHeads), kv), BLOCK));
        spread(f, { cache: keys, cell, count, dim: headDim, to: layout.keys });
        spread(f, { cache: values, cell, count, dim: valueDim, to: layout.values });
        scoreBlock(f, queriesEnd, count);
        const query = f.let(i32.const(layout.queries));
        f.set(row, firstRow);
        f.forUpTo(row, afterRow, 1, () => {
          const span = spanOf(row);
          const [from, to] = [0, 4].map((offset) =>
            f.let(i32.sub(work.i32.load(span, offset), position))
          );
          const sees = i32.and(i32.lt_s(from, 1), i32.ge_s(to, BLOCK));
          const isPartial = f.let(i32.eqz(sees));
          f.set(head, 0);
          f.forUpTo(head, share, 1, () => {
            const scores = { at: query, offset: layout.scores };
            f.if(isPartial, () => maskScores(f, scores, from, to));
            f.if(softcap, () => capScores(f, panel, scores, { cap: softcap, count: BLOCK }));
            weighScores(f, panel, {
              scores,
              maximum: { at: query, offset: layout.maximum },
              sum: { at: query, offset: layout.sum },
              results: { at: query, offset: layout.results },
              valueDim,
            });
            f.increase(query, layout.queryBytes);
          });
        });
        addValues(f, queriesEnd, count);
        f.increase(position, BLOCK);
      });
      const query = f.let(i32.const(layout.queries));
      f.set(row, firstRow);
      f.forUpTo(row, afterRow, 1, () => {
        const out = f.let(
          i32.add(i32.add(y, i32.mul(row, yStride)), i32.mul(kv, 4 * share * valueDim)),
        );
        f.set(head, 0);
        f.forUpTo(head, share, 1, () => {
          const sum = f.let(panel.v128.load32_splat(query, layout.sum));
          for (let i = 0; i < valueDim; i += 4) {
            const result = panel.v128.load(query, layout.results + 4 * i);
            f.do(work.v128.store(out, f32x4.div(result, sum), 4 * i));
          }
          f.increase(out, 4 * valueDim);
          f.increase(query, layout.queryBytes);
        });
      });
    });
  });

  /** Writes `count` cells of a block as floats. */
  function spread(
    f: FunctionBuilder,
    { cache, cell, count, dim, to }: {
      cache: Local<"i32">;
      cell: Local<"i32">;
      count: Local<"i32">;
      dim: number;
      to: number;
    },
  ): void {
    const from = f.let(i32.add(cache, i32.mul(cell, dim * elementBytes)));
    const at = f.let(i32.const(0));
    f.forUpTo(at, i32.mul(count, 4 * dim), 16, () => {
      const values = half ? halvesToFloats(f, work.v128.load16x4_s(from)) : work.v128.load(from);
      f.do(panel.v128.store(at, values, to));
      f.increase(from, 4 * elementBytes);
    });
  }

  /** Two queries after the other; the last is its own second where their number is odd. */
  function forPairs(
    f: FunctionBuilder,
    queriesEnd: Local<"i32">,
    body: (pair: readonly Local<"i32">[]) => void,
  ): void {
    const query = f.let(i32.const(layout.queries));
    f.forUpTo(query, queriesEnd, 2 * layout.queryBytes, () => {
      const second = f.let(i32.add(query, layout.queryBytes));
      f.if(i32.ge_u(second, queriesEnd), () => f.set(second, query));
      body([query, second]);
    });
  }

  /** Writes the scores of a block's positions, four at a time; those from `count` on are none. */
  function scoreBlock(
    f: FunctionBuilder,
    queriesEnd: Local<"i32">,
    count: Local<"i32">,
  ): void {
    forPairs(f, queriesEnd, (pair) => {
      const at = f.let(i32.const(0));
      // A pointer for each: accesses at the same offset share the arithmetic of their check.
      const rows = [0, 1, 2, 3].map((i) => f.let(i32.const(layout.keys + 4 * headDim * i)));
      f.forUpTo(at, i32.mul(count, 4), 16, () => {
        const dots = pair.map(() => rows.map(() => f.let(ZERO)));
        for (let i = 0; i < headDim; i += 4) {
          const own = pair.map((query) => f.let(panel.v128.load(query, 4 * i)));
          rows.forEach((key, r) => {
            const k = f.let(panel.v128.load(key, 4 * i));
            dots.forEach((of, j) => f.set(of[r], madd(own[j], k, of[r])));
          });
        }
        dots.forEach(([a, b, c, d], j) => {
          const halves = [[a, b], [c, d]].map(([one, other]) =>
            f.let(f32x4.add(
              shuffleLanes(one, other, [0, 1, 4, 5]),
              shuffleLanes(one, other, [2, 3, 6, 7]),
            ))
          );
          const scores = f32x4.add(
            shuffleLanes(halves[0], halves[1], [0, 2, 4, 6]),
            shuffleLanes(halves[0], halves[1], [1, 3, 5, 7]),
          );
          f.do(panel.v128.store(i32.add(pair[j], at), scores, layout.scores));
        });
        for (const key of rows) f.increase(key, 16 * headDim);
      });
    });
  }

  /** Scores of positions before `from` and from `to` on, counted from the block's first, are none. */
  function maskScores(
    f: FunctionBuilder,
    { at, offset }: { at: Expression<"i32">; offset: number },
    from: Local<"i32">,
    to: Local<"i32">,
  ): void {
    const least = f.let(i32x4.splat(from));
    const after = f.let(i32x4.splat(to));
    for (let i = 0; i < BLOCK; i += 4) {
      const place = f.constant(new Uint8Array(Int32Array.of(i, i + 1, i + 2, i + 3).buffer));
      const isSeen = v128.andnot(i32x4.lt_s(place, after), i32x4.lt_s(place, least));
      const score = panel.v128.load(at, offset + 4 * i);
      const seen = v128.bitselect(score, lanes(f, Float32Array.of(LOWEST)), isSeen);
      f.do(panel.v128.store(at, seen, offset + 4 * i));
    }
  }

  /** Adds the weighted values of a block to the results. */
  function addValues(
    f: FunctionBuilder,
    queriesEnd: Local<"i32">,
    count: Local<"i32">,
  ): void {
    const vectors = valueDim / 4;
    forPairs(f, queriesEnd, (pair) => {
      const pass = (column: Expression<"i32">, width: number) => {
        const places = pair.map((query) => f.let(i32.add(query, column)));
        const quads = Array.from({ length: width }, (_, i) => i);
        const totals = places.map((place) =>
          quads.map((i) => f.let(panel.v128.load(place, layout.results + 16 * i)))
        );
        const value = f.let(column);
        const weights = pair.map((query) => f.let(query));
        const end = f.let(i32.add(pair[0], i32.mul(count, 4)));
        f.doWhile(() => {
          const own = weights.map((weight) =>
            f.let(panel.v128.load32_splat(weight, layout.scores))
          );
          for (const i of quads) {
            const v = f.let(panel.v128.load(value, layout.values + 16 * i));
            totals.forEach((of, j) => f.set(of[i], madd(own[j], v, of[i])));
          }
          f.increase(value, 4 * valueDim);
          for (const weight of weights) f.increase(weight, 4);
        }, i32.lt_u(weights[0], end));
        places.forEach((place, j) =>
          quads.forEach((i) => f.do(panel.v128.store(place, totals[j][i], layout.results + 16 * i)))
        );
      };
      const column = f.let(i32.const(0));
      const whole = 16 * (vectors - vectors % PASS);
      f.forUpTo(column, whole, 16 * PASS, () => pass(column, PASS));
      if (vectors % PASS > 0) pass(i32.const(whole), vectors % PASS);
    });
  }
}
