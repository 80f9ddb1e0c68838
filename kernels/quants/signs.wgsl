// Signs of codebook vectors: bit i of `signs` is set if weight i is negative.

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
