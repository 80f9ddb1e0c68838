// IQ3_XXS: vectors of a codebook of 256, every two with seven stored signs; a 4-bit scale per 32
// weights.
// w_scales: a half per super-block of 256.
// w_quants: 24 words per super-block: two per group with the numbers of its vectors, then one per
// group with their signs and the scale.
fn load_group(group: u32) -> Group {
  let block = (group >> 3u) * 24u;
  let numbers = block + 2u * (group & 7u);
  let packed = w_quants[block + 16u + (group & 7u)];
  let d = half_of(w_scales[group >> 4u], group >> 3u);
  return Group(
    iq3_codes(unpack4xU8(w_quants[numbers]), iq3_xxs_signs(packed)),
    iq3_codes(unpack4xU8(w_quants[numbers + 1u]), iq3_xxs_signs(packed >> 14u)),
    vec2(d * (f32(packed >> 28u) * 0.5 + 0.25)),
    vec2(0.0),
  );
}

fn iq3_xxs_signs(packed: u32) -> u32 {
  return complete_signs(packed & 0x7fu) | (complete_signs((packed >> 7u) & 0x7fu) << 8u);
}
