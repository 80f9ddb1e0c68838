// The choice of experts for each row, and their weights: the binding of route.wgsl.

import routeSource from "./route.wgsl" with { type: "text" };
import scalarsSource from "./scalars.wgsl" with { type: "text" };
import { GpuError } from "../errors.ts";
import type { FloatRows } from "../ops/activation.ts";
import { ONE_GROUP, type RouteOptions, type Routing } from "../ops/experts.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch } from "./kernel.ts";
import { reduction } from "./workgroup.ts";

const MOST_EXPERTS = 512;

const MOST_TOP_K = 32;

/** Chooses experts by logits. Of equal logits the lower id is first. */
export class Route {
  readonly #dispatch: Dispatch;

  /**
   * @param logits [rows, experts]
   * @throws GpuError for more than 32 of 512 experts, and for groups with too few experts
   */
  constructor(device: Gpu, logits: FloatRows, routing: Routing, options: RouteOptions) {
    const { gating, bias, groups = ONE_GROUP, normalize = false, scale = 1 } = options;
    const { experts, topK } = routing;
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
        TOP_K: MOST_TOP_K,
        SOFTMAX: gating === "softmax",
        SIGMOID: gating === "sigmoid",
        PROBABILITIES,
        PROBABLE: PROBABILITIES && (bias !== undefined || GROUPED),
        BIASED: bias !== undefined,
        GROUPED,
        NORMALIZED: normalize || !PROBABILITIES,
      },
      snippets: [snippet, scalarsSource],
    }).bind({
      logits: logits.floats,
      ids: routing.ids,
      weights: routing.weights,
      count: routing.count,
      ...(bias ? { bias } : {}),
    }, { experts, top_k: topK, stride: logits.stride, groups: count, groups_used: used, scale });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [rows]);
  }
}

function checkShape(
  { experts, topK }: Routing,
  { count, used }: { count: number; used: number },
): void {
  const state = `${topK} of ${experts} experts in ${used} of ${count} groups`;
  if (experts > MOST_EXPERTS || topK > MOST_TOP_K) {
    const most = `at most ${MOST_TOP_K} of ${MOST_EXPERTS}`;
    throw new GpuError(`Cannot route to ${state}: the kernel has room for ${most}`);
  }
  if (experts % count !== 0 || topK > used * experts / count) {
    throw new GpuError(`Cannot route to ${state}: there are not so many`);
  }
  if (count > 1 && experts / count < 2) {
    throw new GpuError(`Cannot route to ${state}: a group needs two experts`);
  }
}
