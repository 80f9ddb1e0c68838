// IQ3_S: vectors of a codebook of 512 with their signs; a 4-bit scale per 32 weights.
// w_scales: a half per super-block of 256.
// w_quants: 27 words per super-block: two per group with the low bytes of its vectors' numbers, two
// with a byte per group of their ninth bits, eight with its signs, one with a nibble of its scale.
fn fetch_group(group: u32) -> PackedGroup {
  let part = group & 7u;
  let block = (group >> 3u) * 27u;
  return PackedGroup(
    vec4(
      w_quants[block + 2u * part],
      w_quants[block + 2u * part + 1u],
      w_quants[block + 16u + (part >> 2u)],
      w_quants[block + 18u + part],
    ),
    vec4(w_quants[block + 26u], w_scales[group >> 4u], vec2(0u)),
    vec4(0u),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let part = group & 7u;
  let high = packed.first.z >> ((part & 3u) * 8u);
  let signs = packed.first.w;
  let step = (packed.second.x >> (4u * part)) & 0xfu;
  let d = half_of(packed.second.y, group >> 3u);
  return Group(
    iq3_codes(iq3_s_numbers(packed.first.x, high), signs),
    iq3_codes(iq3_s_numbers(packed.first.y, high >> 4u), signs >> 16u),
    vec2(d * f32(2u * step + 1u)),
    vec2(0.0),
  );
}

fn iq3_s_numbers(low: u32, high: u32) -> vec4<u32> {
  return unpack4xU8(low) | ((vec4(high) << vec4(8u, 7u, 6u, 5u)) & vec4(0x100u));
}
