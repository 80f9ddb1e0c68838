// NVFP4: 4-bit floats; a positive 8-bit float (E4M3) as scale per 16 weights.
// w_scales: a word per two groups, a byte per 16 weights.
// w_quants: a vec4 per group; codes 0-7 in the low nibbles of x and y and 8-15 in the high ones, 16-31
// likewise in z and w.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], vec4(w_scales[group >> 1u], vec3(0u)), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let codes = fp4_doubles(packed.first);
  let scales = packed.second.x >> ((group & 1u) * 16u);
  return Group(
    vec4(codes.low.xy, codes.high.xy),
    vec4(codes.low.zw, codes.high.zw),
    nvfp4_scales(vec2(scales, scales >> 8u) & vec2(0xffu)),
    vec2(0.0),
  );
}

// Seven bits lower than a half's, an E4M3 float is the half 2^8 times less; half of that is for the
// codes, which are doubled.
fn nvfp4_scales(bytes: vec2<u32>) -> vec2<f32> {
  let known = select(bytes & vec2(0x7fu), vec2(0u), bytes == vec2(0x7fu));
  return 128.0 * halves((known.x << 7u) | (known.y << 23u));
}
