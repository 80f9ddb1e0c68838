// What the WGSL of several formats shares: parts, each of which begins with a comment that names it.

// FIFTH_BITS: the fifth bits of a group's codes: bit j of byte k belongs to code 4j+k, which is byte k of code
// word j. Each lands on bit 4 of its byte, ready to be joined with the nibbles.
fn low_fifth_bits(bits: u32) -> vec4<u32> {
  return vec4(bits << 4u, bits << 3u, bits << 2u, bits << 1u) & vec4(0x10101010u);
}

fn high_fifth_bits(bits: u32) -> vec4<u32> {
  return vec4(bits, bits >> 1u, bits >> 2u, bits >> 3u) & vec4(0x10101010u);
}

// K_SCALES: scale and (positive) minimum of 32 weights from the header of a Q4_K or Q5_K super-block, as it
// is in GGUF: halves d and dmin in x, then eight 6-bit scales and eight 6-bit minima in y, z, w.
// Those of parts 0-3 are the low six bits of the bytes of y and z; those of parts 4-7 have their
// low four bits in the nibbles of w and their high two bits atop the bytes of y and z.
fn k_scales(header: vec4<u32>, part: u32) -> vec2<f32> {
  let shift = (part & 3u) * 8u;
  let late = part > 3u;
  let low = select(header.yz, vec2(header.w), late) >> vec2(shift, shift + select(0u, 4u, late));
  let high = (header.yz >> vec2(shift + 2u)) & vec2(select(0u, 0x30u, late));
  return halves(header.x) * vec2<f32>((low & vec2(select(0x3fu, 0x0fu, late))) | high);
}

// IQ4: a group of 4-bit codes for the sixteen values of IQ4_NL and IQ4_XS, codes 0-15 in the low nibbles
// and 16-31 in the high ones.
// w_codebook: a word per byte of codes, the value of its low nibble in byte 0, of its high one in 2.
fn iq4_group(quants: vec4<u32>, scale: f32) -> Group {
  let x = iq4_values(quants.x);
  let y = iq4_values(quants.y);
  let z = iq4_values(quants.z);
  let w = iq4_values(quants.w);
  return Group(vec4(x.x, y.x, z.x, w.x), vec4(x.y, y.y, z.y, w.y), vec2(scale), vec2(0.0));
}

// The values of the low nibbles of four bytes in x, of the high ones in y.
fn iq4_values(codes: u32) -> vec2<u32> {
  let bytes = unpack4xU8(codes);
  let first = w_codebook[bytes.x] | (w_codebook[bytes.y] << 8u);
  let second = w_codebook[bytes.z] | (w_codebook[bytes.w] << 8u);
  return vec2((first & 0xffffu) | (second << 16u), (first >> 16u) | (second & 0xffff0000u));
}

// FP4: doubled values of the 4-bit floats (E2M1) of a group, one in each byte: those in the low nibbles of
// `codes`, then those in the high ones. By the lower three bits they are 0, 1, 2, 3, 4, 6, 8, 12: from 4
// on, the lower two bits c count twice, and once more twice if c is 3. All fit a nibble, and so are made
// where they are.
struct Fp4Doubles {
  low: vec4<u32>,
  high: vec4<u32>,
}

fn fp4_doubles(codes: vec4<u32>) -> Fp4Doubles {
  let large = ((codes >> vec4(1u)) & vec4(0x22222222u)) | ((codes >> vec4(2u)) & vec4(0x11111111u));
  let again = codes & large;
  let both = again & (again >> vec4(1u));
  let doubles = (codes & vec4(0x77777777u)) + again + (both << vec4(1u));
  let negative = (codes >> vec4(3u)) & vec4(0x11111111u);
  let flips = (negative << vec4(4u)) - negative;
  let flipped = doubles ^ flips;
  return Fp4Doubles(
    minus_fifteens(low_nibbles(flipped), low_nibbles(flips)),
    minus_fifteens(high_nibbles(flipped), high_nibbles(flips)),
  );
}

// Bytes less others, which are 15 where the bytes are a nibble's complement, else 0.
fn minus_fifteens(bytes: vec4<u32>, fifteens: vec4<u32>) -> vec4<u32> {
  return ((bytes | vec4(0x80808080u)) - fifteens) ^ vec4(0x80808080u);
}

// SIGNS: signs of codebook vectors: bit i of `signs` is set if weight i is negative.

// The signs of eight weights, of which GGUF stores seven: the number of negative ones is even.
fn complete_signs(seven: u32) -> u32 {
  return seven | ((countOneBits(seven) & 1u) << 7u);
}

// Negates those of 16 bytes whose sign is set. Bytes are 1 to 127: -0 would carry into the next one.
fn negate_each(bytes: vec4<u32>, signs: u32) -> vec4<u32> {
  let nibbles = (vec4(signs) >> vec4(0u, 4u, 8u, 12u)) & vec4(0xfu);
  let negative = (nibbles * 0x00204081u) & vec4(0x01010101u); // bit k of a nibble to byte k
  return (bytes ^ (negative * 0xffu)) + negative;
}

// IQ1: two vectors of the IQ1 codebook as the codes of 16 weights: eight times a component, plus or minus
// one; `below` has bit 0 set for minus in the first vector and bit 1 in the second.
// w_codebook: a word per vector, component j plus one in the low nibble of byte j, j + 4 above.
fn iq1_codes(first: u32, second: u32, below: u32) -> vec4<u32> {
  let vectors = vec2(w_codebook[first], w_codebook[second]).xxyy >> vec4(0u, 4u, 0u, 4u);
  let offsets = (vec2(below, below >> 1u) & vec2(1u)) * 2u + 7u;
  let codes = ((vectors & vec4(0x03030303u)) << vec4(3u)) | vec4(0x80808080u);
  return (codes - (offsets * 0x01010101u).xxyy) ^ vec4(0x80808080u);
}

// IQ3: four vectors of an IQ3 codebook as the codes of 16 weights.
// w_codebook: a word per vector, its components as bytes.
fn iq3_codes(numbers: vec4<u32>, signs: u32) -> vec4<u32> {
  let codes = vec4(
    w_codebook[numbers.x],
    w_codebook[numbers.y],
    w_codebook[numbers.z],
    w_codebook[numbers.w],
  );
  return negate_each(codes, signs);
}
