// Which experts each row of a mixture of experts goes to, and with what weights: the binding of
// route.wgsl and its plain reference. The logits are an ordinary product's; what is done with the
// choice is experts.ts's and combine.ts's.

import routeSource from "./route.wgsl" with { type: "text" };
import type { FloatRows } from "./activation.ts";
import type { Device } from "./device.ts";
import { GpuError } from "./errors.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { reduction } from "./workgroup.ts";

const MOST_EXPERTS = 512;
const MOST_CHOICES = 32;
const ONE_GROUP = { count: 1, used: 1 };

/**
 * How logits become weights: probabilities over all experts by softmax or sigmoid, or the softmax
 * over the logits of the chosen ones (gpt-oss).
 */
export type Gating = "softmax" | "sigmoid" | "softmax of selected";

/** How experts are chosen and weighted; in this order: choose, normalize, scale. */
export interface RouteOptions {
  gating: Gating;
  /** [experts] f32, added to probabilities for the choice only (DeepSeek-V3). */
  bias?: GPUBuffer;
  /** Only experts of the `used` best of `count` groups are chosen: those whose two best scores sum highest. */
  groups?: { count: number; used: number };
  /** Divides the weights of a row by their sum, or by 2^-14 if that is more. */
  normalize?: boolean;
  /** Multiplies every weight. Default 1. */
  scale?: number;
}

/** The pairs of a row and an expert chosen for it: pair = row * choices + choice, best first. */
export interface Routing {
  readonly experts: number;
  /** Experts of each row. */
  readonly choices: number;
  /** [rows, choices] u32. */
  readonly ids: GPUBuffer;
  /** [rows, choices] f32. */
  readonly weights: GPUBuffer;
  /** [1] u32: pairs of the step. */
  readonly count: GPUBuffer;
}

/** Allocates the pairs of `rows` rows. */
export function allocateRouting(
  device: Device,
  rows: number,
  shape: { experts: number; choices: number },
): Routing {
  const bytes = rows * shape.choices * 4;
  const ids = device.buffer("expert ids", bytes, "scratch");
  const weights = device.buffer("expert weights", bytes, "scratch");
  const count = device.buffer("expert pairs", 4, "scratch");
  return { ...shape, ids, weights, count };
}

/** Chooses experts by logits. Among equals the lower id comes first. */
export class Route {
  readonly #dispatch: Dispatch;

  /**
   * @param logits [rows, experts]
   * Errors: GpuError for more than 32 of 512 experts, and for groups that hold too few.
   */
  constructor(device: Device, logits: FloatRows, routing: Routing, options: RouteOptions) {
    const { gating, bias, groups = ONE_GROUP, normalize = false, scale = 1 } = options;
    const { experts, choices } = routing;
    const { count, used } = groups;
    checkShape(routing, groups);
    const { constants, snippet } = reduction(device);
    const GROUPED = used < count;
    const PROBABILITIES = gating !== "softmax of selected";
    this.#dispatch = device.kernel({
      name: "route",
      source: routeSource,
      constants: {
        ...constants,
        EXPERTS: MOST_EXPERTS,
        CHOICES: MOST_CHOICES,
        SOFTMAX: gating === "softmax",
        SIGMOID: gating === "sigmoid",
        PROBABILITIES,
        PROBABLE: PROBABILITIES && (bias !== undefined || GROUPED),
        BIASED: bias !== undefined,
        GROUPED,
        NORMALIZED: normalize || !PROBABILITIES,
      },
      snippets: [snippet],
    }).bind({
      logits: logits.floats,
      ids: routing.ids,
      weights: routing.weights,
      count: routing.count,
      ...(bias ? { bias } : {}),
    }, { experts, choices, stride: logits.stride, groups: count, groups_used: used, scale });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [rows]);
  }
}

function checkShape(
  { experts, choices }: Routing,
  { count, used }: { count: number; used: number },
): void {
  const state = `${choices} of ${experts} experts in ${used} of ${count} groups`;
  if (experts > MOST_EXPERTS || choices > MOST_CHOICES) {
    const most = `at most ${MOST_CHOICES} of ${MOST_EXPERTS}`;
    throw new GpuError(`Cannot route to ${state}: the kernel has room for ${most}`);
  }
  if (experts % count !== 0 || choices > used * experts / count) {
    throw new GpuError(`Cannot route to ${state}: there are not so many`);
  }
  if (count > 1 && experts / count < 2) {
    throw new GpuError(`Cannot route to ${state}: a group needs two experts`);
  }
}

/** The choice for one row in plain numbers. */
export function routeReference(
  logits: Float32Array,
  choices: number,
  options: Omit<RouteOptions, "bias"> & { bias?: Float32Array },
): { ids: number[]; weights: number[] } {
  const { gating, bias, groups = ONE_GROUP, normalize = false, scale = 1 } = options;
  const greatest = logits.reduce((a, b) => Math.max(a, b));
  const total = logits.reduce((sum, logit) => sum + Math.exp(logit - greatest), 0);
  const probability = (logit: number) =>
    gating === "sigmoid" ? 1 / (1 + Math.exp(-logit)) : Math.exp(logit - greatest) / total;
  const selected = gating === "softmax of selected";
  const ranksLogits = selected || !(bias || groups.used < groups.count);
  const scores = Array.from(
    logits,
    (logit, i) => (ranksLogits ? logit : probability(logit)) + (bias?.[i] ?? 0),
  );
  maskGroups(scores, groups);
  const ids = best(scores).slice(0, choices);
  const chosen = ids.map((id) => probability(logits[id]));
  const sum = chosen.reduce((sum, weight) => sum + weight, 0);
  const divisor = selected ? sum : normalize ? Math.max(sum, 2 ** -14) : 1;
  return { ids, weights: chosen.map((weight) => weight / divisor * scale) };
}

/** Indices of values, highest value first, lowest index first among equals. */
function best(values: number[]): number[] {
  return values.map((_, i) => i).sort((a, b) => values[b] - values[a] || a - b);
}

function maskGroups(scores: number[], { count, used }: { count: number; used: number }): void {
  const size = scores.length / count;
  const sums = Array.from({ length: count }, (_, group) => {
    const members = scores.slice(group * size, (group + 1) * size);
    return best(members).slice(0, 2).reduce((sum, i) => sum + members[i], 0);
  });
  for (const group of best(sums).slice(used)) {
    scores.fill(-Infinity, group * size, (group + 1) * size);
  }
}
