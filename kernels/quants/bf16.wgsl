// BF16: weights as the high halves of single-precision floats.
// w_floats: four of them per vec2, the first in the low half of x.
fn load_floats(index: u32) -> vec4<f32> {
  let words = w_floats[index].xxyy;
  return bitcast<vec4<f32>>((words << vec4(16u, 0u, 16u, 0u)) & vec4(0xffff0000u));
}
