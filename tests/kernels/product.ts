// What tests of matrix products share: activations that int8 holds exactly, and how far from the
// plain product a kernel may be.

import { gateReference, GROUP, type QuantFormat } from "../../kernels/mod.ts";
import { randomFloats } from "../numbers.ts";
import { ULP } from "./close.ts";

/** Values and the greatest absolute error of each. */
export interface Approximate {
  values: Float32Array;
  errors: Float32Array;
}

/** Values that int8 groups hold without loss: whole multiples of a power of two, peak 127. */
export function activations(tokens: number, columns: number): Float32Array {
  return randomFloats(tokens * columns, 7).map((value, i) => {
    const column = i % columns;
    const unit = 2 ** (Math.floor(i / GROUP) % 5 - 5);
    return unit * (column % GROUP === 0 ? -127 : Math.round(value * 15));
  });
}

/**
 * Units in the last place of the sum of magnitudes: a sum of `columns` products, each of weight,
 * scale and code. Of a format with a minimum, the terms of scale and of minimum can each be some
 * times the weight: random codes make that few.
 */
export function productUlps(format: QuantFormat, columns: number): number {
  return (columns / 2 + 8) * (format.hasMinimum ? 8 : 1);
}

/** silu(gate) * up of [tokens, 2, rows], and its error: silu has a slope of at most 1.1. */
export function swiglu(product: Approximate, rows: number): Approximate {
  const side = (values: Float32Array, side: number) =>
    values.filter((_, i) => Math.floor(i / rows) % 2 === side);
  const [gate, up] = [side(product.values, 0), side(product.values, 1)];
  const [gateErrors, upErrors] = [side(product.errors, 0), side(product.errors, 1)];
  const values = gate.map((value, i) => gateReference("silu", value, up[i]));
  return {
    values,
    errors: values.map((value, i) =>
      1.1 * gateErrors[i] * (Math.abs(up[i]) + upErrors[i]) + Math.abs(gate[i]) * upErrors[i] +
      (8 + 2 * Math.abs(gate[i])) * ULP * Math.abs(value) + 1e-36
    ),
  };
}
