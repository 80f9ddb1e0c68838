// Attention of prompts: one item is a tile of rows of one sequence and a key-value head. A block of
// keys and values is converted to floats in the thread's memory once for all rows and query heads
// of the tile. Sums are made in the order of attention.ts, so that a row has the same bits alone
// and in a tile; keys that a row does not attend to have weight zero.

import {
  type Expression,
  f32,
  f32x4,
  type FunctionBuilder,
  i32,
  type Local,
  type ModuleBuilder,
  shuffleLanes,
  type V128,
  v128,
} from "../wasm/mod.ts";
import type { AttentionShape } from "./attention.ts";
import { SPAN } from "./attention_parts.ts";
import type { CachedMemories } from "./cache.ts";
import { CachedHeads, scaleBytes } from "./cached_heads.ts";
import { halvesToFloats, loadFourHalves } from "../formats/scales.ts";
import { addKernel, forItems } from "../kernel.ts";
import { BLOCK, CACHE_GROUP } from "../../ops/kv_cache.ts";
import { QUERY_TILE } from "../../ops/step_records.ts";
import {
  addPart,
  biasScores,
  capScores,
  clearResults,
  maskScores,
  PART,
  queryLayout,
  weighScores,
} from "./softmax.ts";
import { clear, forColumns } from "../vectors.ts";

/** The arguments of the kernel: those of ATTENTION_ARGUMENTS, and the tiles of AttentionTiling. */
export const ATTENTION_TILE_ARGUMENTS = [
  ...["tiles", "spans", "q", "stride", "keys", "values", "kvHeads", "groups", "y"] as const,
  ...["yStride", "sinks", "softcap", "slopes"] as const,
] as const;

const ZERO = v128.const(new Uint8Array(16));
/** Vectors of results that one pass over the values of a block computes, for two queries. */
const PASS = 4;

/** Vectors of a head for which the loop is unrolled. */
const UNROLLED = 32;

/**
 * Most rows of a tile; more if few query heads share a key. With more rows, keys and values are
 * converted to floats less often. With fewer, threads share the tiles more evenly, and fewer keys are
 * masked for a tile's first row.
 */
const mostTileRows = (group: number) => group === 1 ? 32 : group === 2 ? 24 : 16;
/** Fewest rows of a tile; to have them, fewer query heads may be computed together. */
const LEAST_TILE_ROWS = 4;

/** The sizes on which the size of a tile depends. */
type TileShape = Pick<AttentionShape, "headDim" | "valueDim" | "sharedValues">;

/** Bytes for the scales of a block's keys and values, whatever their types. */
const spaceOfScales = ({ headDim, valueDim }: TileShape) =>
  scaleBytes("q8_0", headDim) + scaleBytes("q8_0", valueDim);

/** The layout of the thread's memory: keys, values, then the data of each query. */
function layoutOf(shape: TileShape) {
  const { headDim, valueDim, sharedValues } = shape;
  const values = sharedValues ? 0 : 4 * BLOCK * headDim;
  const scales = 4 * BLOCK * (headDim + (sharedValues ? 0 : valueDim));
  const queries = scales + spaceOfScales(shape);
  return { ...queryLayout(headDim, valueDim), keys: 0, values, scales, queries };
}

/** The rows of a tile, and the query heads of a key-value head that are computed together. */
export interface TileSize {
  readonly rows: number;
  readonly group: number;
}

/** The size of tiles if `share` query heads share a key, and a thread's memory has this size. */
export function attentionTileSize(shape: TileShape, share: number, bytes: number): TileSize {
  const layout = layoutOf(shape);
  const queries = Math.floor((bytes - layout.queries) / layout.bytes);
  for (let group = share;; group--) {
    const rows = Math.min(mostTileRows(group), Math.floor(queries / group));
    if (share % group === 0 && (rows >= LEAST_TILE_ROWS || group === 1)) return { rows, group };
  }
}

/** Adds `attention_tile(record, first, last)`: (tile * kvHeads + head) * groups + group. */
export function addAttentionTile(
  module: ModuleBuilder,
  memories: CachedMemories,
  shape: AttentionShape,
): void {
  const { work, panel } = memories;
  const { group, headDim, valueDim, sharedValues, keyType, valueType, hasMadd } = shape;
  const layout = layoutOf(shape);
  const ofKeys = new CachedHeads(memories.keys, panel, keyType, headDim, layout.scales);
  const ofValues = new CachedHeads(memories.values, panel, valueType, valueDim, layout.scales);
  const valueStride = 4 * (sharedValues ? headDim : valueDim);
  const madd = (a: V128, b: V128, c: V128) =>
    hasMadd ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);

  const kernel = { name: "attention_tile", takes: ATTENTION_TILE_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) =>
    forItems(f, first, last, (item) => {
      const { kvHeads, groups } = given;
      const groupsOfTile = f.let(i32.mul(kvHeads, groups));
      const tile = f.let(
        i32.add(given.tiles, i32.mul(i32.div_u(item, groupsOfTile), QUERY_TILE.bytes)),
      );
      const groupOfTile = f.let(i32.rem_u(item, groupsOfTile));
      const kv = f.let(i32.div_u(groupOfTile, groups));
      const firstHead = f.let(i32.mul(groupOfTile, group));
      const firstRow = f.let(work.i32.load(tile, QUERY_TILE.byte.firstRow));
      const afterRow = f.let(i32.add(firstRow, work.i32.load(tile, QUERY_TILE.byte.rows)));
      const begin = f.let(i32.const(0x7fffffff));
      const end = f.let(i32.const(0));
      const queriesEnd = f.let(i32.const(layout.queries));
      const row = f.local("i32");
      const head = f.local("i32");
      const forRows = (body: (span: Local<"i32">) => void) => {
        f.set(row, firstRow);
        f.forUpTo(
          row,
          afterRow,
          1,
          () => body(f.let(i32.add(given.spans, i32.mul(row, SPAN.bytes)))),
        );
      };
      const forHeads = (body: () => void) => {
        f.set(head, firstHead);
        f.forUpTo(head, i32.add(firstHead, group), 1, body);
      };
      const table = f.local("i32");
      forRows((span) => {
        const from = f.let(work.i32.load(span, SPAN.byte.begin));
        const to = f.let(work.i32.load(span, SPAN.byte.end));
        f.if(i32.lt_u(from, begin), () => f.set(begin, from));
        f.if(i32.gt_u(to, end), () => f.set(end, to));
        f.set(table, work.i32.load(span, SPAN.byte.table));
        const scale = f.let(work.v128.load32_splat(span, SPAN.byte.scale));
        const query = f.let(
          i32.add(i32.add(given.q, i32.mul(row, given.stride)), i32.mul(firstHead, 4 * headDim)),
        );
        forHeads(() => {
          forColumns(f, headDim, 8, (vectors, column) => {
            const from = f.let(i32.add(query, i32.mul(column, 4)));
            const to = f.let(i32.add(queriesEnd, i32.mul(column, 4)));
            for (let i = 0; i < 4 * vectors; i += 4) {
              const value = f32x4.mul(work.v128.load(from, 4 * i), scale);
              f.do(panel.v128.store(to, value, layout.query + 4 * i));
            }
          });
          clearResults(f, panel, queriesEnd, layout, valueDim);
          clearResults(f, panel, queriesEnd, layout.earlier, valueDim);
          f.if(given.sinks, () => {
            const sink = work.f32.load(i32.add(given.sinks, i32.mul(head, 4)));
            f.do(panel.f32.store(queriesEnd, sink, layout.maximum));
            f.do(panel.f32.store(queriesEnd, f32.const(1), layout.sum));
          });
          f.increase(query, 4 * headDim);
          f.increase(queriesEnd, layout.bytes);
        });
      });
      const addOwnPart = (query: Local<"i32">) => {
        const of = { memory: panel, at: query };
        addPart(f, { ...of, ...layout.earlier }, { ...of, ...layout }, valueDim);
      };
      const position = f.let(i32.and(begin, -BLOCK));
      const low = f.let(i32.sub(begin, position));
      f.while(i32.lt_u(position, end), () => {
        f.if(i32.eqz(i32.rem_u(position, PART)), () => {
          const query = f.let(i32.const(layout.queries));
          forRows((span) => {
            const hasBegun = f.let(i32.lt_u(work.i32.load(span, SPAN.byte.begin), position));
            forHeads(() => {
              f.if(hasBegun, () => {
                addOwnPart(query);
                clearResults(f, panel, query, layout, valueDim);
              });
              f.increase(query, layout.bytes);
            });
          });
        });
        const count = f.let(i32.const(BLOCK));
        f.if(
          i32.lt_u(i32.sub(end, position), BLOCK),
          () => f.set(count, i32.sub(end, position)),
        );
        const number = i32.div_u(position, BLOCK);
        const block = work.i32.load(i32.add(table, i32.mul(number, 4)));
        const place = f.let(i32.add(i32.mul(block, kvHeads), kv));
        spread(f, ofKeys, { cached: given.keys, place, count, to: layout.keys });
        if (!sharedValues) {
          spread(f, ofValues, { cached: given.values, place, count, to: layout.values });
        }
        scoreBlock(f, queriesEnd, count);
        const query = f.let(i32.const(layout.queries));
        forRows((span) => {
          const from = f.let(i32.sub(work.i32.load(span, SPAN.byte.begin), position));
          const to = f.let(i32.sub(work.i32.load(span, SPAN.byte.end), position));
          const sees = i32.and(i32.lt_s(from, 1), i32.ge_s(to, BLOCK));
          const isPartial = f.let(i32.eqz(sees));
          const distance = f.let(i32.sub(work.i32.load(span, SPAN.byte.position), position));
          forHeads(() => {
            const scores = { at: query, offset: layout.scores };
            f.if(isPartial, () => maskScores(f, panel, scores, from, to));
            f.if(given.softcap, () => capScores(f, panel, scores, given.softcap));
            f.if(given.slopes, () => {
              const slope = work.v128.load32_splat(i32.add(given.slopes, i32.mul(head, 4)));
              biasScores(f, panel, scores, slope, distance);
            });
            weighScores(f, panel, query, layout, valueDim);
            f.increase(query, layout.bytes);
          });
        });
        addValues(f, queriesEnd, low, count);
        f.set(low, i32.const(0));
        f.increase(position, BLOCK);
      });
      const query = f.let(i32.const(layout.queries));
      forRows(() => {
        const out = f.let(
          i32.add(i32.add(given.y, i32.mul(row, given.yStride)), i32.mul(firstHead, 4 * valueDim)),
        );
        forHeads(() => {
          addOwnPart(query);
          const sum = f.let(panel.v128.load32_splat(query, layout.earlier.sum));
          for (let i = 0; i < valueDim; i += 4) {
            const result = panel.v128.load(query, layout.earlier.results + 4 * i);
            f.do(work.v128.store(out, f32x4.div(result, sum), 4 * i));
          }
          f.increase(out, 4 * valueDim);
          f.increase(query, layout.bytes);
        });
        f.if(i32.eq(i32.add(groupOfTile, 1), groupsOfTile), () => {
          const next = i32.mul(i32.add(row, 1), given.yStride);
          clear(f, work, out, f.let(i32.add(given.y, next)));
        });
      });
    }));

  /** Writes the first `count` positions of a head's block as floats. */
  function spread(
    f: FunctionBuilder,
    heads: CachedHeads,
    { cached, place, count, to }: {
      cached: Local<"i32">;
      place: Local<"i32">;
      count: Local<"i32">;
      to: number;
    },
  ): void {
    const { memory, dim } = heads;
    const from = f.let(i32.add(cached, i32.mul(place, heads.blockBytes)));
    if (heads.isCoded) return spreadCodes(f, heads, { block: from, count, to });
    const at = f.let(i32.const(0));
    f.forUpTo(at, i32.mul(count, 4 * dim), 16, () => {
      const values = heads.isHalf
        ? halvesToFloats(f, loadFourHalves(memory, from))
        : memory.v128.load(from);
      f.do(panel.v128.store(at, values, to));
      f.increase(from, heads.isHalf ? 8 : 16);
    });
  }

  /** The same for quantized types, whose scales are converted to floats first. */
  function spreadCodes(
    f: FunctionBuilder,
    heads: CachedHeads,
    { block, count, to }: { block: Local<"i32">; count: Local<"i32">; to: number },
  ): void {
    heads.prepare(f, block);
    const none = f.let(ZERO);
    const at = f.let(i32.const(0));
    const target = f.let(i32.const(0));
    const from = f.let(block);
    f.forUpTo(at, i32.mul(count, 4), 4, () => {
      forColumns(f, heads.dim, CACHE_GROUP / 4, (vectors, column) => {
        const scale = heads.scale(f, heads.scaleAt(f, at, column));
        const codes = f.let(i32.add(from, heads.bytesAt(column)));
        const own = f.let(i32.add(target, i32.mul(column, 4)));
        heads.loadAll(f, codes, vectors, scale, none).forEach((vector, i) =>
          f.do(panel.v128.store(own, vector, to + 16 * i))
        );
      });
      f.increase(from, heads.cellBytes);
      f.increase(target, 4 * heads.dim);
    });
  }

  /** Runs `body` for queries in pairs; if their number is odd, the last one is both of its pair. */
  function forPairs(
    f: FunctionBuilder,
    queriesEnd: Local<"i32">,
    body: (pair: readonly Local<"i32">[]) => void,
  ): void {
    const query = f.let(i32.const(layout.queries));
    f.forUpTo(query, queriesEnd, 2 * layout.bytes, () => {
      const second = f.let(i32.add(query, layout.bytes));
      f.if(i32.ge_u(second, queriesEnd), () => f.set(second, query));
      body([query, second]);
    });
  }

  /** Writes the scores of a block's positions, four at a time; from `count` on they mean nothing. */
  function scoreBlock(
    f: FunctionBuilder,
    queriesEnd: Local<"i32">,
    count: Local<"i32">,
  ): void {
    forPairs(f, queriesEnd, (pair) => {
      const at = f.let(i32.const(0));
      // A pointer for each: accesses with the same offset share the arithmetic of their bounds checks.
      const rows = [0, 1, 2, 3].map((i) => f.let(i32.const(layout.keys + 4 * headDim * i)));
      f.forUpTo(at, i32.mul(count, 4), 16, () => {
        const dots = pair.map(() => rows.map(() => f.let(ZERO)));
        forColumns(f, headDim, UNROLLED, (vectors, column) => {
          const shifted = (place: Local<"i32">) =>
            headDim <= 4 * UNROLLED ? place : f.let(i32.add(place, i32.mul(column, 4)));
          const [queries, keys] = [pair, rows].map((places) => places.map(shifted));
          for (let i = 0; i < 4 * vectors; i += 4) {
            const own = queries.map((query) => f.let(panel.v128.load(query, 4 * i)));
            keys.forEach((key, r) => {
              const k = f.let(panel.v128.load(key, 4 * i));
              dots.forEach((of, j) => f.set(of[r], madd(own[j], k, of[r])));
            });
          }
        });
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

  /** Adds the weighted values of a block, from one of its positions up to another, to the results. */
  function addValues(
    f: FunctionBuilder,
    queriesEnd: Local<"i32">,
    from: Local<"i32">,
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
        const value = f.let(i32.add(column, i32.mul(from, valueStride)));
        const weights = pair.map((query) => f.let(i32.add(query, i32.mul(from, 4))));
        const end = f.let(i32.add(pair[0], i32.mul(count, 4)));
        f.doWhile(() => {
          const own = weights.map((weight) =>
            f.let(panel.v128.load32_splat(weight, layout.scores))
          );
          for (const i of quads) {
            const v = f.let(panel.v128.load(value, layout.values + 16 * i));
            totals.forEach((of, j) => f.set(of[i], madd(own[j], v, of[i])));
          }
          f.increase(value, valueStride);
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
