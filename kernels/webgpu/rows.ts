// Operations on whole rows: embed.wgsl, norm.wgsl, quantize.wgsl, activate.wgsl, rotate_rows.wgsl,
// route.wgsl and combine.wgsl. Products and attention have files of their own.

import activateSource from "./activate.wgsl" with { type: "text" };
import combineSource from "./combine.wgsl" with { type: "text" };
import embedSource from "./embed.wgsl" with { type: "text" };
import normSource from "./norm.wgsl" with { type: "text" };
import quantizeSource from "./quantize.wgsl" with { type: "text" };
import quantizeGroupSource from "./quantize_group.wgsl" with { type: "text" };
import rotateRowsSource from "./rotate_rows.wgsl" with { type: "text" };
import routeSource from "./route.wgsl" with { type: "text" };
import scalarsSource from "./scalars.wgsl" with { type: "text" };
import { GpuError } from "../errors.ts";
import { bufferOf, GROUP, isQuantized, squareQuads } from "../ops/activation.ts";
import { MEDIA_TOKEN } from "../ops/embed.ts";
import { ONE_GROUP, type Routing } from "../ops/experts.ts";
import { PLAN_ROW, SLOT_TOKEN, STEP_ROW } from "../ops/step_records.ts";
import { type Binders, bound } from "./bound.ts";
import { encodeDispatch, type Resource } from "./kernel.ts";
import { bindWeights } from "./matrix.ts";
import { activationFunction, reduction, structs } from "./snippets.ts";
import { weightConstants, weightSnippets } from "./weight_code.ts";

const WORKGROUP = 32;

/** What route.wgsl has room for. */
const MOST_EXPERTS = 512;
const MOST_TOP_K = 32;

type RowOperation =
  | ("embed" | "norm" | "quantize" | "activate")
  | ("rotateRows" | "route" | "combine");

export const rowBinders: Binders<RowOperation> = {
  embed(device, table, step, x, options = {}) {
    const { scale = 1, by = "step", accumulate = false, standIn = false } = options;
    const kernel = device.kernel({
      name: `embed ${table.format.name}`,
      source: embedSource,
      constants: {
        ...weightConstants(table.format),
        WORKGROUP,
        RESOLVE: by === "step",
        BY_POSITION: by === "position",
        ADD: accumulate,
        STAND_IN: standIn,
        MEDIA_TOKEN,
      },
      snippets: [structs(PLAN_ROW, SLOT_TOKEN, STEP_ROW), ...weightSnippets(table.format)],
    });
    const { plan, slots, rows, history, context } = step;
    const buffers: Record<string, Resource> = by === "step"
      ? { plan, slots, rows, history }
      : { rows };
    const dispatches = table.parts.map((part) =>
      kernel.bind(
        { ...buffers, x: x.floats, ...bindWeights(table, part) },
        { groups: x.stride / GROUP, first: part.first, rows: part.rows, context, scale },
      )
    );
    return {
      encode(pass, rows) {
        for (const dispatch of dispatches) encodeDispatch(pass, dispatch, [rows!]);
      },
    };
  },

  norm(device, x, y, norm, options = {}) {
    const { source, vectors, next } = options;
    const { constants, snippet } = reduction(device);
    const { weight, bias } = norm;
    const QUANTIZED_OUTPUT = isQuantized(y);
    const QUANTIZED_NEXT = next !== undefined && isQuantized(next.y);
    const IN_PLACE = !isQuantized(y) && y.floats === x.floats;
    const squares = isQuantized(y) ? undefined : y.squares;
    return bound(
      device,
      {
        name: "norm",
        source: normSource,
        constants: {
          ...constants,
          QUANTIZED_OUTPUT,
          IN_PLACE,
          GATHER: source !== undefined,
          LAYER: norm.kind === "layer",
          WEIGHT: weight !== undefined,
          BIAS: bias !== undefined,
          ADD: Boolean(options.accumulate),
          NEXT: next !== undefined,
          QUANTIZED_NEXT,
          SQUARES: squares !== undefined,
        },
        snippets: QUANTIZED_OUTPUT || QUANTIZED_NEXT ? [snippet, quantizeGroupSource] : [snippet],
      },
      {
        ...(!IN_PLACE && { x: x.floats }),
        ...(weight && { weight }),
        ...(bias && { bias }),
        ...(source && { source }),
        y: bufferOf(y),
        ...(next && { next_weight: next.norm.weight!, next: bufferOf(next.y) }),
      },
      {
        columns: vectors?.columns ?? x.columns,
        width: (vectors?.columns ?? x.stride) / 4,
        first: vectors?.first ?? 0,
        stride: x.stride,
        y_stride: y.stride,
        weight_step: vectors && norm.weightPerVector ? vectors.columns : 0,
        epsilon: norm.epsilon,
        next_epsilon: next?.norm.epsilon ?? 0,
        squares: (squares ?? 0) / 4,
        square_quads: squareQuads(y.columns),
      },
      (rows) => [rows, vectors?.count ?? 1],
    );
  },

  /** For activations that no earlier kernel writes in quantized form. */
  quantize(device, x, y) {
    const groups = x.stride / GROUP;
    return bound(
      device,
      {
        name: "quantize",
        source: quantizeSource,
        constants: { WORKGROUP, SQUARES: x.squares !== undefined },
        snippets: [quantizeGroupSource],
      },
      { x: x.floats, y: y.groups },
      { groups, squares: (x.squares ?? 0) / 4, square_quads: squareQuads(x.columns) },
      (rows) => [Math.ceil(groups / WORKGROUP), rows],
    );
  },

  /**
   * For feed-forward blocks without a gate, or with gate and up projections in two products. If they
   * are one paired matrix, linear.wgsl applies the function.
   */
  activate(device, x, y, { activation, gated }) {
    const groups = y.stride / GROUP;
    const QUANTIZED_OUTPUT = isQuantized(y);
    const { constants, snippet } = activationFunction(activation);
    return bound(
      device,
      {
        name: "activate",
        source: activateSource,
        constants: { ...constants, WORKGROUP, GATED: gated, QUANTIZED_OUTPUT },
        snippets: QUANTIZED_OUTPUT ? [snippet, quantizeGroupSource] : [snippet],
      },
      { x: x.floats, y: bufferOf(y) },
      { groups },
      (rows) => [Math.ceil(groups / WORKGROUP), rows],
    );
  },

  /** By angles of each row, as for images. Positions of text have tables of angles, see rotate.ts. */
  rotateRows(device, x, angles, { heads, headDim, distance }) {
    const WORKGROUP = 64;
    const pairs = headDim / 2;
    return bound(
      device,
      { name: "rotate rows", source: rotateRowsSource, constants: { WORKGROUP } },
      { angles, x: x.floats },
      { heads, pairs, distance, stride: x.stride },
      (rows) => [Math.ceil(heads * pairs / WORKGROUP), rows],
    );
  },

  /** Errors: GpuError for more than 32 of 512 experts, and for groups with too few experts. */
  route(device, logits, routing, options) {
    const { gating, bias, groups = ONE_GROUP, normalize = false, scale = 1 } = options;
    const { experts, topK } = routing;
    const { count, used } = groups;
    checkShape(routing, groups);
    const { constants, snippet } = reduction(device);
    const GROUPED = used < count;
    const PROBABILITIES = gating !== "softmax of selected";
    return bound(
      device,
      {
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
      },
      {
        logits: logits.floats,
        ids: routing.ids,
        weights: routing.weights,
        count: routing.count,
        ...(bias && { bias }),
      },
      { experts, top_k: topK, stride: logits.stride, groups: count, groups_used: used, scale },
      (rows) => [rows],
    );
  },

  combine(device, routing, x, y, { accumulate = false, weighted = true } = {}) {
    const columns = x.stride / 4;
    return bound(
      device,
      {
        name: "combine",
        source: combineSource,
        constants: { WORKGROUP, TOP_K: routing.topK, ACCUMULATE: accumulate, WEIGHTED: weighted },
      },
      { x: x.floats, y: y.floats, ...(weighted && { weights: routing.weights }) },
      { columns, stride: y.stride / 4 },
      (rows) => [Math.ceil(columns / WORKGROUP), rows],
    );
  },
};

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
