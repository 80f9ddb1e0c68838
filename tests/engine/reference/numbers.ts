// Arithmetic on plain vectors, in f64: what the reference models are written in. For reading, not for
// speed; nothing here is shared with the engine.

/** One token's activation, or a part of it. */
export type Vector = readonly number[];

/** x + y. */
export function add(x: Vector, y: Vector): Vector {
  return x.map((value, i) => value + y[i]);
}

/** x * y, element by element. */
export function multiply(x: Vector, y: Vector): Vector {
  return x.map((value, i) => value * y[i]);
}

/** x * factor. */
export function scale(x: Vector, factor: number): Vector {
  return x.map((value) => value * factor);
}

/** x . y */
export function dot(x: Vector, y: Vector): number {
  return x.reduce((sum, value, i) => sum + value * y[i], 0);
}

/** Sums of vectors. */
export function sum(vectors: readonly Vector[]): Vector {
  return vectors.reduce(add);
}

/** `count` equal pieces. */
export function split(x: Vector, count: number): Vector[] {
  const size = x.length / count;
  return Array.from({ length: count }, (_, i) => x.slice(i * size, (i + 1) * size));
}

/** x / sqrt(mean(x^2)). */
export function rmsNormalize(x: Vector, epsilon: number): Vector {
  return scale(x, 1 / Math.sqrt(dot(x, x) / x.length + epsilon));
}

/** (x - mean(x)) / deviation(x). */
export function normalize(x: Vector, epsilon: number): Vector {
  const mean = x.reduce((a, b) => a + b) / x.length;
  return rmsNormalize(x.map((value) => value - mean), epsilon);
}

/** exp(x) / sum(exp(x)); `sink` is one more score, of nothing. */
export function softmax(scores: Vector, sink = -Infinity): Vector {
  const peak = Math.max(sink, ...scores);
  const weights = scores.map((score) => Math.exp(score - peak));
  return scale(weights, 1 / (weights.reduce((a, b) => a + b) + Math.exp(sink - peak)));
}

/** 1 / (1 + exp(-x)) */
export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** x sigmoid(x) (Ramachandran et al. 2017). */
export function silu(x: number): number {
  return x * sigmoid(x);
}

/** The tanh form of GELU (Hendrycks and Gimpel 2016). */
export function gelu(x: number): number {
  return x / 2 * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
}

/** log(1 + exp(x)) */
export function softplus(x: number): number {
  return Math.log1p(Math.exp(x));
}

/** cap tanh(x / cap) (Gemma Team 2024). */
export function softcap(x: number, cap: number): number {
  return cap * Math.tanh(x / cap);
}
