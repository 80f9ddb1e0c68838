// F16: weights as IEEE half precision.
// w_floats: four halves per vec2, the first in the low half of x.
fn load_floats(index: u32) -> vec4<f32> {
  let words = w_floats[index];
  return vec4(halves(words.x), halves(words.y));
}
