// The activation functions of feed-forward blocks, one chosen by constant; see
// snippets.ts. `gate` is how a gated block joins its two projections (Shazeer 2020).
// Bounds are applied by comparisons: of NaN, max() and min() may give the bound, and hide it.
fn activate(x: f32) -> f32 {
  #if SILU
  return x / (1.0 + exp(-x));
  #end
  #if GELU
  // x * sigmoid(2 u) is the tanh form, and finite where tanh overflows.
  return x / (1.0 + exp(-1.5957691216057308 * (x + 0.044715 * x * x * x)));
  #end
  #if GELU_ERF
  // The normal distribution's tail beyond |x| (Abramowitz and Stegun 1964, 7.1.26), to 1e-7.
  let t = 1.0 / (1.0 + 0.231641888 * abs(x));
  let sum = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t
    + 0.254829592) * t;
  let tail = 0.5 * sum * exp(-0.5 * x * x);
  return x * select(1.0 - tail, tail, x < 0.0);
  #end
  #if QUICK_GELU
  return x / (1.0 + exp(-1.702 * x));
  #end
  #if RELU
  return select(x, 0.0, x < 0.0);
  #end
  #if RELU_SQUARED
  let rest = select(x, 0.0, x < 0.0);
  return rest * rest;
  #end
  #if CLAMPED_SWISH
  let low = select(x, 7.0, x > 7.0);
  return low / (1.0 + exp(-1.702 * low));
  #end
}

fn gate(x: f32, up: f32) -> f32 {
  #if CLAMPED_SWISH
  let low_up = select(up, 7.0, up > 7.0);
  return activate(x) * (select(low_up, -7.0, low_up < -7.0) + 1.0);
  #else
  return activate(x) * up;
  #end
}
