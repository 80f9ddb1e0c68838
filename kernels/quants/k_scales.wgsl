// Scale and (positive) minimum of 32 weights from the header of a Q4_K or Q5_K super-block, as it
// is in GGUF: halves d and dmin in x, then eight 6-bit scales and eight 6-bit minima in y, z, w.
// Those of parts 0-3 are the low six bits of the bytes of y and z; those of parts 4-7 have their
// low four bits in the nibbles of w and their high two bits atop the bytes of y and z.
fn k_scales(header: vec4<u32>, part: u32) -> vec2<f32> {
  let bytes = header.yzw >> vec3((part & 3u) * 8u);
  let whole = bytes.xy & vec2(0x3fu);
  let split = (vec2(bytes.z, bytes.z >> 4u) & vec2(0x0fu)) | ((bytes.xy >> vec2(2u)) & vec2(0x30u));
  return halves(header.x) * vec2<f32>(select(whole, split, part > 3u));
}

