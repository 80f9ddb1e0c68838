// Q5_K: 5-bit codes in super-blocks of 256; a 6-bit scale and a 6-bit minimum per 32 weights.
// w_scales: a vec4 per super-block, its header: see k_scales.wgsl.
// w_high: a word per group, the codes' fifth bits in the order of fifth_bits.wgsl.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], w_scales[group >> 3u], vec4(w_high[group], vec3(0u)));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first;
  let high = packed.third.x;
  let scales = k_scales(packed.second, group & 7u);
  return Group(
    low_nibbles(quants) | low_fifth_bits(high),
    high_nibbles(quants) | high_fifth_bits(high),
    scales.xx,
    -scales.yy,
  );
}
