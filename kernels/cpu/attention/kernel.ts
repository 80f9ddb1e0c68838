// Attention over the paged KV cache in WebAssembly, for single rows. One item is a part of the
// positions that a row attends to (softmax.ts), a key-value head and a group of query heads, which
// share each key and value that is read. The host determines the positions and writes a span for
// each row. Rows of prompts are in tiles (tile_kernel.ts), with the same bits.

import {
  f32,
  f32x4,
  type FunctionBuilder,
  i16x8,
  i32,
  type Local,
  type ModuleBuilder,
  shuffleLanes,
  type V128,
  v128,
} from "../wasm/mod.ts";
import type { CachedMemories } from "./cache.ts";
import { CachedHeads, scaleBytes } from "./cached_heads.ts";
import { lanes, NO_NUMBER } from "../formats/scales.ts";
import { joinsVectors } from "../engine_features.ts";
import { addKernel, forItems } from "../kernel.ts";
import { BLOCK, CACHE_GROUP, type CacheType } from "../../ops/kv_cache.ts";
import { PARTIAL_EXTRA, SPAN } from "./parts_kernel.ts";
import {
  biasScores,
  capScores,
  clearResults,
  LOWEST,
  movedLayout,
  PART,
  queryLayout,
  weighScores,
} from "./softmax.ts";
import { clear, forColumns } from "../vectors.ts";

/** Heads that a kernel is made for. */
export interface AttentionShape {
  /** Query heads that are computed together: a divisor of the number that share a key-value head. */
  readonly group: number;
  readonly headDim: number;
  readonly valueDim: number;
  /** Whether a value is the beginning of its key. */
  readonly sharedValues: boolean;
  /** The types of keys and values in the cache. */
  readonly keyType: CacheType;
  readonly valueType: CacheType;
  /** Whether the machine multiplies and adds in one instruction. */
  readonly hasMadd: boolean;
}

/**
 * The arguments of attention, as words in memory. `groups`: groups of query heads of each key-value
 * head. `parts`: the most parts of a row; if it is more than one, each part's results go to `partials`:
 * [rows, heads, parts, valueDim and PARTIAL_EXTRA].
 */
export const ATTENTION_ARGUMENTS = [
  ...["spans", "q", "stride", "keys", "values", "kvHeads", "groups", "y", "yStride"] as const,
  ...["sinks", "softcap", "slopes", "parts", "partials"] as const,
] as const;

/** Most heads of a group. */
const MOST_GROUP = 8;

/** Columns of a head for which the loop is unrolled. */
const UNROLLED = 128;

/** Number of query heads that are computed together for single rows, of those that share a key-value head. */
export function rowGroup(share: number): number {
  for (let group = Math.min(MOST_GROUP, share);; group--) if (share % group === 0) return group;
}

/** Most vectors of sums at once: each of 12 registers of 256 bits is two. */
const MOST_SUMS = 24;

/** Bytes of a thread's own memory that a shape needs: the data of queries, scales, and sums. */
export function attentionPanelBytes(shape: AttentionShape): number {
  const { group, headDim, valueDim } = shape;
  return group * queryLayout(headDim, valueDim).bytes + scaleBytes(shape.keyType, headDim) +
    scaleBytes(shape.valueType, valueDim) + 16 * MOST_SUMS;
}

const ZERO = v128.const(new Uint8Array(16));

/**
 * The bits of halves are only shifted into the place of a float's, which gives floats that are 2^112 too
 * small: V8 joins shifts, but not its instruction for halves. So queries and weights are multiplied by
 * 2^56, which keeps products away from the smallest floats; results are then 2^56 too small.
 */
const HALF_SCALE = 2 ** 56;

/** Adds `attention(record, first, last)`: ((row * kvHeads + head) * groups + group) * parts + part. */
export function addAttention(
  module: ModuleBuilder,
  memories: CachedMemories,
  shape: AttentionShape,
): void {
  const { group, headDim, valueDim, sharedValues, keyType, valueType, hasMadd } = shape;
  const { work, panel } = memories;
  const layout = queryLayout(headDim, valueDim);
  const scales = group * layout.bytes;
  const ofKeys = new CachedHeads(memories.keys, panel, keyType, headDim, scales);
  const ofValues = sharedValues ? ofKeys : new CachedHeads(
    memories.values,
    panel,
    valueType,
    valueDim,
    scales + scaleBytes(keyType, headDim),
  );
  const [shiftedKeys, shiftedValues] = [ofKeys.isShifted, ofValues.isShifted];
  const heads = Array.from({ length: group }, (_, head) => head);
  const origin = i32.const(0);
  const sumsAt = scales + scaleBytes(keyType, headDim) + scaleBytes(valueType, valueDim);
  const [joinsKeys, joinsValues] = [ofKeys, ofValues].map(({ type }) =>
    joinsVectors() && type !== "f32"
  );
  /**
   * Keys, and vectors of a value, that are read at once: as many as the registers of x86 have sums for. A
   * key has two vectors of sums for each head, which are one register where V8 joins.
   */
  const registers = joinsKeys ? 1 : 2;
  const keysAtOnce = Math.min(
    group * registers <= 3 ? 4 : group * registers <= 6 ? 2 : 1,
    ofKeys.isCoded ? 2 : 4,
  );
  const quadsAtOnce = group <= 1 ? 8 : group <= 3 ? 4 : group <= 6 ? 2 : 1;
  const valuesAtOnce = joinsValues
    ? 2 * quadsAtOnce
    : Math.max(quadsAtOnce, ofValues.type === "q4_0" ? 2 : 1); // a load gives eight codes

  const madd = (a: V128, b: V128, c: V128) =>
    hasMadd ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);
  /** Makes vectors NaN if a half that was read is infinite or NaN. */
  const markFaults = (
    f: FunctionBuilder,
    heads: CachedHeads,
    most: Local<"v128">,
    vectors: readonly Local<"v128">[],
  ) => {
    if (!heads.isShifted) return;
    const isFault = i16x8.eq(most, lanes(f, Uint32Array.of(NO_NUMBER | NO_NUMBER << 16)));
    f.if(v128.any_true(isFault), () => {
      for (const vector of vectors) f.set(vector, lanes(f, Float32Array.of(NaN)));
    });
  };

  const kernel = { name: "attention", takes: ATTENTION_ARGUMENTS };
  addKernel(module, work, kernel, (f, given, first, last) =>
    forItems(f, first, last, (item) => {
      const { kvHeads, groups, keys, values, parts, partials } = given;
      const part = f.let(i32.rem_u(item, parts));
      const place = f.let(i32.div_u(item, parts));
      const groupOfRow = f.let(i32.rem_u(place, i32.mul(kvHeads, groups)));
      const kv = f.let(i32.div_u(groupOfRow, groups));
      const head = f.let(i32.mul(groupOfRow, group));
      const row = f.let(i32.div_u(place, i32.mul(kvHeads, groups)));
      const span = f.let(i32.add(given.spans, i32.mul(row, SPAN.bytes)));
      const begin = f.let(work.i32.load(span, SPAN.byte.begin));
      const end = f.let(work.i32.load(span, SPAN.byte.end));
      const table = f.let(work.i32.load(span, SPAN.byte.table));
      const scale = f.let(work.v128.load32_splat(span, SPAN.byte.scale));
      if (shiftedKeys) f.set(scale, f32x4.mul(scale, lanes(f, Float32Array.of(HALF_SCALE))));
      const position = f.let(begin);
      f.if(part, () => {
        f.set(position, i32.mul(i32.add(i32.div_u(begin, PART), part), PART));
      });
      const after = f.let(i32.mul(i32.add(i32.div_u(position, PART), 1), PART));
      f.if(i32.lt_u(after, end), () => f.set(end, after));
      // Items past the last part of the row have no work; the first part exists even if it is empty.
      f.if(i32.or(i32.eqz(part), i32.lt_u(position, end)), () => {
        prepareQueries();
        f.while(i32.lt_u(position, end), block);
        finish();
      });

      function prepareQueries(): void {
        const query = f.let(
          i32.add(i32.add(given.q, i32.mul(row, given.stride)), i32.mul(head, 4 * headDim)),
        );
        for (const h of heads) {
          const at = h * layout.bytes;
          forColumns(f, headDim, 4, (vectors, column) => {
            const from = f.let(i32.add(query, i32.mul(column, 4)));
            const to = i32.mul(column, 4);
            for (let i = 0; i < 4 * vectors; i += 4) {
              const value = f32x4.mul(work.v128.load(from, 4 * (h * headDim + i)), scale);
              f.do(panel.v128.store(to, value, at + layout.query + 4 * i));
            }
          });
          clearResults(f, panel.behind(at), origin, layout, valueDim);
        }
        f.if(i32.and(i32.ne(given.sinks, 0), i32.eqz(part)), () => {
          for (const h of heads) {
            const sink = work.f32.load(i32.add(given.sinks, i32.mul(head, 4)), 4 * h);
            f.do(panel.f32.store(origin, sink, h * layout.bytes + layout.maximum));
            f.do(panel.f32.store(origin, f32.const(1), h * layout.bytes + layout.sum));
          }
        });
      }

      function block(): void {
        const offset = f.let(i32.rem_u(position, BLOCK));
        const count = f.let(i32.sub(BLOCK, offset));
        f.if(
          i32.lt_u(i32.sub(end, position), count),
          () => f.set(count, i32.sub(end, position)),
        );
        const number = i32.div_u(position, BLOCK);
        const listed = f.let(work.i32.load(i32.add(table, i32.mul(number, 4))));
        const place = f.let(i32.add(i32.mul(listed, kvHeads), kv));
        const keyBlock = f.let(i32.add(keys, i32.mul(place, ofKeys.blockBytes)));
        ofKeys.prepare(f, keyBlock);
        const valueBlock = sharedValues
          ? keyBlock
          : f.let(i32.add(values, i32.mul(place, ofValues.blockBytes)));
        if (!sharedValues) ofValues.prepare(f, valueBlock);
        const from = f.let(i32.mul(offset, 4));
        const to = f.let(i32.add(from, i32.mul(count, 4)));
        f.if(i32.lt_u(count, BLOCK), () => {
          for (const h of heads) {
            for (let i = 0; i < BLOCK; i += 4) {
              const at = h * layout.bytes + layout.scores + 4 * i;
              f.do(panel.v128.store(origin, lanes(f, Float32Array.of(LOWEST)), at));
            }
          }
        });
        scoreKeys(f, f.let(i32.add(keyBlock, i32.mul(offset, ofKeys.cellBytes))), from, to);
        const distance = f.let(
          i32.sub(work.i32.load(span, SPAN.byte.position), i32.sub(position, offset)),
        );
        f.if(i32.or(given.softcap, given.slopes), () => changeScores(distance));
        for (const h of heads) {
          const own = movedLayout(layout, h * layout.bytes);
          weighScores(f, panel, origin, own, madd, shiftedValues ? HALF_SCALE : 1);
        }
        addValues(f, f.let(i32.add(valueBlock, i32.mul(offset, ofValues.cellBytes))), from, to);
        f.increase(position, count);
      }

      function changeScores(distance: Local<"i32">): void {
        const query = f.let(i32.const(0));
        const slope = f.let(i32.add(given.slopes, i32.mul(head, 4)));
        f.forUpTo(query, group * layout.bytes, layout.bytes, () => {
          const scores = { at: query, offset: layout.scores };
          f.if(given.softcap, () => capScores(f, panel, scores, given.softcap));
          f.if(given.slopes, () => {
            biasScores(f, panel, scores, work.v128.load32_splat(slope), distance);
            f.increase(slope, 4);
          });
        });
      }

      function finish(): void {
        const unit = lanes(f, Float32Array.of(shiftedValues ? HALF_SCALE : 1));
        f.if(i32.eq(parts, 1), () => {
          const out = f.let(
            i32.add(i32.add(given.y, i32.mul(row, given.yStride)), i32.mul(head, 4 * valueDim)),
          );
          for (const h of heads) {
            const sum = f.let(panel.v128.load32_splat(origin, h * layout.bytes + layout.sum));
            for (let i = 0; i < valueDim; i += 4) {
              const at = h * layout.bytes + layout.results + 4 * i;
              const result = f32x4.div(f32x4.mul(panel.v128.load(origin, at), unit), sum);
              f.do(work.v128.store(out, result, 4 * (h * valueDim + i)));
            }
          }
          f.if(i32.eq(i32.add(head, group), i32.mul(kvHeads, i32.mul(groups, group))), () => {
            const padding = i32.add(out, 4 * group * valueDim);
            const next = i32.mul(i32.add(row, 1), given.yStride);
            clear(f, work, padding, f.let(i32.add(given.y, next)));
          });
        }, () => {
          const partial = 4 * (valueDim + PARTIAL_EXTRA);
          const list = i32.add(i32.mul(row, i32.mul(kvHeads, i32.mul(groups, group))), head);
          for (const h of heads) {
            const number = i32.add(i32.mul(i32.add(list, h), parts), part);
            const to = f.let(i32.add(partials, i32.mul(number, partial)));
            const at = h * layout.bytes;
            for (let i = 0; i < valueDim; i += 4) {
              const result = panel.v128.load(origin, at + layout.results + 4 * i);
              f.do(work.v128.store(to, f32x4.mul(result, unit), 4 * i));
            }
            const maximum = panel.f32.load(origin, at + layout.maximum);
            f.do(work.f32.store(to, maximum, 4 * valueDim));
            const sum = panel.f32.load(origin, at + layout.sum);
            f.do(work.f32.store(to, sum, 4 * valueDim + 4));
          }
        });
      }
    }));

  /** Writes the scores of keys, from byte `from` of the scores up to byte `to`. */
  function scoreKeys(
    f: FunctionBuilder,
    first: Local<"i32">,
    from: Local<"i32">,
    to: Local<"i32">,
  ): void {
    const at = f.let(from);
    const keyBytes = ofKeys.cellBytes;
    const rows = Array.from({ length: keysAtOnce }, (_, i) => f.let(i32.add(first, keyBytes * i)));
    const scores = (count: number) => {
      const own = rows.slice(0, count);
      // Of columns 0 to 3 of every eight, and of 4 to 7.
      const dots = heads.map(() => own.map(() => [f.let(ZERO), f.let(ZERO)]));
      const most = f.let(ZERO);
      forColumns(f, headDim, UNROLLED / 4, (vectors, column) => {
        const isWhole = headDim <= UNROLLED;
        const shifted = own.map((key) =>
          isWhole ? key : f.let(i32.add(key, ofKeys.bytesAt(column)))
        );
        const query = isWhole ? origin : f.let(i32.mul(column, 4));
        const places = ofKeys.scaleAt(f, at, isWhole ? undefined : column);
        let scales = own.map(() => undefined as Local<"v128"> | undefined);
        for (let i = 0; i < vectors;) {
          if (4 * i % CACHE_GROUP === 0) {
            scales = own.map((_, j) => ofKeys.scale(f, places, 4 * i / CACHE_GROUP, j));
          }
          const isPair = i + 1 < vectors;
          const cached = shifted.map((key, j) => {
            const load = isPair
              ? ofKeys.loadPair(f, key, 4 * i, scales[j], most)
              : [ofKeys.load(f, key, 4 * i, scales[j], most)];
            return load.map((vector) => f.let(vector));
          });
          for (let part = 0; part < cached[0]!.length; part++, i++) {
            for (const h of heads) {
              const own = f.let(panel.v128.load(query, h * layout.bytes + layout.query + 16 * i));
              cached.forEach((k, j) => {
                const dot = dots[h]![j]![part]!;
                f.set(dot, madd(own, k[part]!, dot));
              });
            }
          }
        }
      });
      const halves = joinsKeys ? kept(f, dots.flat(2)) : dots.flat(2);
      const sums = Array.from(
        { length: group * count },
        (_, i) => f.let(f32x4.add(halves[2 * i]!, halves[2 * i + 1]!)),
      );
      markFaults(f, ofKeys, most, sums);
      for (const h of heads) storeSums(f, at, h, sums.slice(count * h, count * (h + 1)));
    };
    if (keysAtOnce > 1) {
      const whole = f.let(
        i32.add(from, i32.and(i32.sub(to, from), -4 * keysAtOnce)),
      );
      f.forUpTo(at, whole, 4 * keysAtOnce, () => {
        scores(keysAtOnce);
        for (const key of rows) f.increase(key, keysAtOnce * keyBytes);
      });
    }
    f.forUpTo(at, to, 4, () => {
      scores(1);
      f.increase(rows[0], keyBytes);
    });
  }

  /** Sums that were stored at constant addresses, which is where V8 begins to join. */
  function kept(f: FunctionBuilder, sums: readonly V128[]): Local<"v128">[] {
    f.do(...sums.map((sum, i) => panel.v128.store(origin, sum, sumsAt + 16 * i)));
    return sums.map((_, i) => f.let(panel.v128.load(origin, sumsAt + 16 * i)));
  }

  /** Stores the sum of the lanes times the factor that halves lack: (lane 0 + lane 2) + (lane 1 + lane 3). */
  function storeSums(
    f: FunctionBuilder,
    at: Local<"i32">,
    head: number,
    dots: readonly Local<"v128">[],
  ): void {
    const offset = head * layout.bytes + layout.scores;
    const unit = lanes(f, Float32Array.of(shiftedKeys ? HALF_SCALE : 1));
    const pairs = (a: Local<"v128">, b: Local<"v128">) =>
      f.let(f32x4.add(shuffleLanes(a, b, [0, 1, 4, 5]), shuffleLanes(a, b, [2, 3, 6, 7])));
    const [a, b = a, c = a, d = b] = dots;
    const halves = dots.length > 2 ? [pairs(a, b), pairs(c, d)] : [pairs(a, b), pairs(a, b)];
    const sums = f.let(f32x4.mul(
      unit,
      f32x4.add(
        shuffleLanes(halves[0], halves[1], [0, 2, 4, 6]),
        shuffleLanes(halves[0], halves[1], [1, 3, 5, 7]),
      ),
    ));
    if (dots.length === 4) f.do(panel.v128.store(at, sums, offset));
    else if (dots.length === 2) f.do(panel.v128.store64_lane(at, sums, 0, offset));
    else f.do(panel.f32.store(at, f32x4.extract_lane(sums, 0), offset));
  }

  /** Adds the weighted values of a block to the corrected results, some columns at a time. */
  function addValues(
    f: FunctionBuilder,
    value: Local<"i32">,
    from: Local<"i32">,
    to: Local<"i32">,
  ): void {
    const at = f.local("i32");
    const valueBytes = ofValues.cellBytes;
    const sources = Array.from({ length: 4 }, () => f.local("i32"));
    const whole = f.let(i32.add(from, i32.and(i32.sub(to, from), -16)));
    forColumns(f, valueDim, valuesAtOnce, (vectors, column) => {
      const place = f.let(i32.mul(column, 4));
      const quads = Array.from({ length: vectors }, (_, i) => i);
      const resultsOf = (h: number, i: number) => h * layout.bytes + layout.results + 16 * i;
      const totals = heads.map(() => quads.map(() => f.let(ZERO)));
      const most = f.let(ZERO);
      sources.forEach((source, i) =>
        f.set(source, i32.add(i32.add(value, ofValues.bytesAt(column)), valueBytes * i))
      );
      f.set(at, from);
      const scales = ofValues.scaleAt(f, at, column);
      const add = (positions: number, weight: (head: number, position: number) => V128) => {
        for (let i = 0; i < positions; i++) {
          const scale = ofValues.scale(f, scales, 0, i);
          const cached = ofValues.loadAll(f, sources[i]!, vectors, scale, most);
          for (const h of heads) {
            const own = f.let(weight(h, i));
            cached.forEach((v, j) => f.set(totals[h]![j]!, madd(own, v, totals[h]![j]!)));
          }
        }
        for (let i = 0; i < positions; i++) ofValues.nextScale(f, scales);
        for (const source of sources) f.increase(source, valueBytes * positions);
      };
      // One load of four weights has one bounds check.
      f.forUpTo(at, whole, 16, () => {
        const weights = heads.map((h) =>
          f.let(panel.v128.load(at, h * layout.bytes + layout.scores))
        );
        add(4, (h, i) => shuffleLanes(weights[h]!, weights[h]!, new Array(4).fill(i)));
      });
      f.forUpTo(
        at,
        to,
        4,
        () => add(1, (h) => panel.v128.load32_splat(at, h * layout.bytes + layout.scores)),
      );
      const all = joinsValues ? kept(f, totals.flat()) : totals.flat();
      markFaults(f, ofValues, most, all);
      for (const h of heads) {
        const correction = f.let(
          panel.v128.load32_splat(origin, h * layout.bytes + layout.correction),
        );
        for (const i of quads) {
          const own = all[vectors * h + i]!;
          const result = madd(panel.v128.load(place, resultsOf(h, i)), correction, own);
          f.do(panel.v128.store(place, result, resultsOf(h, i)));
        }
      }
    });
  }
}
