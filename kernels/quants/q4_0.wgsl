// Q4_0: 4-bit codes with an offset of 8, one scale per 32 weights.
// w_scales: a half per group.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], vec4(w_scales[group >> 1u], vec3(0u)), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first;
  let scale = half_of(packed.second.x, group);
  return Group(
    centred(low_nibbles(quants)),
    centred(high_nibbles(quants)),
    vec2(scale),
    vec2(0.0),
  );
}
