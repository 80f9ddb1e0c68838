// Scalar functions of gates, time steps, caps and softmaxes. A NaN stays one in all of them.

// exp(x). WGSL lets a driver assume that there is no NaN: SwiftShader's exp() of one is infinite, so
// that a sigmoid would be 0 and a cap the cap, and what is damaged would look sound.
fn exponential(x: f32) -> f32 {
  return select(x, exp(x), x < 0.0 || x >= 0.0);
}

fn sigmoid(x: f32) -> f32 {
  return 1.0 / (1.0 + exponential(-x));
}

fn silu(x: f32) -> f32 {
  return x / (1.0 + exponential(-x));
}

// limit * tanh(x / limit), by tanh(u) = 1 - 2 / (exp(2 u) + 1), which WGSL gives more exactly than its own
// tanh. The bound keeps exp() finite, and changes nothing. It is a comparison, because min() may give
// it where x is NaN.
fn soft_capped(x: f32, limit: f32) -> f32 {
  let power = 2.0 * x / limit;
  return limit * (1.0 - 2.0 / (exponential(select(power, 80.0, power > 80.0)) + 1.0));
}

// log(1 + exp(x)), computed as max(x, 0) + log(1 + u) with u = exp(-|x|), and log(1 + u) as the series of
// 2 atanh(u / (2 + u)), whose argument is at most 1/3. log(1 + u) itself has few correct digits for a
// small u, and time steps may be far below 1.
fn softplus(x: f32) -> f32 {
  let u = exponential(-abs(x));
  let s = u / (2.0 + u);
  let q = s * s;
  let tail = q * (1.0 / 7.0 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q / 13.0)));
  return max(x, 0.0) + 2.0 * s * (1.0 + q * (1.0 / 3.0 + q * (1.0 / 5.0 + tail)));
}
