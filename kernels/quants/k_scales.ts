// The scales of Q4_K and Q5_K super-blocks: eight 6-bit scales and eight 6-bit minima in 12 bytes,
// each with a half-precision factor for all eight. k_scales.wgsl is the same for shaders.

/** Scale and minimum of part 0 to 7 (32 weights each) of a Q4_K or Q5_K super-block. */
export function kScales(block: DataView, part: number): { scale: number; minimum: number } {
  const packed = (index: number) => block.getUint8(4 + index);
  let scale = packed(part) & 63;
  let minimum = packed(part + 4) & 63;
  if (part >= 4) {
    scale = (packed(part + 4) & 15) | ((packed(part - 4) >> 6) << 4);
    minimum = (packed(part + 4) >> 4) | ((packed(part) >> 6) << 4);
  }
  return {
    scale: block.getFloat16(0, true) * scale,
    minimum: block.getFloat16(2, true) * minimum,
  };
}
