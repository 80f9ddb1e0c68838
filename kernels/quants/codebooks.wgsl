// The WGSL of the formats of codebooks.ts.

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

// IQ2_XXS: vectors of a codebook of 256 with seven stored signs each; a 4-bit scale per 32 weights.
// w_scales: a half per super-block of 256.
// w_quants: a vec2 per group: in x the numbers of its vectors, in y their signs and the scale.
// w_codebook: a vec2 per vector, its components as bytes.
fn fetch_group(group: u32) -> PackedGroup {
  return PackedGroup(vec4(w_quants[group], w_scales[group >> 4u], 0u), vec4(0u), vec4(0u));
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let quants = packed.first.xy;
  let d = half_of(packed.first.z, group >> 3u);
  let scale = d * (f32(quants.y >> 28u) * 0.25 + 0.125);
  return Group(
    iq2_xxs_codes(quants),
    iq2_xxs_codes(quants >> vec2(16u, 14u)),
    vec2(scale),
    vec2(0.0),
  );
}

// The codes of the two vectors whose numbers and signs are in the lowest bits.
fn iq2_xxs_codes(quants: vec2<u32>) -> vec4<u32> {
  let first = w_codebook[quants.x & 0xffu];
  let second = w_codebook[(quants.x >> 8u) & 0xffu];
  let signs = complete_signs(quants.y & 0x7fu) | (complete_signs((quants.y >> 7u) & 0x7fu) << 8u);
  return negate_each(vec4(first, second), signs);
}

// IQ2_XS: vectors of a codebook of 512 with seven stored signs each; a 4-bit scale per 16 weights.
// w_scales: a half per super-block of 256.
// w_quants: 18 words per super-block: two per group, a vector's number in nine bits and its signs in
// seven; then in two a byte per group, its scales.
// w_codebook: a vec2 per vector, its components as bytes.
fn fetch_group(group: u32) -> PackedGroup {
  let part = group & 7u;
  let block = (group >> 3u) * 18u;
  return PackedGroup(
    vec4(
      w_quants[block + 2u * part],
      w_quants[block + 2u * part + 1u],
      w_quants[block + 16u + (part >> 2u)],
      w_scales[group >> 4u],
    ),
    vec4(0u),
    vec4(0u),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let part = group & 7u;
  let d = half_of(packed.first.w, group >> 3u);
  let steps = packed.first.z >> ((part & 3u) * 8u);
  return Group(
    iq2_xs_codes(packed.first.x),
    iq2_xs_codes(packed.first.y),
    d * (vec2<f32>(vec2(steps, steps >> 4u) & vec2(0xfu)) * 0.25 + 0.125),
    vec2(0.0),
  );
}

fn iq2_xs_codes(quants: u32) -> vec4<u32> {
  let first = w_codebook[quants & 0x1ffu];
  let second = w_codebook[(quants >> 16u) & 0x1ffu];
  let signs = complete_signs((quants >> 9u) & 0x7fu) | (complete_signs(quants >> 25u) << 8u);
  return negate_each(vec4(first, second), signs);
}

// IQ2_S: vectors of a codebook of 1,024 with their signs; a 4-bit scale per 16 weights.
// w_scales: a half per super-block of 256.
// w_quants: 20 words per super-block: eight with the low bytes of the vectors' numbers, eight with
// signs, two with a byte per group of the numbers' high bits, and two with a byte of its scales.
// w_codebook: a vec2 per vector, its components as bytes.
fn fetch_group(group: u32) -> PackedGroup {
  let part = group & 7u;
  let block = (group >> 3u) * 20u;
  return PackedGroup(
    vec4(
      w_quants[block + part],
      w_quants[block + 8u + part],
      w_quants[block + 16u + (part >> 2u)],
      w_quants[block + 18u + (part >> 2u)],
    ),
    vec4(w_scales[group >> 4u], vec3(0u)),
    vec4(0u),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let part = group & 7u;
  let d = half_of(packed.second.x, group >> 3u);
  let low = packed.first.x;
  let signs = packed.first.y;
  let high = packed.first.z >> ((part & 3u) * 8u);
  let steps = packed.first.w >> ((part & 3u) * 8u);
  return Group(
    iq2_s_codes(low, high, signs),
    iq2_s_codes(low >> 16u, high >> 4u, signs >> 16u),
    d * (vec2<f32>(vec2(steps, steps >> 4u) & vec2(0xfu)) * 0.25 + 0.125),
    vec2(0.0),
  );
}

// The codes of the two vectors whose numbers and signs are in the lowest bits.
fn iq2_s_codes(low: u32, high: u32, signs: u32) -> vec4<u32> {
  let first = w_codebook[(low & 0xffu) | ((high & 3u) << 8u)];
  let second = w_codebook[((low >> 8u) & 0xffu) | ((high & 0xcu) << 6u)];
  return negate_each(vec4(first, second), signs);
}

// IQ3_XXS: vectors of a codebook of 256, every two with seven stored signs; a 4-bit scale per 32
// weights.
// w_scales: a half per super-block of 256.
// w_quants: 24 words per super-block: two per group with the numbers of its vectors, then one per
// group with their signs and the scale.
fn fetch_group(group: u32) -> PackedGroup {
  let block = (group >> 3u) * 24u;
  let numbers = block + 2u * (group & 7u);
  return PackedGroup(
    vec4(
      w_quants[numbers],
      w_quants[numbers + 1u],
      w_quants[block + 16u + (group & 7u)],
      w_scales[group >> 4u],
    ),
    vec4(0u),
    vec4(0u),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let signs = packed.first.z;
  let d = half_of(packed.first.w, group >> 3u);
  return Group(
    iq3_codes(unpack4xU8(packed.first.x), iq3_xxs_signs(signs)),
    iq3_codes(unpack4xU8(packed.first.y), iq3_xxs_signs(signs >> 14u)),
    vec2(d * (f32(signs >> 28u) * 0.5 + 0.25)),
    vec2(0.0),
  );
}

fn iq3_xxs_signs(packed: u32) -> u32 {
  return complete_signs(packed & 0x7fu) | (complete_signs((packed >> 7u) & 0x7fu) << 8u);
}

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

// TQ1_0: ternary digits, five in a byte, with an offset of 1; one scale per 256 weights. A byte divided
// by 256 is a fraction in base 3. Digit n is floor(3 * f / 256), where f is the low eight bits of the
// byte times 3^n.
// w_quants: 13 words per super-block: eight whose digits 0 to 4 are groups 0 to 4; four whose digits
// are the halves of groups 5, 6 and 7 in order, except for the last; one with four digits for that.
// w_scales: a half per super-block.
fn fetch_group(group: u32) -> PackedGroup {
  let part = group & 7u;
  let block = (group >> 3u) * 13u;
  let whole = part < 5u;
  let first = block + select(8u, 0u, whole);
  let second = first + select(0u, 4u, whole);
  return PackedGroup(
    tq1_0_words(first),
    tq1_0_words(second),
    vec4(w_quants[block + 12u], w_scales[group >> 4u], vec2(0u)),
  );
}

fn unpack_group(packed: PackedGroup, group: u32) -> Group {
  let part = group & 7u;
  let whole = part < 5u;
  let digit = select(2u * part - 10u, part, whole);
  var high = packed.second;
  var powers = vec4(power_of_3(select(digit + 1u, digit, whole)));
  if (part == 7u) {
    high = vec4(packed.third.x);
    powers = vec4(1u, 3u, 9u, 27u);
  }
  return Group(
    tq1_0_codes(packed.first, vec4(power_of_3(digit))),
    tq1_0_codes(high, powers),
    vec2(half_of(packed.third.y, group >> 3u)),
    vec2(0.0),
  );
}

fn tq1_0_words(at: u32) -> vec4<u32> {
  return vec4(w_quants[at], w_quants[at + 1u], w_quants[at + 2u], w_quants[at + 3u]);
}

fn power_of_3(exponent: u32) -> u32 {
  return select((0x1b090301u >> (8u * exponent)) & 0xffu, 81u, exponent > 3u);
}

// Even and odd bytes separately, because a product takes up to 16 bits.
fn tq1_0_codes(words: vec4<u32>, powers: vec4<u32>) -> vec4<u32> {
  let even = ((words & vec4(0x00ff00ffu)) * powers) & vec4(0x00ff00ffu);
  let odd = (((words >> vec4(8u)) & vec4(0x00ff00ffu)) * powers) & vec4(0x00ff00ffu);
  return centred(
    (((even * 3u) >> vec4(8u)) & vec4(0x00030003u)) | ((odd * 3u) & vec4(0x03000300u)),
  );
}
