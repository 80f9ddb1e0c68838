// The fifth bits of a group's codes: bit j of byte k belongs to code 4j+k, which is byte k of code
// word j. Each lands on bit 4 of its byte, ready to be joined with the nibbles.
fn low_fifth_bits(bits: u32) -> vec4<u32> {
  return vec4(bits << 4u, bits << 3u, bits << 2u, bits << 1u) & vec4(0x10101010u);
}

fn high_fifth_bits(bits: u32) -> vec4<u32> {
  return vec4(bits, bits >> 1u, bits >> 2u, bits >> 3u) & vec4(0x10101010u);
}

