// Attention over the paged KV cache in WebAssembly: one item is a row and a key-value head, whose query
// heads share each key and value that is read. Online softmax, a block of the cache at a time (Milakov
// and Gimelshein 2018). Which positions a row sees is the host's business: it writes a span for each.
// Rows of prompts go in tiles (attention_tile.ts), with the same bits.

import {
  type Expression,
  f32,
  f32x4,
  type FunctionBuilder,
  i32,
  type Local,
  type Memory,
  type ModuleBuilder,
  shuffleLanes,
  type V128,
  v128,
} from "./wasm/mod.ts";
import { exponential } from "./elementwise.ts";
import { halvesToFloats, lanes } from "./formats/scales.ts";
import { BLOCK } from "../ops/kv_cache.ts";

/** Heads that a kernel is made for. */
export interface AttentionShape {
  /** Query heads of a key-value head. */
  readonly share: number;
  readonly headDim: number;
  readonly valueDim: number;
  /** Whether the cache has f16. */
  readonly half: boolean;
  /** Whether the machine multiplies and adds in one instruction. */
  readonly hasMadd: boolean;
}

/** What attention reads, as words in memory; addresses of spans, queries, caches, results and sinks. */
export const ATTENTION_ARGUMENTS = [
  ...["spans", "q", "stride", "keys", "values", "kvHeads", "y", "yStride", "sinks", "softcap"],
] as const;

/** Words of a row's span: first position, one past the last, its row of the block table, its scale. */
export const SPAN_WORDS = 4;

/** Bytes of a thread's own memory that a shape needs. */
export function attentionPanelBytes({ share, headDim, valueDim }: AttentionShape): number {
  return 4 * share * (headDim + valueDim + BLOCK + 2);
}

const ZERO = v128.const(new Uint8Array(16));
/** What is no logit: its exponential is zero. */
export const LOWEST = -3e38;

/** Adds `attention(record, first, last)` for items `first` to `last`: row * kvHeads + head. */
export function addAttention(
  module: ModuleBuilder,
  work: Memory,
  panel: Memory,
  shape: AttentionShape,
): void {
  const { share, headDim, valueDim, half, hasMadd } = shape;
  // The thread's memory: queries, results, weights of a block, and each head's maximum and sum.
  const results = 4 * share * headDim;
  const weights = results + 4 * share * valueDim;
  const maxima = weights + 4 * share * BLOCK;
  const sums = maxima + 4 * share;
  const elementBytes = half ? 2 : 4;
  const heads = Array.from({ length: share }, (_, head) => head);
  const origin = i32.const(0);

  const madd = (a: V128, b: V128, c: V128) =>
    hasMadd ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);
  const loadCached = (f: FunctionBuilder, at: Local<"i32">, element: number): V128 =>
    half
      ? halvesToFloats(f, work.v128.load16x4_s(at, 2 * element))
      : work.v128.load(at, 4 * element);

  const parameters = { record: "i32", first: "i32", last: "i32" } as const;
  module.function("attention", parameters, (f, { record, first, last }) => {
    const [spans, q, stride, keys, values, kvHeads, y, yStride, sinks, softcapBits] =
      ATTENTION_ARGUMENTS.map((_, i) => f.let(work.i32.load(record, 4 * i)));
    const item = f.let(first);
    f.forUpTo(item, last, 1, () => {
      const row = f.let(i32.div_u(item, kvHeads));
      const kv = f.let(i32.rem_u(item, kvHeads));
      const span = f.let(i32.add(spans, i32.mul(row, 4 * SPAN_WORDS)));
      const [begin, end, table] = [0, 1, 2].map((i) => f.let(work.i32.load(span, 4 * i)));
      const scale = f.let(work.v128.load32_splat(span, 12));
      const query = f.let(
        i32.add(i32.add(q, i32.mul(row, stride)), i32.mul(kv, 4 * share * headDim)),
      );
      for (let i = 0; i < share * headDim; i += 4) {
        f.do(panel.v128.store(origin, f32x4.mul(work.v128.load(query, 4 * i), scale), 4 * i));
      }
      for (let i = 0; i < share * valueDim; i += 4) {
        f.do(panel.v128.store(origin, ZERO, results + 4 * i));
      }
      for (const head of heads) {
        f.do(panel.f32.store(origin, f32.const(LOWEST), maxima + 4 * head));
        f.do(panel.f32.store(origin, f32.const(0), sums + 4 * head));
        f.if(sinks, () => {
          const at = i32.add(sinks, i32.mul(i32.add(i32.mul(kv, share), head), 4));
          f.do(panel.f32.store(origin, work.f32.load(at), maxima + 4 * head));
          f.do(panel.f32.store(origin, f32.const(1), sums + 4 * head));
        });
      }
      const position = f.let(begin);
      f.while(i32.lt_u(position, end), () => {
        const number = f.let(i32.div_u(position, BLOCK));
        const offset = f.let(i32.rem_u(position, BLOCK));
        const count = f.let(i32.sub(BLOCK, offset));
        f.if(
          i32.lt_u(i32.sub(end, position), count),
          () => f.set(count, i32.sub(end, position)),
        );
        const block = f.let(work.i32.load(i32.add(table, i32.mul(number, 4))));
        const cached = f.let(
          i32.add(i32.mul(i32.add(i32.mul(block, kvHeads), kv), BLOCK), offset),
        );
        const lanes = { from: f.let(i32.mul(offset, 4)), to: f.local("i32") };
        f.set(lanes.to, i32.add(lanes.from, i32.mul(count, 4)));
        scoreBlock(f, f.let(i32.add(keys, i32.mul(cached, headDim * elementBytes))), lanes);
        f.if(softcapBits, () =>
          capScores(f, panel, { at: origin, offset: weights }, {
            cap: softcapBits,
            count: share * BLOCK,
          }));
        for (const head of heads) {
          weighScores(f, panel, {
            scores: { at: origin, offset: weights + 4 * head * BLOCK },
            maximum: { at: origin, offset: maxima + 4 * head },
            sum: { at: origin, offset: sums + 4 * head },
            results: { at: origin, offset: results + 4 * head * valueDim },
            valueDim,
          });
        }
        addValues(f, f.let(i32.add(values, i32.mul(cached, valueDim * elementBytes))), lanes);
        f.increase(position, count);
      });
      const out = f.let(
        i32.add(i32.add(y, i32.mul(row, yStride)), i32.mul(kv, 4 * share * valueDim)),
      );
      for (const head of heads) {
        const sum = f.let(panel.v128.load32_splat(origin, sums + 4 * head));
        for (let i = 0; i < valueDim; i += 4) {
          const at = 4 * (head * valueDim + i);
          f.do(work.v128.store(out, f32x4.div(panel.v128.load(origin, results + at), sum), at));
        }
      }
    });

    /** Writes the scores of a block's positions, and of the rest what is no score. */
    function scoreBlock(f: FunctionBuilder, key: Local<"i32">, { from, to }: Lanes): void {
      for (let i = 0; i < share * BLOCK; i += 4) {
        f.do(panel.v128.store(origin, lanes(f, Float32Array.of(LOWEST)), weights + 4 * i));
      }
      const at = f.let(from);
      f.forUpTo(at, to, 4, () => {
        const dots = heads.map(() => f.let(ZERO));
        for (let i = 0; i < headDim; i += 4) {
          const k = f.let(loadCached(f, key, i));
          for (const head of heads) {
            const own = panel.v128.load(origin, 4 * (head * headDim + i));
            f.set(dots[head], madd(own, k, dots[head]));
          }
        }
        for (const head of heads) {
          const two = f.let(
            f32x4.add(dots[head], shuffleLanes(dots[head], dots[head], [2, 3, 0, 1])),
          );
          const dot = f32.add(f32x4.extract_lane(two, 0), f32x4.extract_lane(two, 1));
          f.do(panel.f32.store(at, dot, weights + 4 * head * BLOCK));
        }
        f.increase(key, headDim * elementBytes);
      });
    }

    /** Adds the weighted values of a block to the results, four columns at a time. */
    function addValues(f: FunctionBuilder, value: Local<"i32">, { from, to }: Lanes): void {
      const column = f.let(i32.const(0));
      const source = f.local("i32");
      const at = f.local("i32");
      f.forUpTo(column, 4 * valueDim, 16, () => {
        const totals = heads.map((head) =>
          f.let(panel.v128.load(column, results + 4 * head * valueDim))
        );
        f.set(source, i32.add(value, half ? i32.shr_u(column, 1) : column));
        f.set(at, from);
        f.forUpTo(at, to, 4, () => {
          const v = f.let(loadCached(f, source, 0));
          for (const head of heads) {
            const weight = panel.v128.load32_splat(at, weights + 4 * head * BLOCK);
            f.set(totals[head], madd(weight, v, totals[head]));
          }
          f.increase(source, valueDim * elementBytes);
        });
        for (const head of heads) {
          f.do(panel.v128.store(column, totals[head], results + 4 * head * valueDim));
        }
      });
    }
  });
}

/** Bytes of a block's scores, from the first position that a row sees up to the last. */
interface Lanes {
  readonly from: Local<"i32">;
  readonly to: Local<"i32">;
}

/** A place in a thread's memory. */
export interface PanelPlace {
  readonly at: Expression<"i32">;
  readonly offset: number;
}

/** Adds cap * tanh(score / cap) of so many scores; what is no score stays that. */
export function capScores(
  f: FunctionBuilder,
  panel: Memory,
  { at, offset }: PanelPlace,
  { cap: bits, count }: { cap: Local<"i32">; count: number },
): void {
  const cap = f.let(f32x4.splat(f32.reinterpret_i32(bits)));
  const two = lanes(f, Float32Array.of(2));
  const one = lanes(f, Float32Array.of(1));
  for (let i = 0; i < count; i += 4) {
    // As 1 - 2 / (exp(2u) + 1).
    const score = f.let(panel.v128.load(at, offset + 4 * i));
    const power = f.let(exponential(f, f.let(f32x4.div(f32x4.mul(score, two), cap))));
    const capped = f32x4.mul(cap, f32x4.sub(one, f32x4.div(two, f32x4.add(power, one))));
    const isNone = f32x4.le(score, lanes(f, Float32Array.of(LOWEST)));
    f.do(panel.v128.store(at, v128.bitselect(score, f.let(capped), isNone), offset + 4 * i));
  }
}

/** What the softmax of a query goes through, in a thread's memory. */
export interface Softmax {
  /** A block's scores, which become weights. */
  readonly scores: PanelPlace;
  readonly maximum: PanelPlace;
  readonly sum: PanelPlace;
  readonly results: PanelPlace;
  readonly valueDim: number;
}

/** Adds: scores to weights, and what was there before to the new maximum. */
export function weighScores(
  f: FunctionBuilder,
  panel: Memory,
  { scores, maximum, sum: total, results, valueDim }: Softmax,
): void {
  const load = ({ at, offset }: PanelPlace, i: number) => panel.v128.load(at, offset + 4 * i);
  const peaks = f.let(load(scores, 0));
  for (let i = 4; i < BLOCK; i += 4) f.set(peaks, f32x4.max(peaks, load(scores, i)));
  const before = f.let(panel.v128.load32_splat(maximum.at, maximum.offset));
  f.set(peaks, f32x4.max(peaks, before));
  f.set(peaks, f32x4.max(peaks, shuffleLanes(peaks, peaks, [2, 3, 0, 1])));
  f.set(peaks, f32x4.max(peaks, shuffleLanes(peaks, peaks, [1, 0, 3, 2])));
  const sum = f.let(ZERO);
  for (let i = 0; i < BLOCK; i += 4) {
    const score = f.let(load(scores, i));
    const weight = exponential(f, f.let(f32x4.sub(score, peaks)));
    const isNone = f32x4.le(score, lanes(f, Float32Array.of(LOWEST)));
    const kept = f.let(v128.andnot(f.let(weight), isNone));
    f.do(panel.v128.store(scores.at, kept, scores.offset + 4 * i));
    f.set(sum, f32x4.add(sum, kept));
  }
  const two = f.let(f32x4.add(sum, shuffleLanes(sum, sum, [2, 3, 0, 1])));
  const own = f32.add(f32x4.extract_lane(two, 0), f32x4.extract_lane(two, 1));
  const correction = f.let(exponential(f, f.let(f32x4.sub(before, peaks))));
  const corrected = f32.mul(
    panel.f32.load(total.at, total.offset),
    f32x4.extract_lane(correction, 0),
  );
  f.do(panel.f32.store(total.at, f32.add(corrected, own), total.offset));
  f.do(panel.f32.store(maximum.at, f32x4.extract_lane(peaks, 0), maximum.offset));
  f.if(i32.ne(f32.eq(f32x4.extract_lane(correction, 0), 1), 1), () => {
    for (let i = 0; i < valueDim; i += 4) {
      f.do(panel.v128.store(
        results.at,
        f32x4.mul(load(results, i), correction),
        results.offset + 4 * i,
      ));
    }
  });
}
