// Table look-ups by token or position, and the beginning of a step, which resolves its rows: the
// binding of embed.wgsl.

import embedSource from "./embed.wgsl" with { type: "text" };
import { type FloatRows, GROUP } from "./activation.ts";
import type { Device } from "./device.ts";
import { type Dispatch, encodeDispatch, type Resource } from "./kernel.ts";
import { weightConstants, weightSnippets } from "./linear.ts";
import { bindWeights, type Matrix } from "./matrix.ts";

/**
 * What stands in place of a token for the first row of the step's images, plus i for row i: more than
 * any token.
 */
export const IMAGE_TOKEN = 2 ** 30;

/** The buffers that carry a step's rows; see embed.wgsl for their layouts. */
export interface StepRows {
  /**
   * Host-written rows: token, position, slot, and twice the lag of the rotary position behind it,
   * plus 1 to take the first two from the slot.
   */
  plan: GPUBuffer;
  /** Token and position of each slot, left by the sampler. */
  slots: GPUBuffer;
  /** The plan with slots resolved: token, position, slot, rotary position. */
  rows: GPUBuffer;
  /** Token at each position of each slot: [slots, context]. */
  history: GPUBuffer;
  /** Positions per slot. */
  context: number;
}

const WORKGROUP = 32;

/** How rows are looked up. */
export interface EmbedOptions {
  /** Default 1. */
  scale?: number;
  /** "step": by token, and resolves the rows of the step first. Default. */
  by?: "step" | "token" | "position";
  /** Adds to x instead of replacing it. */
  accumulate?: boolean;
  /** Whether rows of images read what token 0 reads. Default: their x is left alone. */
  standIn?: boolean;
}

/** x[row] = scale * table[token or position of row]. */
export class Embed {
  readonly #dispatches: Dispatch[];

  /** @param table [vocabulary, columns] @param x [rows, columns] */
  constructor(
    device: Device,
    table: Matrix,
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
      snippets: weightSnippets(table.format),
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

/** The look-up in plain loops: table [vocabulary, columns]. */
export function embedReference(
  table: Float32Array,
  tokens: Uint32Array,
  columns: number,
): Float32Array {
  const x = new Float32Array(tokens.length * columns);
  tokens.forEach((token, row) => {
    x.set(table.subarray(token * columns, (token + 1) * columns), row * columns);
  });
  return x;
}
