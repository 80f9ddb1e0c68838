// What the sampling kernels share: the order of logits as integers.
// Keys have the order of their logits. -inf and everything below -1e30 have one key, the lowest, which
// means "disallowed"; finite logits above 1e30 are clamped. -0 and 0 have the same key. The key of NaN
// and +inf is above all others, so that a search for the best token finds them, and nothing is drawn.
const ZERO_KEY = 0x80000000u;
const CLAMP = 0x7149f2cau;   // bits of 1e30
const DISALLOWED = ZERO_KEY - CLAMP;
const NOT_FINITE = 0xffffffffu;
const NONE = 0xffffffffu;
const INFINITY = 0x7f800000u;

fn key_of(bits: u32) -> u32 {
  let magnitude = bits & 0x7fffffffu;
  let distance = min(magnitude, CLAMP);
  let key = select(ZERO_KEY + distance, ZERO_KEY - distance, bits >= ZERO_KEY);
  return select(key, NOT_FINITE, magnitude > INFINITY || bits == INFINITY);
}

fn logit_of(key: u32) -> f32 {
  let bits = select(key - ZERO_KEY, (ZERO_KEY - key) | 0x80000000u, key < ZERO_KEY);
  return bitcast<f32>(bits);
}
