// Two vectors of the IQ1 codebook as the codes of 16 weights: eight times a component, plus or minus
// one; `below` has bit 0 set for minus in the first vector and bit 1 in the second.
// w_codebook: a word per vector, component j plus one in the low nibble of byte j, j + 4 above.
fn iq1_codes(first: u32, second: u32, below: u32) -> vec4<u32> {
  let vectors = vec2(w_codebook[first], w_codebook[second]).xxyy >> vec4(0u, 4u, 0u, 4u);
  let offsets = (vec2(below, below >> 1u) & vec2(1u)) * 2u + 7u;
  let codes = ((vectors & vec4(0x03030303u)) << vec4(3u)) | vec4(0x80808080u);
  return (codes - (offsets * 0x01010101u).xxyy) ^ vec4(0x80808080u);
}
