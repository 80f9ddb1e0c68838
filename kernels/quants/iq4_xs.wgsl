// IQ4_XS: 4-bit codes for sixteen values in super-blocks of 256; a 6-bit scale per 32 weights.
// w_scales: a vec2 per super-block: in x the half d, then two high bits per scale; in y the low ones.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], vec4(w_scales[group >> 3u], vec2(0u)), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let part = group & 7u;
  let scales = packed.second.xy;
  let low = (scales.y >> (4u * part)) & 0xfu;
  let high = (scales.x >> (16u + 2u * part)) & 3u;
  let step = f32(low | (high << 4u)) - 32.0;
  return iq4_group(packed.first, halves(scales.x).x * step);
}
