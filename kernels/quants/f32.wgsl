// F32: weights as they are.
// w_floats: one vec4 per four weights.
fn load_floats(index: u32) -> vec4<f32> {
  return w_floats[index];
}
