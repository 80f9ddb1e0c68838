// The WGSL of the formats of simple.ts.

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

// Q2_0: 2-bit codes with an offset of 1, one scale per 64 weights.
// w_scales: a half per two groups.
// w_quants: a vec2 per group; bits 2j, 2j+1 of byte k of x are code 4j+k's, of y code 16+4j+k's.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(vec4(w_quants[group], w_scales[group >> 2u], 0u), vec4(0u), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first.xy;
  let scale = half_of(packed.first.z, group >> 1u);
  let shifts = vec4(0u, 2u, 4u, 6u);
  return Group(
    centred((vec4(quants.x) >> shifts) & vec4(0x03030303u)),
    centred((vec4(quants.y) >> shifts) & vec4(0x03030303u)),
    vec2(scale),
    vec2(0.0),
  );
}

// Q4_0: 4-bit codes with an offset of 8, one scale per 32 weights.
// w_scales: a half per group.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], vec4(w_scales[group >> 1u], vec3(0u)), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first;
  let scale = half_of(packed.second.x, group);
  return Group(
    centred(low_nibbles(quants)),
    centred(high_nibbles(quants)),
    vec2(scale),
    vec2(0.0),
  );
}

// Q4_1: 4-bit codes, one scale and one minimum per 32 weights.
// w_scales: a word per group, the halves scale and minimum.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], vec4(w_scales[group], vec3(0u)), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first;
  let scales = halves(packed.second.x);
  return Group(low_nibbles(quants), high_nibbles(quants), scales.xx, scales.yy);
}

// Q5_0: 5-bit codes with an offset of 16, one scale per 32 weights.
// w_scales: a half per group.
// w_high: a word per group, the codes' fifth bits in the order of FIFTH_BITS.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(
    w_quants[group],
    vec4(w_scales[group >> 1u], w_high[group], vec2(0u)),
    vec4(0u),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first;
  let high = packed.second.y;
  let scale = half_of(packed.second.x, group);
  return Group(
    centred(low_nibbles(quants) | low_fifth_bits(high)),
    centred(high_nibbles(quants) | high_fifth_bits(high)),
    vec2(scale),
    vec2(0.0),
  );
}

// Q5_1: 5-bit codes, one scale and one minimum per 32 weights.
// w_scales: a word per group, the halves scale and minimum.
// w_high: a word per group, the codes' fifth bits in the order of FIFTH_BITS.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], vec4(w_scales[group], w_high[group], vec2(0u)), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first;
  let high = packed.second.y;
  let scales = halves(packed.second.x);
  return Group(
    low_nibbles(quants) | low_fifth_bits(high),
    high_nibbles(quants) | high_fifth_bits(high),
    scales.xx,
    scales.yy,
  );
}

// Q8_0: signed 8-bit codes, one scale per 32 weights.
// w_scales: a half per group.
// w_quants: two vec4 per group, codes 0-15 in the first and 16-31 in the second.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(
    w_quants[2u * group],
    w_quants[2u * group + 1u],
    vec4(w_scales[group >> 1u], vec3(0u)),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let scale = half_of(packed.third.x, group);
  return Group(packed.first, packed.second, vec2(scale), vec2(0.0));
}

// IQ4_NL: 4-bit codes for sixteen values, one scale per 32 weights.
// w_scales: a half per group.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], vec4(w_scales[group >> 1u], vec3(0u)), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  return iq4_group(packed.first, half_of(packed.second.x, group));
}

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
