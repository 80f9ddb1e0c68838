// RMSNorm by groups with the gate of a recurrent layer: the binding of gated_norm.wgsl. Unlike
// ../norm.ts it takes columns from anywhere in wider rows.

import gatedNormSource from "./gated_norm.wgsl" with { type: "text" };
import scalarsSource from "./scalars.wgsl" with { type: "text" };
import type { FloatRows } from "../activation.ts";
import type { Device } from "../device.ts";
import { type Dispatch, encodeDispatch } from "../kernel.ts";
import { reduction } from "../workgroup.ts";
import { type ColumnRange, sigmoid } from "./segments.ts";

/** A gated norm as a model has it. */
export interface GatedNormOptions {
  /** Groups in a row, each normalized by itself. */
  groups: number;
  /** [groups, columns of a group], or [columns of a group] if `sharedWeight`. */
  weight: GPUBuffer;
  sharedWeight?: boolean;
  epsilon: number;
  /** What multiplies the result. */
  gate?: GatedNormGate & { z: ColumnRange };
}

/** How a gate acts. */
export interface GatedNormGate {
  activation: "silu" | "sigmoid";
}

/** Invocations for a group, which is a head or a few. */
const WORKGROUP = 64;

/** y = rmsNorm(x) * weight, group by group, gated. */
export class GatedNorm {
  readonly #dispatch: Dispatch;
  readonly #groups: number;

  /** @param x as many columns as y has @param y [rows, groups, columns of a group], not x's rows */
  constructor(device: Device, x: ColumnRange, y: FloatRows, options: GatedNormOptions) {
    const { groups, weight, sharedWeight, epsilon, gate } = options;
    const { constants, snippet } = reduction(device);
    const columns = y.columns / groups;
    this.#groups = groups;
    this.#dispatch = device.kernel({
      name: "gated norm",
      source: gatedNormSource,
      constants: {
        ...constants,
        WORKGROUP: Math.min(WORKGROUP, constants.WORKGROUP),
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

/** The norm in plain loops, in f64: x and z [rows, groups, columns], weight as in the options. */
export function gatedNormReference(
  x: Float32Array,
  columns: number,
  weight: Float32Array,
  epsilon: number,
  gate?: GatedNormGate & { z: Float32Array },
): Float32Array {
  const gates = Float64Array.from(gate?.z ?? [], (value) => {
    return gate?.activation === "sigmoid" ? sigmoid(value) : value * sigmoid(value);
  });
  const y = new Float32Array(x.length);
  for (let first = 0, group = 0; first < x.length; first += columns, group++) {
    let squares = 0;
    for (let k = 0; k < columns; k++) squares += x[first + k] ** 2;
    const scale = 1 / Math.sqrt(squares / columns + epsilon);
    for (let k = 0; k < columns; k++) {
      const factor = weight[(group * columns + k) % weight.length];
      y[first + k] = x[first + k] * scale * factor * (gates[first + k] ?? 1);
    }
  }
  return y;
}
