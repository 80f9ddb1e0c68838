// The signs of codebook vectors in the IQ2 and IQ3 formats. signs.wgsl is the same for shaders.

/**
 * The signs of eight weights from the seven that GGUF stores. The number of negative ones is even.
 */
export function completeSigns(seven: number): number {
  const folded = seven ^ seven >> 4;
  const parity = 0x6996 >> (folded & 15) & 1; // bit n: whether n has an odd number of bits
  return seven | parity << 7;
}

/**
 * Writes weights: `scale` times each component of a vector, negative where bit i of `signs` is set.
 */
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
