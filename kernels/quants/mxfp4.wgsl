// MXFP4: 4-bit floats, the exponent of a power of two per 32 weights.
// w_scales: a byte per group, the exponent plus 127.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], vec4(w_scales[group >> 2u], vec3(0u)), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let codes = fp4_doubles(packed.first);
  let exponent = (packed.second.x >> ((group & 3u) * 8u)) & 0xffu;
  // Half the power, since the codes are doubled; the least two of them are subnormal.
  let bits = select((exponent - 1u) << 23u, 0x00200000u << exponent, exponent < 2u);
  return Group(codes.low, codes.high, vec2(bitcast<f32>(bits)), vec2(0.0));
}
