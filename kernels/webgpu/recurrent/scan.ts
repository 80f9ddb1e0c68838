// The selective scan of Mamba and Mamba 2: the binding of scan.wgsl.

import scalarsSource from "../scalars.wgsl" with { type: "text" };
import scanSource from "./scan.wgsl" with { type: "text" };
import type { Buffer } from "../../operation.ts";
import type { FloatRows } from "../../ops/activation.ts";
import { type ScanInputs, type ScanShape, type ScanWeights } from "../../ops/recurrent/scan.ts";
import type { StepSegments } from "../../ops/recurrent/segments.ts";
import type { Gpu } from "../gpu.ts";
import { type Dispatch, encodeDispatch } from "../kernel.ts";
import { bindSegments, carryState, SEGMENT_SNIPPET } from "./segments.ts";

/** h = exp(dt a) h + dt b x; y = c . h + d x, channel by channel. */
export class SelectiveScan {
  readonly #dispatch: Dispatch;
  readonly #workgroups: number;

  /** @param y [rows, channels] @param state of {@linkcode scanStateBytes} */
  constructor(
    device: Gpu,
    inputs: ScanInputs,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    weights: ScanWeights,
    shape: ScanShape,
  ) {
    const { x, dt, b, c, z } = inputs;
    const { channels, heads, groups, states } = shape;
    const constants = carryState(states, groups === 1 ? undefined : channels / groups);
    const { SEGMENTS, bindings } = bindSegments(step);
    this.#workgroups = Math.ceil(y.stride * constants.TEAM / constants.WORKGROUP);
    this.#dispatch = device.kernel({
      name: "selective scan",
      source: scanSource,
      constants: {
        ...constants,
        SEGMENTS,
        HEAD_QUADS: Math.ceil(heads / 4),
        SCALAR_DECAY: weights.scalarDecay,
        GATED: z !== undefined,
      },
      snippets: [SEGMENT_SNIPPET, scalarsSource],
    }).bind({
      ...bindings,
      x: x.rows.floats,
      dt: dt.rows.floats,
      bc: b.rows.floats,
      ...(z ? { z: z.rows.floats } : {}),
      a: weights.a,
      d: weights.d,
      bias: weights.bias,
      state,
      y: y.floats,
    }, {
      channels,
      head_channels: channels / heads,
      group_channels: channels / groups,
      x_stride: x.rows.stride,
      x_first: x.first,
      dt_stride: dt.rows.stride,
      dt_first: dt.first,
      bc_stride: b.rows.stride,
      b_first: b.first,
      c_first: c.first,
      z_stride: z?.rows.stride ?? 0,
      z_first: z?.first ?? 0,
      y_stride: y.stride,
    });
  }

  /** Records `segments` segments. */
  encode(pass: GPUComputePassEncoder, segments: number): void {
    encodeDispatch(pass, this.#dispatch, [this.#workgroups, segments]);
  }
}
