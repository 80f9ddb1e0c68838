// Vectors of a codebook with signs of their own: the IQ2 and IQ3 formats. Their shaders' counterpart
// is signs.wgsl.

/** The signs of eight weights, of which GGUF stores seven: the number of negative ones is even. */
export function completeSigns(seven: number): number {
  const folded = seven ^ seven >> 4;
  const parity = 0x6996 >> (folded & 15) & 1; // Bit n: whether n has an odd number of bits.
  return seven | parity << 7;
}

/** Fills in weights: `scale` times each component of a vector, negative where bit i of `signs` is set. */
export function setSigned(
  weights: Float32Array,
  vector: Int8Array,
  scale: number,
  signs: number,
): void {
  for (let i = 0; i < vector.length; i++) {
    weights[i] = (signs >> i & 1 ? -scale : scale) * vector[i];
  }
}
