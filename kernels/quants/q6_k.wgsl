// Q6_K: 6-bit codes with an offset of 32 in super-blocks of 256; an 8-bit scale per 16 weights.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
// w_high: a vec2 per group, the codes' upper two bits; bits 2i, 2i+1 of byte k of x are code
// 8i+k's, of y code 8i+4+k's.
// w_scales: five words per super-block: a signed byte per 16 weights, then the half d.
fn fetch_group(group: u32) -> PackedGroup {
  let block = (group >> 3u) * 5u;
  let scales = w_scales[block + ((group >> 1u) & 3u)];
  return PackedGroup(w_quants[group], vec4(w_high[group], scales, w_scales[block + 4u]), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first;
  let high = packed.second.xy;
  let d = halves(packed.second.w).x;
  let scales = packed.second.z >> ((group & 1u) * 16u);
  return Group(
    centred(
      low_nibbles(quants) | (vec4(high << vec2(4u), high << vec2(2u)) & vec4(0x30303030u)),
    ),
    centred(
      high_nibbles(quants) | (vec4(high, high >> vec2(2u)) & vec4(0x30303030u)),
    ),
    d * vec2<f32>(unpack4xI8(scales).xy),
    vec2(0.0),
  );
}
