// Q4_1: 4-bit codes, one scale and one minimum per 32 weights.
// w_scales: a word per group, the halves scale and minimum.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn load_group(group: u32) -> Group {
  let quants = w_quants[group];
  let scales = halves(w_scales[group]);
  return Group(low_nibbles(quants), high_nibbles(quants), scales.xx, scales.yy);
}
