// Q4_0: 4-bit codes with an offset of 8, one scale per 32 weights.
// w_scales: a half per group.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn load_group(group: u32) -> Group {
  let quants = w_quants[group];
  let scale = half_of(w_scales[group >> 1u], group);
  return Group(
    minus_each(low_nibbles(quants), 8u),
    minus_each(high_nibbles(quants), 8u),
    vec2(scale),
    vec2(0.0),
  );
}
