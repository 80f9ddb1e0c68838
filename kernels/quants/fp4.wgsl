// Doubled values of 4-bit floats (E2M1), one in each byte. By the lower three bits they are 0, 1, 2, 3,
// 4, 6, 8, 12: from 4 on, the lower two bits c count twice, and once more twice if c is 3.
fn fp4_doubles(codes: vec4<u32>) -> vec4<u32> {
  let ones = vec4(0x01010101u);
  let large = (codes >> vec4(2u)) & ones;
  let magnitude = codes & vec4(0x07070707u);
  let doubles = magnitude + (magnitude & (large * 3u)) +
    ((large & magnitude & (magnitude >> vec4(1u))) << vec4(1u));
  let negative = ((codes >> vec4(3u)) & ones) * 0xfu;
  return (((doubles ^ negative) | vec4(0x80808080u)) - negative) ^ vec4(0x80808080u);
}
