// Q5_1: 5-bit codes, one scale and one minimum per 32 weights.
// w_scales: a word per group, the halves scale and minimum.
// w_high: a word per group, the codes' fifth bits in the order of fifth_bits.wgsl.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn load_group(group: u32) -> Group {
  let quants = w_quants[group];
  let high = w_high[group];
  let scales = halves(w_scales[group]);
  return Group(
    low_nibbles(quants) | low_fifth_bits(high),
    high_nibbles(quants) | high_fifth_bits(high),
    scales.xx,
    scales.yy,
  );
}
