// Attention of prompts: one item is a tile of rows of one sequence and a key-value head. A block of
// keys and values is converted to floats in the thread's memory once for all rows and query heads
// of the tile (`writeKeys`, `writeValues`), and multiplied with them (tile_products.ts). Sums are made in the
// order of kernel.ts, so that a row has the same bits alone and in a tile; keys that a row does
// not attend to have weight zero.

import { BLOCK } from "../../ops/kv_cache.ts";
import { QUERY_TILE } from "../../ops/step_records.ts";
import { joinsVectors } from "../engine_features.ts";
import { addKernel, forItems } from "../kernel.ts";
import { clear, forColumns } from "../vectors.ts";
import {
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
import type { CachedMemories } from "./cache.ts";
import { CachedHeads, scaleBytes } from "./cached_heads.ts";
import type { AttentionShape } from "./kernel.ts";
import { SPAN } from "./parts_kernel.ts";
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
import {
  chainBytes,
  CHAINS,
  MOST_QUERIES_AT_ONCE,
  STEP,
  SUM_BYTES,
  type TileLayout,
  TileProducts,
} from "./tile_products.ts";

/** The arguments of the kernel: those of ATTENTION_ARGUMENTS, and the tiles of AttentionTiling. */
export const ATTENTION_TILE_ARGUMENTS = [
  ...["tiles", "spans", "q", "stride", "keys", "values", "kvHeads", "groups", "y"] as const,
  ...["yStride", "sinks", "softcap", "slopes"] as const,
] as const;

/**
 * Most rows of a tile; more if few query heads share a key. With more rows, keys and values are
 * converted to floats less often. With fewer, threads share the tiles more evenly, and fewer keys are
 * masked for a tile's first row. Queries are multiplied six at a time.
 */
const mostTileRows = (group: number) => ({ 1: 30, 2: 24, 4: 15 })[group] ?? 16;
/** Fewest rows of a tile; to have them, fewer query heads may be computed together. */
const LEAST_TILE_ROWS = 4;

/** The sizes on which the size of a tile depends. */
type TileShape = Pick<AttentionShape, "headDim" | "valueDim">;

/** The layout of the thread's memory: steps of keys and values, then the data of each query. */
function layoutOf({ headDim, valueDim }: TileShape): TileLayout & { scales: number } {
  const values = 4 * STEP * headDim;
  const sums = values + 4 * STEP * BLOCK;
  const scales = sums + SUM_BYTES;
  // For keys and then for values, whatever their types.
  const queries = scales + scaleBytes("q8_0", Math.max(headDim, valueDim));
  const columns = CHAINS * chainBytes(headDim) / 4;
  return { ...queryLayout(columns, wholeSteps(valueDim)), keys: 0, values, sums, scales, queries };
}

/** Columns rounded up to whole steps. */
const wholeSteps = (columns: number) => Math.ceil(columns / STEP) * STEP;

/** The rows of a tile, and the query heads of a key-value head that are computed together. */
export interface TileSize {
  readonly rows: number;
  readonly group: number;
}

/** The size of tiles if `share` query heads share a key, and a thread's memory has this size. */
export function attentionTileSize(shape: TileShape, share: number, bytes: number): TileSize {
  const layout = layoutOf(shape);
  // Queries are multiplied several at a time, the last of which may be past the end.
  const queries = Math.floor((bytes - layout.queries) / layout.bytes) - MOST_QUERIES_AT_ONCE + 1;
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
  const ofValues = sharedValues
    ? ofKeys
    : new CachedHeads(memories.values, panel, valueType, valueDim, layout.scales);
  const madd = (a: V128, b: V128, c: V128) =>
    hasMadd ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);
  const products = new TileProducts(panel, layout, madd);
  const width = wholeSteps(valueDim);
  // Sums of products are not needed meanwhile.
  const joined = joinsVectors()
    ? { scores: layout.sums, weights: layout.sums + 4 * BLOCK }
    : undefined;

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
          forColumns(f, headDim, CHAINS, (vectors, column) => {
            const from = f.let(i32.add(query, i32.mul(column, 4)));
            const to = f.let(i32.add(queriesEnd, i32.div_u(column, CHAINS / 4)));
            const zero = f.let(ZERO);
            const values = Array.from(
              { length: CHAINS },
              (_, i) => i < vectors ? f.let(f32x4.mul(work.v128.load(from, 16 * i), scale)) : zero,
            );
            for (let first = 0; first < CHAINS; first += 4) {
              const rows = values.filter((_, i) => i % 2 === first / 4);
              transpose(f, rows).forEach((chain, i) =>
                f.do(panel.v128.store(to, chain, layout.query + chainBytes(headDim) * (first + i)))
              );
            }
          });
          clearResults(f, panel, queriesEnd, layout, width);
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
      const afterLast = i32.add(queriesEnd, (MOST_QUERIES_AT_ONCE - 1) * layout.bytes);
      clear(f, panel, queriesEnd, f.let(afterLast));
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
        const keys = f.let(i32.add(given.keys, i32.mul(place, ofKeys.blockBytes)));
        ofKeys.prepare(f, keys);
        const first = f.let(i32.const(0));
        f.forUpTo(first, count, STEP, () => {
          writeKeys(f, ofKeys, keys, first, layout.keys);
          products.score(f, headDim, queriesEnd, f.let(i32.mul(first, 4)));
        });
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
            weighScores(f, panel, query, layout, madd, 1, joined);
            f.increase(query, layout.bytes);
          });
        });
        let values = keys;
        if (!sharedValues) {
          values = f.let(i32.add(given.values, i32.mul(place, ofValues.blockBytes)));
          ofValues.prepare(f, values);
        }
        const column = f.let(i32.const(0));
        f.forUpTo(column, width, STEP, () => {
          const range = { block: values, column, from: low, end: count, to: layout.values };
          writeValues(f, ofValues, valueDim, range);
          products.addValues(f, queriesEnd, f.let(i32.mul(column, 4)));
        });
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
}

const ZERO = v128.const(new Uint8Array(16));
const VECTORS = STEP / 4;

/** Writes STEP positions of a block's keys from a position on, as [columns, positions]. */
function writeKeys(
  f: FunctionBuilder,
  heads: CachedHeads,
  block: Local<"i32">,
  first: Local<"i32">,
  to: number,
): void {
  const { dim, cellBytes, panel } = heads;
  const cell = f.let(i32.add(block, i32.mul(first, cellBytes)));
  const at = f.let(i32.mul(first, 4));
  const target = f.local("i32");
  f.set(target, i32.const(0));
  f.forUpTo(target, 4 * STEP, 16, () => {
    const cells = [0, 1, 2, 3].map((i) => f.let(i32.add(cell, i * cellBytes)));
    forColumns(f, dim, 2, (vectors, column) => {
      const scales = heads.scaleAt(f, at, column);
      const bytes = f.let(heads.bytesAt(column));
      const rows = cells.map((cell, i) =>
        heads.loadFloats(f, f.let(i32.add(cell, bytes)), vectors, heads.scale(f, scales, 0, i))
      );
      const own = f.let(i32.add(target, i32.mul(column, 4 * STEP)));
      for (let i = 0; i < vectors; i++) {
        transpose(f, rows.map((row) => row[i]!)).forEach((lane, c) =>
          f.do(panel.v128.store(own, lane, to + 4 * STEP * (4 * i + c)))
        );
      }
    });
    f.increase(cell, 4 * cellBytes);
    f.increase(at, 16);
  });
}

/** Four vectors of four lanes, transposed. */
function transpose(f: FunctionBuilder, [a, b, c, d]: readonly Local<"v128">[]) {
  const [low, high] = [[0, 4, 1, 5], [2, 6, 3, 7]].map((order) => [
    f.let(shuffleLanes(a!, b!, order)),
    f.let(shuffleLanes(c!, d!, order)),
  ]);
  return [low!, high!].flatMap(([ab, cd]) => [
    shuffleLanes(ab!, cd!, [0, 1, 4, 5]),
    shuffleLanes(ab!, cd!, [2, 3, 6, 7]),
  ]);
}

/**
 * Writes STEP columns of a block's values from a column on, as [BLOCK, columns]: the positions from `from`
 * up to before `end`, and zeros for the others, which may be of another sequence. Columns from
 * `columns` on are zero, too.
 */
function writeValues(
  f: FunctionBuilder,
  heads: CachedHeads,
  columns: number,
  { block, column, from, end, to }: {
    block: Local<"i32">;
    column: Local<"i32">;
    from: Local<"i32">;
    end: Local<"i32">;
    to: number;
  },
): void {
  const { cellBytes, panel } = heads;
  const target = f.let(i32.const(0));
  const isWhole = i32.eq(i32.sub(end, from), BLOCK);
  f.if(i32.eqz(isWhole), () => {
    f.forUpTo(target, 4 * STEP * BLOCK, 16, () => f.do(panel.v128.store(target, ZERO, to)));
  });
  const write = (vectors: number) => {
    const at = f.let(i32.mul(from, 4));
    const first = i32.add(i32.mul(from, cellBytes), heads.bytesAt(column));
    const cell = f.let(i32.add(block, first));
    const scales = heads.scaleAt(f, at, column);
    f.set(target, i32.mul(from, 4 * STEP));
    f.forUpTo(target, i32.mul(end, 4 * STEP), 4 * STEP, () => {
      const loaded = heads.loadFloats(f, cell, vectors, heads.scale(f, scales));
      for (let i = 0; i < VECTORS; i++) {
        f.do(panel.v128.store(target, loaded[i] ?? ZERO, to + 16 * i));
      }
      f.increase(cell, cellBytes);
      heads.nextScale(f, scales);
    });
  };
  const rest = columns % STEP / 4;
  if (rest === 0) write(VECTORS);
  else f.if(i32.lt_u(column, columns - columns % STEP), () => write(VECTORS), () => write(rest));
}
