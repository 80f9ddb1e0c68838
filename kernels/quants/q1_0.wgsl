// Q1_0: a bit for 1 or -1 per weight, one scale per 128 weights.
// w_scales: a half per four groups.
// w_quants: a word per group; bit j of byte k is that of code 4j+k.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(vec4(w_quants[group], w_scales[group >> 3u], vec2(0u)), vec4(0u), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let bits = vec4(packed.first.x);
  let scale = half_of(packed.first.y, group >> 2u);
  return Group(
    q1_0_codes(bits >> vec4(0u, 1u, 2u, 3u)),
    q1_0_codes(bits >> vec4(4u, 5u, 6u, 7u)),
    vec2(scale),
    vec2(0.0),
  );
}

// 1 where the lowest bit of a byte is set, -1 where not.
fn q1_0_codes(bits: vec4<u32>) -> vec4<u32> {
  return centred((bits & vec4(0x01010101u)) << vec4(1u));
}
