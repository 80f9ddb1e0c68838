// Weights as floats of three widths: conversion to and from single precision, rounded to the
// nearest, ties to even. BF16 is the upper half of single precision.

/** The formats from which weights can be quantized. */
export type FloatType = "F32" | "F16" | "BF16";

/** Bytes per weight. */
export const FLOAT_BYTES: Readonly<Record<FloatType, number>> = { F32: 4, F16: 2, BF16: 2 };

/** Whether it is the name of a float format. */
export function isFloatType(name: string): name is FloatType {
  return name in FLOAT_BYTES;
}

/** Decodes weights, as many as `target` has. @param source bytes at an even address */
export function readFloats(type: FloatType, source: Uint8Array, target: Float32Array): void {
  const { buffer, byteOffset } = source;
  if (type === "F32") {
    new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(
      source.subarray(0, target.byteLength),
    );
  } else if (type === "F16") {
    target.set(new Float16Array(buffer, byteOffset, target.length));
  } else {
    const halves = new Uint16Array(buffer, byteOffset, target.length);
    const words = new Uint32Array(target.buffer, target.byteOffset, target.length);
    for (let i = 0; i < halves.length; i++) words[i] = halves[i] << 16;
  }
}

/** Writes single precision. */
export function f32(weights: Float32Array, target: Uint8Array): void {
  target.set(new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength));
}

/** Writes half precision. */
export function f16(weights: Float32Array, target: Uint8Array): void {
  new Float16Array(target.buffer, target.byteOffset, weights.length).set(weights);
}

/** Writes upper halves of single precision. */
export function bf16(weights: Float32Array, target: Uint8Array): void {
  const words = new Uint32Array(weights.buffer, weights.byteOffset, weights.length);
  const halves = new Uint16Array(target.buffer, target.byteOffset, weights.length);
  // Adding almost half a unit, or exactly half of one if the upper half is odd, rounds to nearest
  // even.
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    halves[i] = (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
}
