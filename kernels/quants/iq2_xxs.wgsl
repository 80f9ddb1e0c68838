// IQ2_XXS: vectors of a codebook of 256 with seven stored signs each; a 4-bit scale per 32 weights.
// w_scales: a half per super-block of 256.
// w_quants: a vec2 per group: in x the numbers of its vectors, in y their signs and the scale.
// w_codebook: a vec2 per vector, its components as bytes.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(vec4(w_quants[group], w_scales[group >> 4u], 0u), vec4(0u), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first.xy;
  let d = half_of(packed.first.z, group >> 3u);
  let scale = d * (f32(quants.y >> 28u) * 0.25 + 0.125);
  return Group(
    iq2_xxs_codes(quants),
    iq2_xxs_codes(quants >> vec2(16u, 14u)),
    vec2(scale),
    vec2(0.0),
  );
}

// The codes of the two vectors whose numbers and signs are in the lowest bits.
fn iq2_xxs_codes(quants: vec2<u32>) -> vec4<u32> {
  let first = w_codebook[quants.x & 0xffu];
  let second = w_codebook[(quants.x >> 8u) & 0xffu];
  let signs = complete_signs(quants.y & 0x7fu) | (complete_signs((quants.y >> 7u) & 0x7fu) << 8u);
  return negate_each(vec4(first, second), signs);
}
