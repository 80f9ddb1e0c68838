// IQ1_M: vectors of a codebook of 2,048, to each of which 1/8 or -1/8 is added; a 3-bit scale per 16
// weights.
// w_quants: 14 words per super-block of 256: eight with the low bytes of the vectors' numbers; four
// with a nibble per vector, the high bits of its number and the sign on top; two with four scales in
// the lower twelve bits of each half and a quarter of the half d in its top four.
fn fetch_group(group: u32) -> PackedGroup {
  let part = group & 7u;
  let block = (group >> 3u) * 14u;
  return PackedGroup(
    vec4(
      w_quants[block + part],
      w_quants[block + 8u + (part >> 1u)],
      w_quants[block + 12u],
      w_quants[block + 13u],
    ),
    vec4(0u),
    vec4(0u),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let part = group & 7u;
  let low = unpack4xU8(packed.first.x);
  let high = packed.first.y >> ((part & 1u) * 16u);
  let numbers = low | (((vec4(high) >> vec4(0u, 4u, 8u, 12u)) & vec4(7u)) << vec4(8u));
  let headers = packed.first.zw;
  let d = iq1_m_factor(headers);
  let steps = select(headers.x, headers.y, part > 3u) >> ((part & 2u) * 8u + (part & 1u) * 6u);
  return Group(
    iq1_codes(numbers.x, numbers.y, ((high >> 3u) & 1u) | ((high >> 6u) & 2u)),
    iq1_codes(numbers.z, numbers.w, ((high >> 11u) & 1u) | ((high >> 14u) & 2u)),
    d * (vec2<f32>(vec2(steps, steps >> 3u) & vec2(7u)) * 0.25 + 0.125),
    vec2(0.0),
  );
}

// The half in the top nibbles of the halves of two words, the lowest first.
fn iq1_m_factor(headers: vec2<u32>) -> f32 {
  let bytes = ((headers >> vec2(12u)) & vec2(0xfu)) | ((headers >> vec2(24u)) & vec2(0xf0u));
  return halves(bytes.x | (bytes.y << 8u)).x;
}
