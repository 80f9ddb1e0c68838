// IQ3_S: vectors of a codebook of 512 with their signs; a 4-bit scale per 32 weights.
// w_scales: a half per super-block of 256.
// w_quants: 27 words per super-block: two per group with the low bytes of its vectors' numbers, two
// with a byte per group of their ninth bits, eight with its signs, one with a nibble of its scale.
fn load_group(group: u32) -> Group {
  let part = group & 7u;
  let block = (group >> 3u) * 27u;
  let high = w_quants[block + 16u + (part >> 2u)] >> ((part & 3u) * 8u);
  let signs = w_quants[block + 18u + part];
  let step = (w_quants[block + 26u] >> (4u * part)) & 0xfu;
  let d = half_of(w_scales[group >> 4u], group >> 3u);
  return Group(
    iq3_codes(iq3_s_numbers(w_quants[block + 2u * part], high), signs),
    iq3_codes(iq3_s_numbers(w_quants[block + 2u * part + 1u], high >> 4u), signs >> 16u),
    vec2(d * f32(2u * step + 1u)),
    vec2(0.0),
  );
}

fn iq3_s_numbers(low: u32, high: u32) -> vec4<u32> {
  return unpack4xU8(low) | ((vec4(high) << vec4(8u, 7u, 6u, 5u)) & vec4(0x100u));
}
