// The choice of experts and their weights, in WebAssembly; see kernels/ops/experts.ts. One item is
// a row, whose probabilities and scores are kept in the thread's memory.

import type { Buffer } from "../../operation.ts";
import type { FloatRows } from "../../ops/activation.ts";
import {
  type CombineOptions,
  type ExpertPairs,
  type Gating,
  ONE_GROUP,
  type RouteOptions,
  type Routing,
} from "../../ops/experts.ts";
import { exponential } from "../activate/kernel.ts";
import { type CpuCore, floatBits } from "../core.ts";
import { keepCall } from "../kept_calls.ts";
import { addKernel, forItems, inOrder } from "../kernel.ts";
import { PAIRS_ENTRY } from "../linear/bands.ts";
import { PANEL_BYTES } from "../linear/kernel.ts";
import { cpu } from "../memory.ts";
import { panelModule, workModule } from "../modules.ts";
import { forFours, sumOfLanes } from "../vectors.ts";
import {
  f32,
  f32x4,
  type FunctionBuilder,
  i32,
  type Local,
  type Memory,
  type ModuleBuilder,
  type V128,
  v128,
} from "../wasm/mod.ts";

/**
 * The arguments of the choice: rows of `experts` logits, `stride` bytes apart, and the biases of scores.
 * It writes the id and the weight of each of the `topK` experts, and to `count` the number of pairs of
 * all `rows`. It uses `used` of the `groups` groups of `size` experts.
 */
const ROUTE_ARGUMENTS = [
  ...["logits", "stride", "bias", "ids", "weights", "count", "rows"] as const,
  ...["experts", "topK", "groups", "size", "used", "scale"] as const,
] as const;

/** The properties for which a kernel is made. */
interface RouteShape {
  readonly gating: Gating;
  readonly hasBias: boolean;
  readonly hasGroups: boolean;
  readonly normalize: boolean;
}

/** Arrays in the thread's memory: probabilities, scores, scores of groups, and which are used. */
const ARRAYS = 4;

const ZERO = v128.const(new Uint8Array(16));

/** Adds `route(record, first, last)` for rows `first` to `last`. */
function addRoute(
  module: ModuleBuilder,
  work: Memory,
  panel: Memory,
  { gating, hasBias, hasGroups, normalize }: RouteShape,
): void {
  const isSelected = gating === "softmax of selected";
  const ranksLogits = isSelected || !(hasBias || hasGroups);
  addKernel(module, work, { name: "route", takes: ROUTE_ARGUMENTS }, (f, given, first, last) => {
    const { experts, topK } = given;
    const arrayBytes = f.let(i32.shl(i32.shr_u(i32.add(experts, 3), 2), 4));
    const [probabilities, scores, groupScores, uses] = Array.from(
      { length: ARRAYS },
      (_, i) => f.let(i32.mul(arrayBytes, i)),
    ) as [Local<"i32">, Local<"i32">, Local<"i32">, Local<"i32">];
    const end = f.let(i32.add(scores, i32.mul(experts, 4)));
    f.if(i32.eqz(first), () => f.do(work.i32.store(given.count, i32.mul(given.rows, topK))));
    forItems(f, first, last, (row) => {
      const logits = f.let(i32.add(given.logits, i32.mul(row, given.stride)));
      const total = f.let(f32.const(1));
      score(logits, total);
      if (hasGroups) maskGroups();
      const pair = f.let(i32.mul(i32.mul(row, topK), 4));
      const ids = f.let(i32.add(given.ids, pair));
      const weights = f.let(i32.add(given.weights, pair));
      const behind = f.let(i32.add(weights, i32.mul(topK, 4)));
      const weight = f.let(weights);
      const sum = f.let(f32.const(0));
      f.forUpTo(weight, behind, 4, () => {
        const best = takeBest(f, panel, scores, end);
        const at = f.let(i32.sub(best, scores));
        const own = f.let(f32.div(panel.f32.load(i32.add(probabilities, at)), total));
        f.set(sum, f32.add(sum, own));
        f.do(work.i32.store(ids, i32.shr_u(at, 2)), work.f32.store(weight, own));
        f.increase(ids, 4);
      });
      const factor = f.let(f32.reinterpret_i32(given.scale));
      if (isSelected) f.set(factor, f32.div(factor, sum));
      else if (normalize) f.set(factor, f32.div(factor, f32.max(sum, f32.const(2 ** -14))));
      f.set(weight, weights);
      f.forUpTo(weight, behind, 4, () => {
        f.do(work.f32.store(weight, f32.mul(work.f32.load(weight), factor)));
      });
    });

    /** Writes probabilities (for a softmax not yet divided by `total`), and the scores that rank experts. */
    function score(logits: Local<"i32">, total: Local<"f32">): void {
      const greatest = f.let(ZERO);
      if (gating !== "sigmoid") {
        const most = f.let(work.f32.load(logits));
        const at = f.let(logits);
        f.forUpTo(at, f.let(i32.add(logits, i32.mul(experts, 4))), 4, () => {
          f.set(most, f32.max(most, work.f32.load(at)));
        });
        f.set(greatest, f32x4.splat(most));
      }
      const sums = f.let(ZERO);
      forFours(f, work, experts, (four) => {
        const logit = f.let(four.load(logits));
        const one = f32x4.splat(f32.const(1));
        const probability = f.let(
          gating === "sigmoid"
            ? f32x4.div(one, f32x4.add(one, exponential(f, f32x4.neg(logit))))
            : four.kept(exponential(f, f32x4.sub(logit, greatest))),
        );
        f.set(sums, f32x4.add(sums, probability));
        f.do(panel.v128.store(i32.add(probabilities, four.at), probability));
        if (ranksLogits) f.do(panel.v128.store(i32.add(scores, four.at), rankable(logit)));
      });
      if (gating !== "sigmoid") f.set(total, sumOfLanes(f, sums));
      if (ranksLogits && !hasBias) return;
      forFours(f, work, experts, (four) => {
        const ranked = panel.v128.load(i32.add(ranksLogits ? scores : probabilities, four.at));
        const value = f.let(ranksLogits ? ranked : f32x4.div(ranked, f32x4.splat(total)));
        if (hasBias) f.set(value, f32x4.add(value, four.load(given.bias)));
        f.do(panel.v128.store(i32.add(scores, four.at), rankable(value)));
      });
    }

    /** Scores of which those that are NaN rank first: their experts are chosen, and the weights show it. */
    function rankable(scores: Local<"v128">): V128 {
      const infinite = f32x4.splat(f32.const(Infinity));
      return v128.bitselect(scores, infinite, f32x4.eq(scores, scores));
    }

    /** Keeps the scores of the best groups; the scores of others become the lowest possible. */
    function maskGroups(): void {
      const groupBytes = f.let(i32.mul(given.size, 4));
      const lowest = f32.const(-Infinity);
      const at = f.local("i32");
      const [from, group] = [f.let(scores), f.let(groupScores)];
      const groupsEnd = f.let(i32.add(groupScores, i32.mul(given.groups, 4)));
      const useOf = (group: Local<"i32">) => i32.add(uses, i32.sub(group, groupScores));
      f.forUpTo(group, groupsEnd, 4, () => {
        const [best, second] = [f.let(lowest), f.let(lowest)];
        f.set(at, from);
        f.increase(from, groupBytes);
        f.forUpTo(at, from, 4, () => {
          const value = f.let(panel.f32.load(at));
          f.if(f32.gt(value, best), () => {
            f.set(second, best);
            f.set(best, value);
          }, () => f.if(f32.gt(value, second), () => f.set(second, value)));
        });
        f.if(i32.gt_u(given.size, 1), () => f.set(best, f32.add(best, second)));
        f.do(panel.f32.store(group, best), panel.i32.store(useOf(group), 0));
      });
      const turn = f.let(i32.const(0));
      f.forUpTo(turn, given.used, 1, () => {
        const best = takeBest(f, panel, groupScores, groupsEnd);
        f.do(panel.i32.store(useOf(best), 1));
      });
      f.set(from, scores);
      f.set(group, groupScores);
      f.forUpTo(group, groupsEnd, 4, () => {
        f.set(at, from);
        f.increase(from, groupBytes);
        f.if(i32.eqz(panel.i32.load(useOf(group))), () => {
          f.forUpTo(at, from, 4, () => f.do(panel.f32.store(at, lowest)));
        });
      });
    }
  });
}

/**
 * The address of the greatest of some floats, of equal ones the first. It is replaced by NaN, so
 * that it is found only once. If all are NaN, the first address.
 */
function takeBest(
  f: FunctionBuilder,
  panel: Memory,
  from: Local<"i32">,
  end: Local<"i32">,
): Local<"i32"> {
  const greatest = f.let(f32.const(-Infinity));
  const best = f.let(i32.const(-1));
  const at = f.let(from);
  f.forUpTo(at, end, 4, () => {
    const value = f.let(panel.f32.load(at));
    const isFirst = i32.and(i32.eq(best, -1), f32.eq(value, value));
    f.if(i32.or(f32.gt(value, greatest), isFirst), () => {
      f.set(greatest, value);
      f.set(best, at);
    });
  });
  f.if(i32.eq(best, -1), () => f.set(best, from));
  f.do(panel.f32.store(best, f32.const(NaN)));
  return best;
}

/** Chooses experts by logits. */
export function route(core: CpuCore, logits: FloatRows, routing: Routing, options: RouteOptions) {
  const { gating, bias, groups = ONE_GROUP, normalize = false, scale = 1 } = options;
  const { experts, topK } = routing;
  if (4 * ARRAYS * (experts + 3) > PANEL_BYTES) {
    throw new RangeError(`Cannot choose of ${experts} experts: a thread's memory is too small`);
  }
  const shape: RouteShape = {
    ...{ gating, normalize, hasBias: bias !== undefined },
    hasGroups: groups.used < groups.count,
  };
  const kernels = core.kernels(
    `route ${Object.values(shape)}`,
    () => panelModule((module, work, panel) => addRoute(module, work, panel, shape)),
  );
  const given = {
    logits: cpu(logits.floats).address,
    stride: 4 * logits.stride,
    bias: bias ? cpu(bias).address : 0,
    ids: cpu(routing.ids).address,
    weights: cpu(routing.weights).address,
    count: cpu(routing.count).address,
    ...{ experts, topK, groups: groups.count, size: experts / groups.count, used: groups.used },
    scale: floatBits(scale),
  };
  return keepCall(core, (rows: number) => {
    const words = inOrder(ROUTE_ARGUMENTS, { ...given, rows });
    return { kernels, name: "route", arguments: words, items: rows };
  });
}

// The pairs of a step grouped by expert, so that a product reads an expert's rows once for all tokens
// that it was chosen for. A counting sort by one thread: pairs keep their order, whatever the timing.
//
//     words: experts that have pairs
//            of each possible one: its number, the address of its pairs, how many there are
//            pairs, expert after expert
//            a counter for each expert

/** Pairs on a CPU device. */
export interface CpuExpertPairs extends ExpertPairs {
  readonly buffer: Buffer;
}

export function pairsBytes(experts: number, pairs: number): number {
  return 4 + PAIRS_ENTRY * experts + 4 * pairs + 4 * experts;
}

const PAIRS_ARGUMENTS = ["ids", "entries", "pairs", "order", "counters", "experts"] as const;

/** Adds `expert_pairs(record, first, last)`, of one item. */
function addExpertPairs(module: ModuleBuilder, work: Memory): void {
  addKernel(module, work, { name: "expert_pairs", takes: PAIRS_ARGUMENTS }, (f, given) => {
    const { ids, entries, pairs, order, counters, experts } = given;
    const end = f.let(i32.add(counters, i32.mul(experts, 4)));
    const counter = f.let(counters);
    f.forUpTo(counter, end, 4, () => f.do(work.i32.store(counter, 0)));
    const pair = f.let(i32.const(0));
    const expertOf = i32.add(
      counters,
      i32.mul(work.i32.load(i32.add(ids, i32.mul(pair, 4))), 4),
    );
    const own = f.local("i32");
    f.forUpTo(pair, pairs, 1, () => {
      f.set(own, expertOf);
      f.do(work.i32.store(own, i32.add(work.i32.load(own), 1)));
    });
    // Counters become the addresses of each expert's next pair.
    const active = f.let(i32.const(0));
    const place = f.let(order);
    const entry = f.let(entries);
    f.set(counter, counters);
    f.forUpTo(counter, end, 4, () => {
      const count = f.let(work.i32.load(counter));
      f.do(work.i32.store(counter, place));
      f.if(count, () => {
        f.do(
          work.i32.store(entry, i32.shr_u(i32.sub(counter, counters), 2), 4),
          work.i32.store(entry, place, 8),
          work.i32.store(entry, count, 12),
        );
        f.increase(entry, PAIRS_ENTRY);
        f.increase(active, 1);
        f.increase(place, i32.mul(count, 4));
      });
    });
    f.do(work.i32.store(entries, active));
    f.set(pair, 0);
    f.forUpTo(pair, pairs, 1, () => {
      f.set(own, expertOf);
      const to = f.let(work.i32.load(own));
      f.do(work.i32.store(to, pair), work.i32.store(own, i32.add(to, 4)));
    });
  });
}

/** Groups the pairs of a number of rows. */
export function expertPairs(core: CpuCore, { ids, experts, topK }: Routing, buffer: Buffer) {
  const kernels = core.kernels("expert pairs", () => workModule(addExpertPairs));
  const entries = cpu(buffer).address;
  return keepCall(core, (rows: number) => {
    const pairs = rows * topK;
    const order = entries + 4 + PAIRS_ENTRY * experts;
    const words = inOrder(PAIRS_ARGUMENTS, {
      ...{ ids: cpu(ids).address, entries, pairs, order, experts },
      counters: order + 4 * pairs,
    });
    return { kernels, name: "expert_pairs", arguments: words, items: 1 };
  });
}

// The weighted sum of the outputs of a row's experts, in WebAssembly. One item is a row.

/** The arguments of the sum of pairs; strides in bytes. */
const COMBINE_ARGUMENTS = [
  ...["x", "xStride", "weights", "y", "yStride", "columns", "topK"] as const,
] as const;

/** Adds `combine(record, first, last)` for rows `first` to `last`. */
function addCombine(
  module: ModuleBuilder,
  work: Memory,
  { accumulate, weighted }: { accumulate: boolean; weighted: boolean },
): void {
  addKernel(
    module,
    work,
    { name: "combine", takes: COMBINE_ARGUMENTS },
    (f, given, first, last) =>
      forItems(f, first, last, (row) => {
        const pair = f.let(i32.mul(row, given.topK));
        const x = f.let(i32.add(given.x, i32.mul(pair, given.xStride)));
        const end = f.let(i32.add(x, i32.mul(given.topK, given.xStride)));
        const weights = f.let(i32.add(given.weights, i32.mul(pair, 4)));
        const y = f.let(i32.add(given.y, i32.mul(row, given.yStride)));
        const from = f.local("i32");
        const weight = f.local("i32");
        forFours(f, work, given.columns, (four) => {
          const sum = f.let(v128.const(new Uint8Array(16)));
          f.set(from, x);
          f.set(weight, weights);
          f.while(i32.lt_u(from, end), () => {
            const value = four.load(from);
            const own = weighted ? f32x4.mul(value, work.v128.load32_splat(weight)) : value;
            f.set(sum, f32x4.add(sum, own));
            f.increase(from, given.xStride);
            f.increase(weight, 4);
          });
          four.store(y, accumulate ? f32x4.add(four.load(y), sum) : sum);
        });
      }),
  );
}

/** y = the sum over a row's pairs of weight times x. */
export function combine(
  core: CpuCore,
  { topK, weights }: Routing,
  x: FloatRows,
  y: FloatRows,
  { accumulate = false, weighted = true }: CombineOptions = {},
) {
  const kernels = core.kernels(
    `combine ${accumulate} ${weighted}`,
    () => workModule((module, work) => addCombine(module, work, { accumulate, weighted })),
  );
  const words = inOrder(COMBINE_ARGUMENTS, {
    x: cpu(x.floats).address,
    xStride: 4 * x.stride,
    weights: cpu(weights).address,
    y: cpu(y.floats).address,
    yStride: 4 * y.stride,
    columns: x.stride,
    topK,
  });
  return keepCall(
    core,
    (rows: number) => ({ kernels, name: "combine", arguments: words, items: rows }),
  );
}
