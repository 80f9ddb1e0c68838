// Four vectors of an IQ3 codebook as the codes of 16 weights.
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
