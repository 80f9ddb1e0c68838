// F16: weights as IEEE half precision.
// w_floats: four halves per vec2, the first in the low half of x.
fn fetch_floats(index: u32) -> vec4<u32> {
  return vec4(w_floats[index], vec2(0u));
}

fn unpack_floats(words: vec4<u32>) -> vec4<f32> {
  return vec4(halves(words.x), halves(words.y));
}
