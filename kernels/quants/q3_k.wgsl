// Q3_K: 3-bit codes with an offset of 4 in super-blocks of 256; a 6-bit scale per 16 weights.
// w_high: a word per group; bit j of byte k is the third bit of code 4j+k.
// w_quants: a vec2 per group; bits 2i, 2i+1 of byte k of x are code 8i+k's, of y code 8i+4+k's.
// w_scales: a vec4 per super-block: eight bytes with the low nibbles of scales s and s+8, four with
// the high two bits of scales s, s+4, s+8 and s+12, and in w the half d.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(vec4(w_quants[group], w_high[group], 0u), w_scales[group >> 3u], vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first.xy;
  let high = packed.first.z;
  return Group(
    centred(
      (vec4(quants, quants >> vec2(2u)) & vec4(0x03030303u)) |
        (vec4(high << 2u, high << 1u, high, high >> 1u) & vec4(0x04040404u)),
    ),
    centred(
      (vec4(quants >> vec2(4u), quants >> vec2(6u)) & vec4(0x03030303u)) |
        (vec4(high >> 2u, high >> 3u, high >> 4u, high >> 5u) & vec4(0x04040404u)),
    ),
    q3_k_scales(packed.second, group & 7u),
    vec2(0.0),
  );
}

// Scales 2 * part and 2 * part + 1.
fn q3_k_scales(packed: vec4<u32>, part: u32) -> vec2<f32> {
  let first = (part & 1u) * 16u;
  let low = (select(packed.x, packed.y, (part & 2u) != 0u) >> (first + (part & 4u))) & 0x0f0fu;
  let high = (packed.z >> (first + (part & 6u))) & 0x0303u;
  let scales = vec2<f32>(unpack4xU8(low | (high << 4u)).xy) - vec2(32.0);
  return halves(packed.w).x * scales;
}
