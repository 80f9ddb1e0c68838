// RMSNorm by groups with the gate of a recurrent layer: the binding of gated_norm.wgsl. Unlike
// ../norm.ts it takes columns from anywhere in wider rows.

import gatedNormSource from "./gated_norm.wgsl" with { type: "text" };
import scalarsSource from "../scalars.wgsl" with { type: "text" };
import type { FloatRows } from "../../ops/activation.ts";
import type { GatedNormOptions } from "../../ops/recurrent/gated_norm.ts";
import type { ColumnRange } from "../../ops/recurrent/segments.ts";
import type { Gpu } from "../gpu.ts";
import { type Dispatch, encodeDispatch } from "../kernel.ts";
import { reduction } from "../workgroup.ts";

/** Most invocations per group. A group is one head or a few. */
const WORKGROUP = 64;

/** y = rmsNorm(x) * weight, group by group, gated. */
export class GatedNorm {
  readonly #dispatch: Dispatch;
  readonly #groups: number;

  /** @param x as many columns as y has @param y [rows, groups, columns of a group], not x's rows */
  constructor(device: Gpu, x: ColumnRange, y: FloatRows, options: GatedNormOptions) {
    const { groups, weight, sharedWeight, epsilon, gate } = options;
    const { constants, snippet } = reduction(device, WORKGROUP);
    const columns = y.columns / groups;
    this.#groups = groups;
    this.#dispatch = device.kernel({
      name: "gated norm",
      source: gatedNormSource,
      constants: {
        ...constants,
        GATED: gate !== undefined,
        SIGMOID: gate?.activation === "sigmoid",
      },
      snippets: [snippet, scalarsSource],
    }).bind({
      x: x.rows.floats,
      ...(gate ? { z: gate.z.rows.floats } : {}),
      weight,
      y: y.floats,
    }, {
      columns,
      groups,
      weight_step: sharedWeight ? 0 : columns,
      x_stride: x.rows.stride,
      x_first: x.first,
      z_stride: gate?.z.rows.stride ?? 0,
      z_first: gate?.z.first ?? 0,
      y_stride: y.stride,
      epsilon,
    });
  }

  /** Records the first `rows` rows. */
  encode(pass: GPUComputePassEncoder, rows: number): void {
    encodeDispatch(pass, this.#dispatch, [this.#groups, rows]);
  }
}
