// IQ2_S: vectors of a codebook of 1,024 with their signs; a 4-bit scale per 16 weights.
// w_scales: a half per super-block of 256.
// w_quants: 20 words per super-block: eight with the low bytes of the vectors' numbers, eight with
// signs, two with a byte per group of the numbers' high bits, and two with a byte of its scales.
// w_codebook: a vec2 per vector, its components as bytes.
fn load_group(group: u32) -> Group {
  let part = group & 7u;
  let block = (group >> 3u) * 20u;
  let d = half_of(w_scales[group >> 4u], group >> 3u);
  let low = w_quants[block + part];
  let signs = w_quants[block + 8u + part];
  let high = w_quants[block + 16u + (part >> 2u)] >> ((part & 3u) * 8u);
  let steps = w_quants[block + 18u + (part >> 2u)] >> ((part & 3u) * 8u);
  return Group(
    iq2_s_codes(low, high, signs),
    iq2_s_codes(low >> 16u, high >> 4u, signs >> 16u),
    d * (vec2<f32>(vec2(steps, steps >> 4u) & vec2(0xfu)) * 0.25 + 0.125),
    vec2(0.0),
  );
}

// The codes of the two vectors whose numbers and signs are in the lowest bits.
fn iq2_s_codes(low: u32, high: u32, signs: u32) -> vec4<u32> {
  let first = w_codebook[(low & 0xffu) | ((high & 3u) << 8u)];
  let second = w_codebook[((low >> 8u) & 0xffu) | ((high & 0xcu) << 6u)];
  return negate_each(vec4(first, second), signs);
}
