// Operations on the vectors within a row that few architectures have: weighted sums (AltUp, Baykal
// et al. 2023), scaling to the length of another vector, and Gaussian top-k (Spark Transformer, You
// et al. 2025); Gemma 3n has all three. Each has its plain reference.

/** The plain reference for one vector, summed in f64. */
export function matchMagnitudeReference(y: Float32Array, reference: Float32Array): Float32Array {
  const norm = (vector: Float32Array) => Math.hypot(...vector);
  const size = norm(y);
  return y.map((value) => size === 0 ? 0 : value * norm(reference) / size);
}

/** The numbers of vectors in a row, and a bias of the weights. */
export interface MixOptions {
  /** Vectors of x in each row. */
  inputs: number;
  /** Vectors of y in each row. */
  outputs: number;
  /** Added to all weights. Default 0. */
  bias?: number;
}

/**
 * The plain reference of what is added to one row: weights [outputs, inputs], x [inputs, columns].
 */
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

/** The plain reference for one row, summed in f64. */
export function sparsifyReference(x: Float32Array, factor: number): Float32Array {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const squares = x.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const threshold = mean + factor * Math.sqrt(squares / (x.length - 1));
  return x.map((value) => Math.max(0, value - threshold));
}
