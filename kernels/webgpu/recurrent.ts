// Operations of layers that keep a state from token to token: convolution.wgsl, scan.wgsl, delta.wgsl
// and gated_norm.wgsl in recurrent/.

import convolutionSource from "./recurrent/convolution.wgsl" with { type: "text" };
import deltaSource from "./recurrent/delta.wgsl" with { type: "text" };
import gatedNormSource from "./recurrent/gated_norm.wgsl" with { type: "text" };
import scanSource from "./recurrent/scan.wgsl" with { type: "text" };
import segmentSource from "./recurrent/segment.wgsl" with { type: "text" };
import scalarsSource from "./scalars.wgsl" with { type: "text" };
import type { StepSegments } from "../ops/recurrent.ts";
import { STEP_ROW, STEP_SEGMENT } from "../ops/step_records.ts";
import { type Binders, bound } from "./bound.ts";
import { reduction, structs } from "./snippets.ts";

export const recurrentBinders: Binders<"convolution" | "scan" | "deltaRule" | "gatedNorm"> = {
  convolution(device, x, y, step, state, { width, weight, bias, silu, gates }) {
    const WORKGROUP = 64;
    /** Rows of a segment per invocation. */
    const SHARE = 32;
    const { SEGMENTS, bindings } = bindSegments(step);
    return bound(
      device,
      {
        name: "causal convolution",
        source: convolutionSource,
        constants: {
          WORKGROUP,
          SEGMENTS,
          WIDTH: width,
          HISTORY: width - 1,
          BIAS: bias !== undefined,
          SILU: Boolean(silu),
          GATED: gates !== undefined,
        },
        snippets: [SEGMENT_SNIPPET, scalarsSource],
      },
      { ...bindings, x: x.rows.floats, weight, ...(bias && { bias }), state, y: y.floats },
      {
        channels: y.columns,
        stride: x.rows.stride,
        first: x.first,
        input_gate: gates?.input ?? 0,
        output_gate: gates?.output ?? 0,
        y_stride: y.stride,
      },
      (segments, longest = 1) => [
        Math.ceil(y.stride / WORKGROUP),
        segments,
        Math.ceil(longest / SHARE),
      ],
    );
  },

  scan(device, { x, dt, b, c, z }, y, step, state, weights, { channels, heads, groups, states }) {
    const constants = carryState(states, groups === 1 ? undefined : channels / groups);
    const { SEGMENTS, bindings } = bindSegments(step);
    const workgroups = Math.ceil(y.stride * constants.TEAM / constants.WORKGROUP);
    return bound(
      device,
      {
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
      },
      {
        ...bindings,
        x: x.rows.floats,
        dt: dt.rows.floats,
        bc: b.rows.floats,
        ...(z && { z: z.rows.floats }),
        a: weights.a,
        d: weights.d,
        bias: weights.bias,
        state,
        y: y.floats,
      },
      {
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
      },
      (segments) => [workgroups, segments],
    );
  },

  /** Of Qwen3-Next and Qwen3.5, and of Kimi Linear. */
  deltaRule(device, { qkv, alpha, beta }, y, step, state, weights, shape) {
    const { heads, keyHeads, dim, tiledHeads } = shape;
    const constants = carryState(dim, dim);
    const { SEGMENTS, bindings } = bindSegments(step);
    const workgroups = heads * dim * constants.TEAM / constants.WORKGROUP;
    return bound(
      device,
      {
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
      },
      {
        ...bindings,
        qkv: qkv.rows.floats,
        alpha: alpha.rows.floats,
        beta: beta.rows.floats,
        a: weights.a,
        bias: weights.bias,
        state,
        y: y.floats,
      },
      {
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
      },
      (segments) => [workgroups, segments],
    );
  },

  /** Unlike `norm`, it takes columns from anywhere in wider rows. */
  gatedNorm(device, x, y, { groups, weight, sharedWeight, epsilon, gate }) {
    // A group is one head or a few.
    const { constants, snippet } = reduction(device, 64);
    const columns = y.columns / groups;
    return bound(
      device,
      {
        name: "gated norm",
        source: gatedNormSource,
        constants: {
          ...constants,
          GATED: gate !== undefined,
          SIGMOID: gate?.activation === "sigmoid",
        },
        snippets: [snippet, scalarsSource],
      },
      { x: x.rows.floats, ...(gate && { z: gate.z.rows.floats }), weight, y: y.floats },
      {
        columns,
        groups,
        weight_step: sharedWeight ? 0 : columns,
        x_stride: x.rows.stride,
        x_first: x.first,
        z_stride: gate?.z.rows.stride ?? 0,
        z_first: gate?.z.first ?? 0,
        y_stride: y.stride,
        epsilon,
      },
      (rows) => [groups, rows],
    );
  },
};

/** The WGSL that recurrent kernels share. */
const SEGMENT_SNIPPET = structs(STEP_ROW, STEP_SEGMENT) + segmentSource;

/** Bytes of the largest uniform buffer that every device has. */
const UNIFORM_BYTES = 65536;

/** The constant and the bindings of segment.wgsl. */
function bindSegments({ rows, segments }: StepSegments) {
  const size = Math.min(segments.size, UNIFORM_BYTES);
  return {
    SEGMENTS: size / STEP_SEGMENT.bytes,
    bindings: { rows, segments: { buffer: segments, size } },
  };
}

/** Invocations of a workgroup that keeps a state. */
const STATE_WORKGROUP = 128;

/** Floats of a row of the state that one invocation keeps in registers. */
const CARRIED = 32;

/**
 * Floats of each input that are staged at a time. With the rest, less than the 16 KiB of workgroup
 * memory that all devices have.
 */
const STAGED = 1024;

/**
 * Constants of a kernel whose workgroup keeps WORKGROUP / TEAM rows of a state with `columns`
 * floats each. Each invocation has QUADS quads, and a step's rows are processed TILE at a time.
 * Rows of a state may only share a workgroup within the same `unit` of neighbouring rows.
 */
function carryState(columns: number, unit?: number): Record<string, number> {
  let team = 1;
  while (columns / team > CARRIED && columns % (8 * team) === 0) team *= 2;
  let rows = STATE_WORKGROUP / team;
  while (unit !== undefined && unit % rows !== 0) rows /= 2;
  return {
    WORKGROUP: rows * team,
    TEAM: team,
    QUADS: columns / 4 / team,
    TILE: Math.max(1, Math.min(8, Math.floor(STAGED / columns))),
  };
}
