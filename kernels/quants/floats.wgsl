// The WGSL of the float formats.

// F32: weights as they are.
// w_floats: one vec4 per four weights.
fn fetch_floats(index: u32) -> vec4<u32> {
  return bitcast<vec4<u32>>(w_floats[index]);
}

fn unpack_floats(words: vec4<u32>) -> vec4<f32> {
  return bitcast<vec4<f32>>(words);
}

// F16: weights as IEEE half precision.
// w_floats: four halves per vec2, the first in the low half of x.
fn fetch_floats(index: u32) -> vec4<u32> {
  return vec4(w_floats[index], vec2(0u));
}

fn unpack_floats(words: vec4<u32>) -> vec4<f32> {
  return vec4(halves(words.x), halves(words.y));
}

// BF16: weights as the high halves of single-precision floats.
// w_floats: four of them per vec2, the first in the low half of x.
fn fetch_floats(index: u32) -> vec4<u32> {
  return vec4(w_floats[index], vec2(0u));
}

fn unpack_floats(words: vec4<u32>) -> vec4<f32> {
  return bitcast<vec4<f32>>((words.xxyy << vec4(16u, 0u, 16u, 0u)) & vec4(0xffff0000u));
}
