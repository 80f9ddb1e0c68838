// IQ2_XS: vectors of a codebook of 512 with seven stored signs each; a 4-bit scale per 16 weights.
// w_scales: a half per super-block of 256.
// w_quants: 18 words per super-block: two per group, a vector's number in nine bits and its signs in
// seven; then in two a byte per group, its scales.
// w_codebook: a vec2 per vector, its components as bytes.
fn fetch_group(group: u32) -> PackedGroup {
  let part = group & 7u;
  let block = (group >> 3u) * 18u;
  return PackedGroup(
    vec4(
      w_quants[block + 2u * part],
      w_quants[block + 2u * part + 1u],
      w_quants[block + 16u + (part >> 2u)],
      w_scales[group >> 4u],
    ),
    vec4(0u),
    vec4(0u),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let part = group & 7u;
  let d = half_of(packed.first.w, group >> 3u);
  let steps = packed.first.z >> ((part & 3u) * 8u);
  return Group(
    iq2_xs_codes(packed.first.x),
    iq2_xs_codes(packed.first.y),
    d * (vec2<f32>(vec2(steps, steps >> 4u) & vec2(0xfu)) * 0.25 + 0.125),
    vec2(0.0),
  );
}

fn iq2_xs_codes(quants: u32) -> vec4<u32> {
  let first = w_codebook[quants & 0x1ffu];
  let second = w_codebook[(quants >> 16u) & 0x1ffu];
  let signs = complete_signs((quants >> 9u) & 0x7fu) | (complete_signs(quants >> 25u) << 8u);
  return negate_each(vec4(first, second), signs);
}
