// Operations on the vectors within a row that few architectures have: weighted sums (AltUp, Baykal
// et al. 2023), the length of another vector, and Gaussian top-k (Spark Transformer, You et al.
// 2025); all three are in Gemma 3n. Each with its plain reference.

/** One vector in plain loops, summed in f64. */
export function matchMagnitudeReference(y: Float32Array, reference: Float32Array): Float32Array {
  const norm = (vector: Float32Array) => Math.hypot(...vector);
  const size = norm(y);
  return y.map((value) => size === 0 ? 0 : value * norm(reference) / size);
}

/** How many vectors a row has, and what is added to its weights. */
export interface MixOptions {
  /** Vectors of x in each row. */
  inputs: number;
  /** Vectors of y in each row. */
  outputs: number;
  /** Default 0. */
  bias?: number;
}

/** What is added to one row in plain loops: weights [outputs, inputs], x [inputs, columns]. */
export function mixReference(
  weights: Float32Array,
  x: Float32Array,
  { inputs, outputs, bias = 0 }: MixOptions,
): Float32Array {
  const columns = x.length / inputs;
  return Float32Array.from({ length: outputs * columns }, (_, at) => {
    const output = Math.floor(at / columns);
    let sum = 0;
    for (let j = 0; j < inputs; j++) {
      sum += (weights[output * inputs + j] + bias) * x[j * columns + at % columns];
    }
    return sum;
  });
}

/** One row in plain loops, summed in f64. */
export function sparsifyReference(x: Float32Array, factor: number): Float32Array {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const squares = x.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const threshold = mean + factor * Math.sqrt(squares / (x.length - 1));
  return x.map((value) => Math.max(0, value - threshold));
}
