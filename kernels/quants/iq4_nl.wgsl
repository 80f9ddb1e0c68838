// IQ4_NL: 4-bit codes for sixteen values, one scale per 32 weights.
// w_scales: a half per group.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], vec4(w_scales[group >> 1u], vec3(0u)), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  return iq4_group(packed.first, half_of(packed.second.x, group));
}
