// Q8_0: signed 8-bit codes, one scale per 32 weights.
// w_scales: a half per group.
// w_quants: two vec4 per group, codes 0-15 in the first and 16-31 in the second.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(
    w_quants[2u * group],
    w_quants[2u * group + 1u],
    vec4(w_scales[group >> 1u], vec3(0u)),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let scale = half_of(packed.third.x, group);
  return Group(packed.first, packed.second, vec2(scale), vec2(0.0));
}
