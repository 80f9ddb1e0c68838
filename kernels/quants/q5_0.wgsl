// Q5_0: 5-bit codes with an offset of 16, one scale per 32 weights.
// w_scales: a half per group.
// w_high: a word per group, the codes' fifth bits in the order of fifth_bits.wgsl.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(
    w_quants[group],
    vec4(w_scales[group >> 1u], w_high[group], vec2(0u)),
    vec4(0u),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first;
  let high = packed.second.y;
  let scale = half_of(packed.second.x, group);
  return Group(
    centred(low_nibbles(quants) | low_fifth_bits(high)),
    centred(high_nibbles(quants) | high_fifth_bits(high)),
    vec2(scale),
    vec2(0.0),
  );
}
