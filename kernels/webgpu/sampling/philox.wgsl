// Philox4x32-10, a counter-based generator (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC11), and the Gumbel variates made of its words. The logarithms are computed here and
// not by the built-in, whose error near 1 depends on the driver and would show in rare tokens.

/** The 64-bit product as (high, low). */
fn multiply_wide(a: u32, b: u32) -> vec2<u32> {
  let low = vec2(a & 0xffffu, b & 0xffffu);
  let high = vec2(a >> 16u, b >> 16u);
  let middle = high.x * low.y + ((low.x * low.y) >> 16u);
  let other = low.x * high.y + (middle & 0xffffu);
  return vec2(high.x * high.y + (middle >> 16u) + (other >> 16u), a * b);
}

fn philox(counter: vec4<u32>, seed: vec2<u32>) -> vec4<u32> {
  var state = counter;
  var key = seed;
  for (var round = 0u; round < 10u; round++) {
    let even = multiply_wide(0xd2511f53u, state.x);
    let odd = multiply_wide(0xcd9e8d57u, state.z);
    state = vec4(odd.x ^ state.y ^ key.x, odd.y, even.x ^ state.w ^ key.y, even.y);
    key += vec2(0x9e3779b9u, 0xbb67ae85u);
  }
  return state;
}

/** ln(1 + x) for 1 + x between sqrt(1/2) and sqrt(2), by the series of 2 atanh(x / (2 + x)). */
fn ln_near_one(x: f32) -> f32 {
  let ratio = x / (2.0 + x);
  let square = ratio * ratio;
  let tail = square * (1.0 / 3.0 + square * (0.2 + square * (1.0 / 7.0 + square * (1.0 / 9.0))));
  return 2.0 * (ratio + ratio * tail);
}

/** ln(x) of a positive normal number. */
fn ln(x: f32) -> f32 {
  let bits = bitcast<i32>(x);
  let exponent = (bits - 0x3f3504f3) >> 23u;  // counted from sqrt(1/2)
  let mantissa = bitcast<f32>(bits - (exponent << 23u));
  return f32(exponent) * 0.6931472 + ln_near_one(mantissa - 1.0);
}

/** -ln(-ln(u)) for u = (word + 1/2) / 2^32. At most MAX_GUMBEL. */
fn gumbel(word: u32) -> f32 {
  let u = (f32(word) + 0.5) * 0x1p-32;
  let complement = (f32(~word) + 0.5) * 0x1p-32;
  // Close to 1 only 1 - u has enough bits to distinguish neighbouring values of u.
  let exponential = select(-ln(u), -ln_near_one(-complement), word >= 0xb504f334u);
  return -ln(exponential);
}

const MAX_GUMBEL = 22.9;  // 33 ln(2), rounded up
