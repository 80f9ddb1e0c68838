// The WGSL of the formats of k_quants.ts.

// Q2_K: 2-bit codes in super-blocks of 256; a 4-bit scale and a 4-bit minimum per 16 weights.
// w_scales: a byte per 16 weights, the scale in its low nibble and the minimum above.
// w_quants: a vec2 per group; bits 2i, 2i+1 of byte k of x are code 8i+k's, of y code 8i+4+k's.
// w_factors: a word per super-block, the halves d and dmin.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(
    vec4(w_quants[group], w_factors[group >> 3u], w_scales[group >> 1u]),
    vec4(0u),
    vec4(0u),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first.xy;
  let factors = halves(packed.first.z);
  let scales = unpack4xU8(packed.first.w >> ((group & 1u) * 16u)).xy;
  return Group(
    vec4(quants, quants >> vec2(2u)) & vec4(0x03030303u),
    vec4(quants >> vec2(4u), quants >> vec2(6u)) & vec4(0x03030303u),
    factors.x * vec2<f32>(scales & vec2(15u)),
    -factors.y * vec2<f32>(scales >> vec2(4u)),
  );
}

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

// Q4_K: 4-bit codes in super-blocks of 256; a 6-bit scale and a 6-bit minimum per 32 weights.
// w_scales: a vec4 per super-block, its header: see K_SCALES.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], w_scales[group >> 3u], vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first;
  let scales = k_scales(packed.second, group & 7u);
  return Group(low_nibbles(quants), high_nibbles(quants), scales.xx, -scales.yy);
}

// Q5_K: 5-bit codes in super-blocks of 256; a 6-bit scale and a 6-bit minimum per 32 weights.
// w_scales: a vec4 per super-block, its header: see K_SCALES.
// w_high: a word per group, the codes' fifth bits in the order of FIFTH_BITS.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], w_scales[group >> 3u], vec4(w_high[group], vec3(0u)));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first;
  let high = packed.third.x;
  let scales = k_scales(packed.second, group & 7u);
  return Group(
    low_nibbles(quants) | low_fifth_bits(high),
    high_nibbles(quants) | high_fifth_bits(high),
    scales.xx,
    -scales.yy,
  );
}

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

// IQ4_XS: 4-bit codes for sixteen values in super-blocks of 256; a 6-bit scale per 32 weights.
// w_scales: a vec2 per super-block: in x the half d, then two high bits per scale; in y the low ones.
// w_quants: a vec4 per group, codes 0-15 in the low nibbles and 16-31 in the high ones.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(w_quants[group], vec4(w_scales[group >> 3u], vec2(0u)), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let part = group & 7u;
  let scales = packed.second.xy;
  let low = (scales.y >> (4u * part)) & 0xfu;
  let high = (scales.x >> (16u + 2u * part)) & 3u;
  let step = f32(low | (high << 4u)) - 32.0;
  return iq4_group(packed.first, halves(scales.x).x * step);
}

// TQ2_0: 2-bit codes with an offset of 1, one scale per 256 weights.
// w_quants: a vec2 per group; bits 2i, 2i+1 of byte k of x are code 8i+k's, of y code 8i+4+k's.
// w_scales: a half per super-block.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(vec4(w_quants[group], w_scales[group >> 4u], 0u), vec4(0u), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first.xy;
  let scale = half_of(packed.first.z, group >> 3u);
  return Group(
    centred(vec4(quants, quants >> vec2(2u)) & vec4(0x03030303u)),
    centred(vec4(quants >> vec2(4u), quants >> vec2(6u)) & vec4(0x03030303u)),
    vec2(scale),
    vec2(0.0),
  );
}
