// Q5_K: 5-bit codes in super-blocks of 256; a 6-bit scale and a 6-bit minimum per 32 weights.
// w_scales: a vec4 per super-block, its header: see k_scales.wgsl.
// w_high: a word per group, the codes' fifth bits in the order of fifth_bits.wgsl.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn load_group(group: u32) -> Group {
  let quants = w_quants[group];
  let high = w_high[group];
  let scales = k_scales(w_scales[group >> 3u], group & 7u);
  return Group(
    low_nibbles(quants) | low_fifth_bits(high),
    high_nibbles(quants) | high_fifth_bits(high),
    scales.xx,
    -scales.yy,
  );
}
