// IQ4_NL: 4-bit codes for sixteen values, one scale per 32 weights.
// w_scales: a half per group.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn load_group(group: u32) -> Group {
  return iq4_group(w_quants[group], half_of(w_scales[group >> 1u], group));
}
