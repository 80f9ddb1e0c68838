// Operations over neighbouring rows: gather_rows.wgsl and span_attention.wgsl.

import gatherSource from "./gather_rows.wgsl" with { type: "text" };
import scalarsSource from "./scalars.wgsl" with { type: "text" };
import spanAttentionSource from "./span_attention.wgsl" with { type: "text" };
import type { Columns } from "../ops/elementwise.ts";
import { NO_ROW } from "../ops/spans.ts";
import { type Binders, bound } from "./bound.ts";

/** Invocations of a workgroup. Where barriers are expensive, few. */
const [WORKGROUP, SOFTWARE_WORKGROUP] = [64, 8];

/** The parameters of the vectors that are read. */
function placeOf(name: string, { rows, first = 0 }: Columns) {
  return { [`${name}_first`]: first, [`${name}_stride`]: rows.stride };
}

export const spanBinders: Binders<"gatherRows" | "spanAttention"> = {
  gatherRows(device, x, sources, y, { taps }) {
    const quads = x.stride / 4;
    return bound(
      device,
      { name: "gather rows", source: gatherSource, constants: { WORKGROUP, NO_ROW } },
      { x: x.floats, sources, y: y.floats },
      { quads, taps },
      (rows) => [Math.ceil(taps * quads / WORKGROUP), rows],
    );
  },

  spanAttention(device, queries, keys, values, spans, y, options, positions) {
    const { heads, headDim, valueDim, scale, softcap } = options;
    const invocations = device.capabilities.software ? SOFTWARE_WORKGROUP : WORKGROUP;
    return bound(
      device,
      {
        name: "span attention",
        source: spanAttentionSource,
        constants: {
          WORKGROUP: invocations,
          COLUMNS: Math.ceil(valueDim / invocations),
          POSITIONS: positions !== undefined,
          SOFTCAP: softcap !== undefined,
        },
        snippets: [scalarsSource],
      },
      {
        spans,
        queries: queries.rows.floats,
        keys: keys.rows.floats,
        values: values.rows.floats,
        y: y.floats,
        ...(positions && {
          position_queries: positions.queries.rows.floats,
          table: positions.table.floats,
        }),
      },
      {
        head_dim: headDim,
        value_dim: valueDim,
        ...placeOf("query", queries),
        ...placeOf("key", keys),
        ...placeOf("value", values),
        stride: y.stride,
        scale,
        softcap: softcap ?? 0,
        ...(positions && {
          ...placeOf("position", positions.queries),
          table_stride: positions.table.stride,
        }),
      },
      (rows) => [rows, heads],
    );
  },
};
