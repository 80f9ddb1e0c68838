// TQ2_0: 2-bit codes with an offset of 1, one scale per 256 weights.
// w_quants: a vec2 per group; bits 2i, 2i+1 of byte k of x are code 8i+k's, of y code 8i+4+k's.
// w_scales: a half per super-block.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(vec4(w_quants[group], w_scales[group >> 4u], 0u), vec4(0u), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first.xy;
  let scale = half_of(packed.first.z, group >> 3u);
  return Group(
    centred(vec4(quants, quants >> vec2(2u)) & vec4(0x03030303u)),
    centred(vec4(quants >> vec2(4u), quants >> vec2(6u)) & vec4(0x03030303u)),
    vec2(scale),
    vec2(0.0),
  );
}
