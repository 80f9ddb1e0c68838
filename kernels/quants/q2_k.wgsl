// Q2_K: 2-bit codes in super-blocks of 256; a 4-bit scale and a 4-bit minimum per 16 weights.
// w_scales: a byte per 16 weights, the scale in its low nibble and the minimum above.
// w_quants: a vec2 per group; bits 2i, 2i+1 of byte k of x are code 8i+k's, of y code 8i+4+k's.
// w_factors: a word per super-block, the halves d and dmin.
fn load_group(group: u32) -> Group {
  let quants = w_quants[group];
  let factors = halves(w_factors[group >> 3u]);
  let scales = unpack4xU8(w_scales[group >> 1u] >> ((group & 1u) * 16u)).xy;
  return Group(
    vec4(quants, quants >> vec2(2u)) & vec4(0x03030303u),
    vec4(quants >> vec2(4u), quants >> vec2(6u)) & vec4(0x03030303u),
    factors.x * vec2<f32>(scales & vec2(15u)),
    -factors.y * vec2<f32>(scales >> vec2(4u)),
  );
}
