// Table look-ups by token or position, and the beginning of a step, which resolves its rows: the
// binding of embed.wgsl.

import embedSource from "./embed.wgsl" with { type: "text" };
import { type FloatRows, GROUP } from "../ops/activation.ts";
import { type EmbedOptions, IMAGE_TOKEN, type StepRows } from "../ops/embed.ts";
import { PLAN_ROW, SLOT_TOKEN, STEP_ROW } from "../ops/step_records.ts";
import type { Gpu } from "./gpu.ts";
import { type Dispatch, encodeDispatch, type Resource } from "./kernel.ts";
import { weightConstants, weightSnippets } from "./weight_code.ts";
import { bindWeights, type GpuMatrix } from "./matrix.ts";
import { structs } from "./structs.ts";

const WORKGROUP = 32;

/** x[row] = scale * table[token or position of row]. */
export class Embed {
  readonly #dispatches: Dispatch[];

  /** @param table [vocabulary, columns] @param x [rows, columns] */
  constructor(
    device: Gpu,
    table: GpuMatrix,
    step: StepRows,
    x: FloatRows,
    { scale = 1, by = "step", accumulate = false, standIn = false }: EmbedOptions = {},
  ) {
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
        IMAGE_TOKEN,
      },
      snippets: [structs(PLAN_ROW, SLOT_TOKEN, STEP_ROW), ...weightSnippets(table.format)],
    });
    const { plan, slots, rows, history, context } = step;
    const bindings: Record<string, Resource> = by === "step"
      ? { plan, slots, rows, history }
      : { rows };
    this.#dispatches = table.parts.map((part) =>
      kernel.bind(
        { ...bindings, x: x.floats, ...bindWeights(table, part) },
        { groups: x.stride / GROUP, first: part.first, rows: part.rows, context, scale },
      )
    );
  }

  /** Records the first `rows` rows of the plan. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    for (const dispatch of this.#dispatches) encodeDispatch(pass, dispatch, [rows]);
  }
}
