// Scale and (positive) minimum of 32 weights from the header of a Q4_K or Q5_K super-block, as it
// is in GGUF: halves d and dmin in x, then eight 6-bit scales and eight 6-bit minima in y, z, w.
// Those of parts 0-3 are the low six bits of the bytes of y and z; those of parts 4-7 have their
// low four bits in the nibbles of w and their high two bits atop the bytes of y and z.
fn k_scales(header: vec4<u32>, part: u32) -> vec2<f32> {
  let shift = (part & 3u) * 8u;
  let late = part > 3u;
  let low = select(header.yz, vec2(header.w), late) >> vec2(shift, shift + select(0u, 4u, late));
  let high = (header.yz >> vec2(shift + 2u)) & vec2(select(0u, 0x30u, late));
  return halves(header.x) * vec2<f32>((low & vec2(select(0x3fu, 0x0fu, late))) | high);
}
