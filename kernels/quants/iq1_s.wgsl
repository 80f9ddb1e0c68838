// IQ1_S: vectors of a codebook of 2,048; a 3-bit scale, and 1/8 or -1/8 to be added, per 32 weights.
// w_scales: a half per super-block of 256.
// w_quants: twelve words per super-block: eight with the low bytes of the vectors' numbers, four with
// two bytes per group: three high bits of each number, the scale, and the sign in the top bit.
fn fetch_group(group: u32) -> PackedGroup {
  let part = group & 7u;
  let block = (group >> 3u) * 12u;
  return PackedGroup(
    vec4(
      w_quants[block + part],
      w_quants[block + 8u + (part >> 1u)],
      w_scales[group >> 4u],
      0u,
    ),
    vec4(0u),
    vec4(0u),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let part = group & 7u;
  let low = unpack4xU8(packed.first.x);
  let header = packed.first.y >> ((part & 1u) * 16u);
  let numbers = low | (((vec4(header) >> vec4(0u, 3u, 6u, 9u)) & vec4(7u)) << vec4(8u));
  let below = ((header >> 15u) & 1u) * 3u;
  let d = half_of(packed.first.z, group >> 3u);
  return Group(
    iq1_codes(numbers.x, numbers.y, below),
    iq1_codes(numbers.z, numbers.w, below),
    vec2(d * (f32((header >> 12u) & 7u) * 0.25 + 0.125)),
    vec2(0.0),
  );
}
