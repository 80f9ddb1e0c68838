// Functions of gates and time steps.
fn sigmoid(x: f32) -> f32 {
  return 1.0 / (1.0 + exp(-x));
}

fn silu(x: f32) -> f32 {
  return x / (1.0 + exp(-x));
}

// log(1 + exp(x)). With u = exp(-|x|) it is max(x, 0) + log(1 + u), the latter 2 atanh(u / (2 + u)),
// a series in at most 1/3: time steps may be far below 1, where log(1 + u) itself keeps few digits.
fn softplus(x: f32) -> f32 {
  let u = exp(-abs(x));
  let s = u / (2.0 + u);
  let q = s * s;
  let tail = q * (1.0 / 7.0 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q / 13.0)));
  return max(x, 0.0) + 2.0 * s * (1.0 + q * (1.0 / 3.0 + q * (1.0 / 5.0 + tail)));
}
