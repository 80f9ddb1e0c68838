// The choice of experts and the sum of what they give, in plain TypeScript: see kernels/ops/experts.ts.

import type { FloatRows } from "../../ops/activation.ts";
import {
  type CombineOptions,
  type RouteOptions,
  routeReference,
  type Routing,
} from "../../ops/experts.ts";
import { cpu } from "../memory.ts";
import { floatsOf } from "./rows.ts";

/** Chooses experts by logits. */
export function route(logits: FloatRows, routing: Routing, { bias, ...options }: RouteOptions) {
  const values = floatsOf(logits);
  const { experts, choices } = routing;
  const ids = cpu(routing.ids).words;
  const weights = cpu(routing.weights).floats;
  const count = cpu(routing.count).words;
  const biases = bias && cpu(bias).floats.subarray(0, experts);
  return (rows: number) => {
    count[0] = rows * choices;
    for (let row = 0; row < rows; row++) {
      const own = values.slice(row * logits.stride, row * logits.stride + experts);
      const chosen = routeReference(own, choices, { ...options, ...biases && { bias: biases } });
      ids.set(chosen.ids, row * choices);
      weights.set(chosen.weights, row * choices);
    }
  };
}

/** y = the sum over a row's pairs of weight times x. */
export function combine(
  routing: Routing,
  x: FloatRows,
  y: FloatRows,
  { accumulate = false, weighted = true }: CombineOptions,
) {
  const [from, to, weights] = [floatsOf(x), floatsOf(y), cpu(routing.weights).floats];
  const { choices } = routing;
  return (rows: number) => {
    for (let row = 0; row < rows; row++) {
      for (let k = 0; k < x.stride; k++) {
        let sum = 0;
        for (let choice = 0; choice < choices; choice++) {
          const pair = row * choices + choice;
          sum += (weighted ? weights[pair] : 1) * from[pair * x.stride + k];
        }
        const at = row * y.stride + k;
        to[at] = accumulate ? to[at] + sum : sum;
      }
    }
  };
}
