// The activation functions of feed-forward blocks, one chosen by constant; see
// activation_function.ts. `gate` is how a gated block joins its two projections (Shazeer 2020).
fn activate(x: f32) -> f32 {
  #if SILU
  return x / (1.0 + exp(-x));
  #end
  #if GELU
  // x * sigmoid(2 u) is the tanh form, and finite where tanh overflows.
  return x / (1.0 + exp(-1.5957691216057308 * (x + 0.044715 * x * x * x)));
  #end
  #if QUICK_GELU
  return x / (1.0 + exp(-1.702 * x));
  #end
  #if RELU
  return max(x, 0.0);
  #end
  #if RELU_SQUARED
  return max(x, 0.0) * max(x, 0.0);
  #end
  #if CLAMPED_SWISH
  let low = min(x, 7.0);
  return low / (1.0 + exp(-1.702 * low));
  #end
}

fn gate(x: f32, up: f32) -> f32 {
  #if CLAMPED_SWISH
  return activate(x) * (clamp(up, -7.0, 7.0) + 1.0);
  #else
  return activate(x) * up;
  #end
}
