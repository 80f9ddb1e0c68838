// IQ2_S: vectors of a codebook of 1,024 with their signs; a 4-bit scale per 16 weights.
// w_scales: a half per super-block of 256.
// w_quants: 20 words per super-block: eight with the low bytes of the vectors' numbers, eight with
// signs, two with a byte per group of the numbers' high bits, and two with a byte of its scales.
// w_codebook: a vec2 per vector, its components as bytes.
fn fetch_group(group: u32) -> PackedGroup {
  let part = group & 7u;
  let block = (group >> 3u) * 20u;
  return PackedGroup(
    vec4(
      w_quants[block + part],
      w_quants[block + 8u + part],
      w_quants[block + 16u + (part >> 2u)],
      w_quants[block + 18u + (part >> 2u)],
    ),
    vec4(w_scales[group >> 4u], vec3(0u)),
    vec4(0u),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let part = group & 7u;
  let d = half_of(packed.second.x, group >> 3u);
  let low = packed.first.x;
  let signs = packed.first.y;
  let high = packed.first.z >> ((part & 3u) * 8u);
  let steps = packed.first.w >> ((part & 3u) * 8u);
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
