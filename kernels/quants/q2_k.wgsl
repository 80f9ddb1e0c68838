// Q2_K: 2-bit codes in super-blocks of 256; a 4-bit scale and a 4-bit minimum per 16 weights.
// w_scales: a byte per 16 weights, the scale in its low nibble and the minimum above.
// w_quants: a vec2 per group; bits 2i, 2i+1 of byte k of x are code 8i+k's, of y code 8i+4+k's.
// w_factors: a word per super-block, the halves d and dmin.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(
    vec4(w_quants[group], w_factors[group >> 3u], w_scales[group >> 1u]),
    vec4(0u),
    vec4(0u),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first.xy;
  let factors = halves(packed.first.z);
  let scales = unpack4xU8(packed.first.w >> ((group & 1u) * 16u)).xy;
  return Group(
    vec4(quants, quants >> vec2(2u)) & vec4(0x03030303u),
    vec4(quants >> vec2(4u), quants >> vec2(6u)) & vec4(0x03030303u),
    factors.x * vec2<f32>(scales & vec2(15u)),
    -factors.y * vec2<f32>(scales >> vec2(4u)),
  );
}
