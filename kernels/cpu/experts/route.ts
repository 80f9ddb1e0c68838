// The choice of experts and their weights, in WebAssembly; see kernels/ops/experts.ts. One item is
// a row, whose probabilities and scores are kept in the thread's memory.

import type { FloatRows } from "../../ops/activation.ts";
import { type Gating, ONE_GROUP, type RouteOptions, type Routing } from "../../ops/experts.ts";
import { type CpuCore, floatBits } from "../core.ts";
import { exponential } from "../activate/kernel.ts";
import { addKernel, forItems, inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { panelModule } from "../modules.ts";
import { PANEL_BYTES } from "../linear/kernel.ts";
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
  return (rows: number) => {
    const words = inOrder(ROUTE_ARGUMENTS, { ...given, rows });
    core.run([{ kernels, name: "route", arguments: words, items: rows }]);
  };
}
