// Q2_0: 2-bit codes with an offset of 1, one scale per 64 weights.
// w_scales: a half per two groups.
// w_quants: a vec2 per group; bits 2j, 2j+1 of byte k of x are code 4j+k's, of y code 16+4j+k's.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(vec4(w_quants[group], w_scales[group >> 2u], 0u), vec4(0u), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first.xy;
  let scale = half_of(packed.first.z, group >> 1u);
  let shifts = vec4(0u, 2u, 4u, 6u);
  return Group(
    centred((vec4(quants.x) >> shifts) & vec4(0x03030303u)),
    centred((vec4(quants.y) >> shifts) & vec4(0x03030303u)),
    vec2(scale),
    vec2(0.0),
  );
}
