// The gated delta rule of Qwen3-Next and Qwen3.5, and of Kimi Linear: the binding of delta.wgsl.

import deltaSource from "./delta.wgsl" with { type: "text" };
import scalarsSource from "../scalars.wgsl" with { type: "text" };
import type { Buffer } from "../../operation.ts";
import type { FloatRows } from "../../ops/activation.ts";
import { type DeltaInputs, type DeltaShape, type DeltaWeights } from "../../ops/recurrent/delta.ts";
import type { StepSegments } from "../../ops/recurrent/segments.ts";
import type { Gpu } from "../gpu.ts";
import { type Dispatch, encodeDispatch } from "../kernel.ts";
import { bindSegments, carryState, SEGMENT_SNIPPET } from "./segments.ts";

/** S = S exp(g) + beta (v - S exp(g) k) k^T; y = S q, head by head. */
export class GatedDeltaRule {
  readonly #dispatch: Dispatch;
  readonly #workgroups: number;

  /** @param y [rows, heads, dim] @param state of {@linkcode deltaStateBytes} */
  constructor(
    device: Gpu,
    { qkv, alpha, beta }: DeltaInputs,
    y: FloatRows,
    step: StepSegments,
    state: Buffer,
    weights: DeltaWeights,
    { heads, keyHeads, dim, tiledHeads }: DeltaShape,
  ) {
    const constants = carryState(dim, dim);
    const { SEGMENTS, bindings } = bindSegments(step);
    this.#workgroups = heads * dim * constants.TEAM / constants.WORKGROUP;
    this.#dispatch = device.kernel({
      name: "gated delta rule",
      source: deltaSource,
      constants: {
        ...constants,
        SEGMENTS,
        SPLIT: constants.TEAM > 1,
        DIM: dim,
        VECTOR_GATE: weights.vectorGate,
      },
      snippets: [SEGMENT_SNIPPET, scalarsSource],
    }).bind({
      ...bindings,
      qkv: qkv.rows.floats,
      alpha: alpha.rows.floats,
      beta: beta.rows.floats,
      a: weights.a,
      bias: weights.bias,
      state,
      y: y.floats,
    }, {
      heads,
      key_heads: keyHeads,
      key_share: tiledHeads ? 1 : heads / keyHeads,
      stride: qkv.rows.stride,
      q_first: qkv.q,
      k_first: qkv.k,
      v_first: qkv.v,
      alpha_stride: alpha.rows.stride,
      alpha_first: alpha.first,
      beta_stride: beta.rows.stride,
      beta_first: beta.first,
      y_stride: y.stride,
      epsilon: weights.epsilon,
    });
  }

  /** Records `segments` segments. */
  encode(pass: GPUComputePassEncoder, segments: number): void {
    encodeDispatch(pass, this.#dispatch, [this.#workgroups, segments]);
  }
}
