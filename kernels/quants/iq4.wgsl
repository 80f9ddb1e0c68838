// A group of 4-bit codes for the sixteen values of IQ4_NL and IQ4_XS, codes 0-15 in the low nibbles
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
