// The part of a vocabulary that top_k and top_p keep, found without sorting: logits are counted in
// bins below the greatest, and the bin that contains the cut is halved until one value is left.
// Weights are exp(logit - greatest logit), added up in doubles.

import { NO_TOKEN } from "../../ops/sampling/mod.ts";
import { exponential } from "../activate/kernel.ts";
import { lanes } from "../formats/scales.ts";
import {
  type Expression,
  f32,
  f32x4,
  f64,
  type FunctionBuilder,
  i32,
  i32x4,
  type Local,
  type Memory,
  type V128,
  v128,
} from "../wasm/mod.ts";

/** Bins that logits are counted in, and how many of them there are in a difference of one. */
const BINS = 2048;
const BINS_PER_LOGIT = 64;
/** Bytes of bins: counts, then sums of weights. */
export const HISTOGRAM_BYTES = 12 * BINS;

/** Beyond this either way, a logit counts as infinite; see ops/sampling/reference.ts. */
export const GREATEST_LOGIT = 1e30;
/** The logit of tokens that are no candidates. */
export const NONE = -Infinity;

/** The logits of an output: where they begin, the greatest, and how many there are. */
export interface Logits {
  readonly logits: Local<"i32">;
  readonly greatest: Local<"f32">;
  readonly vocabulary: Local<"i32">;
}

/** The bins of four logits, counted from the greatest logit down. The last bin has all that is far below. */
function binsOf(f: FunctionBuilder, values: V128, greatest: V128): V128 {
  const distance = f32x4.mul(
    f32x4.sub(greatest, values),
    lanes(f, Float32Array.of(BINS_PER_LOGIT)),
  );
  return i32x4.min_s(i32x4.trunc_sat_f32x4_s(distance), lanes(f, Uint32Array.of(BINS - 1)));
}

/** Four logits from a token on; past the end there are no candidates. */
export function loadLogits(
  work: Memory,
  f: FunctionBuilder,
  logits: Local<"i32">,
  token: Local<"i32">,
  end: Local<"i32">,
): V128 {
  const values = f.let(work.v128.load(i32.add(logits, i32.mul(token, 4))));
  const rest = f.let(i32x4.splat(i32.sub(end, token)));
  const isThere = i32x4.gt_s(rest, lanesOf(f, [0, 1, 2, 3]));
  return v128.bitselect(values, lanes(f, Float32Array.of(NONE)), isThere);
}

/** Whether the filters before a cut keep a token. */
export type IsLeft = (logit: Local<"f32">, token: () => Local<"i32">) => Expression<"i32">;

/** Counts the logits of tokens `begin` to `end` in bins that begin as zeros. */
export function countLogits(
  f: FunctionBuilder,
  work: Memory,
  { logits, greatest }: Pick<Logits, "logits" | "greatest">,
  { begin, end, counts }: Record<"begin" | "end" | "counts", Local<"i32">>,
  isLeft: IsLeft = isCandidate,
): void {
  const peak = f.let(f32x4.splat(greatest));
  const at = f.let(counts);
  f.forUpTo(at, i32.add(counts, HISTOGRAM_BYTES), 16, () => {
    f.do(work.v128.store(at, v128.const(new Uint8Array(16))));
  });
  const token = f.let(begin);
  f.forUpTo(token, end, 4, () => {
    const values = f.let(loadLogits(work, f, logits, token, end));
    const bins = f.let(binsOf(f, values, peak));
    const weights = f.let(exponential(f, f.let(f32x4.sub(values, peak))));
    for (let lane = 0; lane < 4; lane++) {
      const logit = f.let(f32x4.extract_lane(values, lane));
      f.if(isLeft(logit, () => f.let(i32.add(token, lane))), () => {
        const bin = f.let(i32x4.extract_lane(bins, lane));
        const count = f.let(i32.add(counts, i32.mul(bin, 4)));
        f.do(work.i32.store(count, i32.add(work.i32.load(count), 1)));
        const sum = f.let(i32.add(counts, i32.mul(bin, 8)));
        const weight = f64.promote_f32(f32x4.extract_lane(weights, lane));
        f.do(work.f64.store(sum, f64.add(work.f64.load(sum, 4 * BINS), weight), 4 * BINS));
      });
    }
  });
}

/** Whether a token may come at all. */
export function isCandidate(logit: Local<"f32">): Expression<"i32"> {
  return f32.gt(logit, -GREATEST_LOGIT);
}

/** Adds the bins of the chunks that follow, up to `end`, to those at `to`. */
export function addHistograms(
  f: FunctionBuilder,
  work: Memory,
  to: Local<"i32">,
  end: Local<"i32">,
): void {
  const from = f.let(i32.add(to, HISTOGRAM_BYTES));
  f.forUpTo(from, end, HISTOGRAM_BYTES, () => {
    const at = f.let(i32.const(0));
    f.forUpTo(at, 4 * BINS, 16, () => {
      const [a, b] = [f.let(i32.add(to, at)), f.let(i32.add(from, at))];
      f.do(work.v128.store(a, i32x4.add(work.v128.load(a), work.v128.load(b))));
    });
    f.forUpTo(at, HISTOGRAM_BYTES, 8, () => {
      const [a, b] = [f.let(i32.add(to, at)), f.let(i32.add(from, at))];
      f.do(work.f64.store(a, f64.add(work.f64.load(a), work.f64.load(b))));
    });
  });
}

/** The weights of all bins. */
export function sumOfWeights(
  f: FunctionBuilder,
  work: Memory,
  counts: Local<"i32">,
): Local<"f64"> {
  const sum = f.let(f64.const(0));
  const at = f.let(i32.const(0));
  f.forUpTo(at, 8 * BINS, 8, () => {
    f.set(sum, f64.add(sum, work.f64.load(i32.add(counts, at), 4 * BINS)));
  });
  return sum;
}

/** Lists (logit, token) of all candidates of a bin; returns where the list ends. */
function collect(
  f: FunctionBuilder,
  work: Memory,
  { greatest, logits, vocabulary }: Logits,
  bin: Local<"i32">,
  found: Local<"i32">,
  isLeft: IsLeft,
): Local<"i32"> {
  const end = f.let(found);
  const peak = f.let(f32x4.splat(greatest));
  const wanted = f.let(i32x4.splat(bin));
  const token = f.let(i32.const(0));
  f.forUpTo(token, vocabulary, 4, () => {
    const values = f.let(loadLogits(work, f, logits, token, vocabulary));
    const isThere = f32x4.gt(values, lanes(f, Float32Array.of(-GREATEST_LOGIT)));
    const isIn = i32x4.eq(binsOf(f, values, peak), wanted);
    const bits = f.let(i32x4.bitmask(v128.and(isIn, isThere)));
    f.if(bits, () => {
      for (let lane = 0; lane < 4; lane++) {
        f.if(i32.and(bits, 1 << lane), () => {
          const logit = f.let(f32x4.extract_lane(values, lane));
          const own = f.let(i32.add(token, lane));
          f.if(isLeft(logit, () => own), () => {
            f.do(work.f32.store(end, logit), work.i32.store(end, own, 4));
            f.increase(end, 8);
          });
        });
      }
    });
  });
  return end;
}

/**
 * Moves the cut of an output up to where the candidates, from the best one on, reach a count or a
 * weight. Returns whether they do. `total` becomes the weight of what is kept.
 */
export function findCut(
  f: FunctionBuilder,
  work: Memory,
  { counts, found, ...of }: Logits & Record<"counts" | "found", Local<"i32">>,
  { kind, goal, total, cut, isLeft = isCandidate }: {
    kind: "count" | "weight";
    goal: Local<"f64">;
    total: Local<"f64">;
    cut: Local<"i32">;
    isLeft?: IsLeft;
  },
): Local<"i32"> {
  const { greatest } = of;
  const isFound = f.let(i32.const(0));
  const reached = f.let(f64.const(0));
  const weight = f.let(f64.const(0));
  const bin = f.let(i32.const(-1));
  const binCount = f.let(f64.const(0));
  const binWeight = f.let(f64.const(0));
  // The bin with the cut; `reached` and `weight` are the sums of all bins before it.
  f.while(i32.and(i32.eqz(isFound), i32.lt_s(bin, BINS - 1)), () => {
    f.increase(bin, 1);
    f.set(binCount, f64.convert_i32_u(work.i32.load(i32.add(counts, i32.mul(bin, 4)))));
    f.set(binWeight, work.f64.load(i32.add(counts, i32.mul(bin, 8)), 4 * BINS));
    const after = f64.add(reached, kind === "count" ? binCount : binWeight);
    f.set(isFound, i32.and(f64.ge(after, goal), f64.gt(binCount, f64.const(0))));
    f.if(i32.eqz(isFound), () => {
      f.set(reached, after);
      f.set(weight, f64.add(weight, binWeight));
    });
  });
  f.if(isFound, () => {
    const end = collect(f, work, of, bin, found, isLeft);
    // Searches for the cut among logits as integers in the same order ("orders").
    const [low, high] = [f.let(i32.const(0)), f.let(i32.const(0))];
    f.set(low, orderOf(f, f.let(work.i32.load(found))));
    f.set(high, low);
    const at = f.let(found);
    f.forUpTo(at, end, 8, () => {
      const order = f.let(orderOf(f, f.let(work.i32.load(at))));
      f.if(i32.lt_s(order, low), () => f.set(low, order));
      f.if(i32.gt_s(order, high), () => f.set(high, order));
    });
    const measured = f.local("f64");
    const peak = f.let(f32x4.splat(greatest));
    const weigh = (logit: Expression<"f32">) =>
      f64.promote_f32(
        f32x4.extract_lane(exponential(f, f.let(f32x4.sub(f32x4.splat(logit), peak))), 0),
      );
    /** The count and the weight of the candidates of at least an order. */
    const measure = (least: Local<"i32">, by: typeof kind = kind) => {
      f.set(measured, by === kind ? reached : weight);
      f.set(at, found);
      f.forUpTo(at, end, 8, () => {
        f.if(i32.ge_s(orderOf(f, f.let(work.i32.load(at))), least), () => {
          const one = by === "count" ? f64.const(1) : weigh(work.f32.load(at));
          f.set(measured, f64.add(measured, one));
        });
      });
    };
    // The greatest order from which on candidates reach the goal is in [low, high]: from low on they do.
    f.while(i32.lt_s(low, high), () => {
      // The orders of the last bin may have both signs, so their difference may overflow.
      const half = i32.shr_u(i32.sub(high, low), 1);
      const middle = f.let(i32.sub(high, half));
      measure(middle);
      f.if(
        f64.ge(measured, goal),
        () => f.set(low, middle),
        () => f.set(high, i32.sub(middle, 1)),
      );
    });
    // Of equal logits as many as are needed, those with the lowest ids.
    const above = f.let(i32.add(low, 1));
    measure(above);
    const token = f.let(i32.const(NO_TOKEN));
    const logit = f.let(f32.const(0));
    f.set(at, found);
    f.forUpTo(at, end, 8, () => {
      const isEqual = i32.eq(orderOf(f, f.let(work.i32.load(at))), low);
      f.if(i32.and(isEqual, i32.or(f64.lt(measured, goal), i32.eq(token, NO_TOKEN))), () => {
        f.set(token, work.i32.load(at, 4));
        f.set(logit, work.f32.load(at));
        const one = kind === "count" ? f64.const(1) : weigh(work.f32.load(at));
        f.set(measured, f64.add(measured, one));
      });
    });
    f.do(work.i32.store(cut, token), work.f32.store(cut, logit, 4));
    if (kind === "count") {
      measure(above, "weight");
      f.set(at, found);
      f.forUpTo(at, end, 8, () => {
        const isEqual = i32.eq(orderOf(f, f.let(work.i32.load(at))), low);
        f.if(i32.and(isEqual, i32.le_u(work.i32.load(at, 4), token)), () => {
          f.set(measured, f64.add(measured, weigh(work.f32.load(at))));
        });
      });
      f.set(total, measured);
    }
  });
  return isFound;
}

/** A constant with four integers. */
export function lanesOf(f: FunctionBuilder, values: readonly number[]) {
  return f.constant(new Uint8Array(Int32Array.from(values).buffer));
}

/** An integer that grows with a float, given as its bits; two zeros are the same. */
function orderOf(f: FunctionBuilder, bits: Local<"i32">): Expression<"i32"> {
  const order = f.let(bits);
  f.if(i32.lt_s(bits, 0), () => f.set(order, i32.sub(0x80000000, bits)));
  return order;
}
