// RMSNorm by groups with the gate of a recurrent layer, and its plain reference. Unlike ../norm.ts
// it takes columns from anywhere in wider rows.

import type { Buffer } from "../../operation.ts";
import { type ColumnRange, sigmoid } from "./segments.ts";

/** The options of a gated norm. */
export interface GatedNormOptions {
  /** Groups of a row, each normalized by itself. */
  groups: number;
  /** Weights: [groups, columns of a group], or [columns of a group] with `sharedWeight`. */
  weight: Buffer;
  sharedWeight?: boolean;
  epsilon: number;
  /** The gate, whose activation multiplies the result. */
  gate?: GatedNormGate & { z: ColumnRange };
}

/** The activation of a gate. */
export interface GatedNormGate {
  activation: "silu" | "sigmoid";
}

/** The plain reference, in f64: x and z [rows, groups, columns], weight as in the options. */
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
