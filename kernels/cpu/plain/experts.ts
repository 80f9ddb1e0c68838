// The choice of experts in plain TypeScript: see kernels/ops/experts.ts.

import type { FloatRows } from "../../ops/activation.ts";
import { type RouteOptions, routeReference, type Routing } from "../../ops/experts.ts";
import { cpu } from "../memory.ts";
import { floatsOf } from "./rows.ts";

/** Chooses experts by logits. */
export function route(logits: FloatRows, routing: Routing, { bias, ...options }: RouteOptions) {
  const values = floatsOf(logits);
  const { experts, topK } = routing;
  const ids = cpu(routing.ids).words;
  const weights = cpu(routing.weights).floats;
  const count = cpu(routing.count).words;
  const biases = bias && cpu(bias).floats.subarray(0, experts);
  return (rows: number) => {
    count[0] = rows * topK;
    for (let row = 0; row < rows; row++) {
      const own = values.slice(row * logits.stride, row * logits.stride + experts);
      const chosen = routeReference(own, topK, { ...options, ...biases && { bias: biases } });
      ids.set(chosen.ids, row * topK);
      weights.set(chosen.weights, row * topK);
    }
  };
}
