// IQ3_XXS: vectors of a codebook of 256, every two with seven stored signs; a 4-bit scale per 32
// weights.
// w_scales: a half per super-block of 256.
// w_quants: 24 words per super-block: two per group with the numbers of its vectors, then one per
// group with their signs and the scale.
fn fetch_group(group: u32) -> PackedGroup {
  let block = (group >> 3u) * 24u;
  let numbers = block + 2u * (group & 7u);
  return PackedGroup(
    vec4(
      w_quants[numbers],
      w_quants[numbers + 1u],
      w_quants[block + 16u + (group & 7u)],
      w_scales[group >> 4u],
    ),
    vec4(0u),
    vec4(0u),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let signs = packed.first.z;
  let d = half_of(packed.first.w, group >> 3u);
  return Group(
    iq3_codes(unpack4xU8(packed.first.x), iq3_xxs_signs(signs)),
    iq3_codes(unpack4xU8(packed.first.y), iq3_xxs_signs(signs >> 14u)),
    vec2(d * (f32(signs >> 28u) * 0.5 + 0.25)),
    vec2(0.0),
  );
}

fn iq3_xxs_signs(packed: u32) -> u32 {
  return complete_signs(packed & 0x7fu) | (complete_signs((packed >> 7u) & 0x7fu) << 8u);
}
