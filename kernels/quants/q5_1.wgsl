// Q5_1: 5-bit codes, one scale and one minimum per 32 weights.
// w_scales: a word per group, the halves scale and minimum.
// w_high: a word per group, the codes' fifth bits in the order of fifth_bits.wgsl.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], vec4(w_scales[group], w_high[group], vec2(0u)), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first;
  let high = packed.second.y;
  let scales = halves(packed.second.x);
  return Group(
    low_nibbles(quants) | low_fifth_bits(high),
    high_nibbles(quants) | high_fifth_bits(high),
    scales.xx,
    scales.yy,
  );
}
