// F32: weights as they are.
// w_floats: one vec4 per four weights.
fn fetch_floats(index: u32) -> vec4<u32> {
  return bitcast<vec4<u32>>(w_floats[index]);
}

fn unpack_floats(words: vec4<u32>) -> vec4<f32> {
  return bitcast<vec4<f32>>(words);
}
