// Operations on the vectors within rows, which few architectures have: elementwise.wgsl, mix.wgsl,
// match_magnitude.wgsl and sparsify.wgsl. What all models have is part of larger kernels instead.

import elementwiseSource from "./elementwise.wgsl" with { type: "text" };
import magnitudeSource from "./match_magnitude.wgsl" with { type: "text" };
import mixSource from "./mix.wgsl" with { type: "text" };
import scalarsSource from "./scalars.wgsl" with { type: "text" };
import sparsifySource from "./sparsify.wgsl" with { type: "text" };
import { type Columns, ELEMENTWISE_OPERATIONS } from "../ops/elementwise.ts";
import { type Binders, bound } from "./bound.ts";
import { activationFunction, reduction } from "./snippets.ts";

const WORKGROUP = 32;

/** The parameters of the vectors that are changed. */
function layoutOf({ rows, first = 0, step = 0, columns = rows.columns - first }: Columns) {
  return { columns, first, step, stride: rows.stride };
}

export const columnBinders: Binders<"elementwise" | "mix" | "matchMagnitude" | "sparsify"> = {
  elementwise(device, operation, y, options = {}) {
    const { count = 1, x, broadcast = false, repeat = 1, gate, factor = 1 } = options;
    const gelu = operation === "gelu_gate" ? activationFunction("gelu") : undefined;
    const layout = layoutOf(y);
    return bound(
      device,
      {
        name: `elementwise ${operation}`,
        source: elementwiseSource,
        constants: {
          WORKGROUP,
          HAS_X: x !== undefined,
          GATED: gate !== undefined,
          ...Object.fromEntries(
            ELEMENTWISE_OPERATIONS.map((name) => [name.toUpperCase(), name === operation]),
          ),
          ...gelu?.constants,
        },
        snippets: gelu ? [gelu.snippet] : [scalarsSource],
      },
      {
        y: y.rows.floats,
        ...(x && { x: x.rows.floats }),
        ...(gate && { gate: gate.rows.floats }),
      },
      {
        ...layout,
        x_first: x?.first ?? 0,
        x_step: x?.step ?? 0,
        x_stride: x && !broadcast ? x.rows.stride : 0,
        repeat,
        factor,
        gate_first: gate?.first ?? 0,
        gate_stride: gate?.rows.stride ?? 0,
      },
      (rows) => [Math.ceil(layout.columns / WORKGROUP), rows, count],
    );
  },

  mix(device, weights, x, y, { inputs, outputs, bias = 0 }) {
    // Both may be the same vectors, because x is read first.
    const IN_PLACE = x.rows.floats === y.rows.floats;
    const layout = layoutOf(y);
    return bound(
      device,
      {
        name: "mix",
        source: mixSource,
        constants: { WORKGROUP, INPUTS: inputs, OUTPUTS: outputs, IN_PLACE },
      },
      {
        weights: weights.floats,
        ...(!IN_PLACE && { x: x.rows.floats }),
        y: y.rows.floats,
      },
      {
        ...layout,
        weights_stride: weights.stride,
        x_first: x.first ?? 0,
        x_step: x.step ?? 0,
        x_stride: x.rows.stride,
        bias,
      },
      (rows) => [Math.ceil(layout.columns / WORKGROUP), rows],
    );
  },

  matchMagnitude(device, y, reference, { count = 1 } = {}) {
    const { constants, snippet } = reduction(device);
    return bound(
      device,
      { name: "match magnitude", source: magnitudeSource, constants, snippets: [snippet] },
      { y: y.rows.floats, reference: reference.rows.floats },
      {
        ...layoutOf(y),
        reference_first: reference.first ?? 0,
        reference_stride: reference.rows.stride,
      },
      (rows) => [rows, count],
    );
  },

  sparsify(device, x, factor) {
    const { constants, snippet } = reduction(device);
    return bound(
      device,
      { name: "sparsify", source: sparsifySource, constants, snippets: [snippet] },
      { x: x.floats },
      { columns: x.columns, stride: x.stride, factor },
      (rows) => [rows],
    );
  },
};
