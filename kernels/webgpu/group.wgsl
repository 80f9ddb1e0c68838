// 32 consecutive weights of a row as int8 codes: weight i = scale[i/16] * code[i] + minimum[i/16].
// Word j of `low` holds codes 4j..4j+3 of the first sixteen, least significant byte first; `high`
// those of the last sixteen.
struct Group {
  low: vec4<u32>,
  high: vec4<u32>,
  scale: vec2<f32>,
  minimum: vec2<f32>,
}

// The words of a group as they lie in the planes; a format says which. They are loaded apart, so that
// a kernel can do something else until they are there.
struct PackedGroup {
  first: vec4<u32>,
  second: vec4<u32>,
  third: vec4<u32>,
}

#if !FLOAT_WEIGHTS
fn load_group(group: u32) -> Group {
  return unpack_group(fetch_group(group), group);
}
#else
fn load_floats(index: u32) -> vec4<f32> {
  return unpack_floats(fetch_floats(index));
}
#end

// Two halves of a word as floats. Small weights have subnormal scales: the driver must keep them.
fn halves(word: u32) -> vec2<f32> {
  return unpack2x16float(word);
}

// Half number `index` of a plane of halves, given the word that holds it.
fn half_of(word: u32, index: u32) -> f32 {
  return unpack2x16float(word >> ((index & 1u) * 16u)).x;
}

// Codes, of which each byte is 0 to 127, less the offset that their format stores them with; there are
// no borrows between bytes. RAW_CODES: a kernel accounts for the offset itself.
fn centred(bytes: vec4<u32>) -> vec4<u32> {
  #if RAW_CODES
  return bytes;
  #else
  return ((bytes | vec4(0x80808080u)) - vec4(CODE_BIAS * 0x01010101u)) ^ vec4(0x80808080u);
  #end
}

// 4-bit codes of a group packed in one vec4: those of its first sixteen weights.
fn low_nibbles(words: vec4<u32>) -> vec4<u32> {
  return words & vec4(0x0f0f0f0fu);
}

// And those of its last sixteen weights.
fn high_nibbles(words: vec4<u32>) -> vec4<u32> {
  return (words >> vec4(4u)) & vec4(0x0f0f0f0fu);
}
