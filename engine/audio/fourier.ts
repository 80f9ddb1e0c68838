// The discrete Fourier transform of vectors of one size, fast for sizes of small factors such as 400
// and 512. Computed in doubles. The method: Stockham's order (Cochran et al. 1967).

/** One pass over a vector: transforms of `factor` elements that lie apart. */
interface Pass {
  readonly factor: number;
  readonly stride: number;
  /** cos and sin of the angle by which each element is turned: [groups, outputs, inputs]. */
  readonly cos: Float64Array;
  readonly sin: Float64Array;
}

/** Transforms of vectors of one size. */
export class FourierTransform {
  readonly #size: number;
  readonly #passes: readonly Pass[];
  readonly #spare: readonly [Float64Array, Float64Array];

  /** @param size length of the vectors */
  constructor(size: number) {
    this.#size = size;
    let stride = 1;
    this.#passes = factorsOf(size).map((factor) => {
      const pass = passOf(size, factor, stride);
      stride *= factor;
      return pass;
    });
    this.#spare = [new Float64Array(size), new Float64Array(size)];
  }

  /** Transforms a complex vector in place. */
  transform(real: Float64Array, imaginary: Float64Array): void {
    let from: readonly [Float64Array, Float64Array] = [real, imaginary];
    let to = this.#spare;
    for (const pass of this.#passes) {
      this.#run(from, to, pass);
      [from, to] = [to, from];
    }
    if (from[0] === real) return;
    real.set(from[0]);
    imaginary.set(from[1]);
  }

  #run(
    [xr, xi]: readonly [Float64Array, Float64Array],
    [yr, yi]: readonly [Float64Array, Float64Array],
    { factor, stride, cos, sin }: Pass,
  ): void {
    const apart = this.#size / factor;
    for (let group = 0, turn = 0; group * stride < apart; group++) {
      for (let q = 0; q < factor; q++, turn += factor) {
        const out = stride * (factor * group + q);
        for (let k = 0; k < stride; k++) {
          let [real, imaginary] = [0, 0];
          for (let r = 0, at = k + stride * group; r < factor; r++, at += apart) {
            real += xr[at] * cos[turn + r] - xi[at] * sin[turn + r];
            imaginary += xr[at] * sin[turn + r] + xi[at] * cos[turn + r];
          }
          yr[out + k] = real;
          yi[out + k] = imaginary;
        }
      }
    }
  }
}

function passOf(size: number, factor: number, stride: number): Pass {
  const groups = size / (factor * stride);
  const angles = Float64Array.from({ length: groups * factor * factor }, (_, i) => {
    const [group, q, r] = [
      Math.floor(i / factor ** 2),
      Math.floor(i / factor) % factor,
      i % factor,
    ];
    const turns = (group * q * stride + r * q * (size / factor)) % size;
    return -2 * Math.PI * turns / size;
  });
  return { factor, stride, cos: angles.map(Math.cos), sin: angles.map(Math.sin) };
}

/** Factors of a number: fours first, then primes. */
function factorsOf(size: number): number[] {
  const factors: number[] = [];
  let rest = size;
  for (; rest % 4 === 0; rest /= 4) factors.push(4);
  for (let factor = 2; rest > 1; factor++) {
    for (; rest % factor === 0; rest /= factor) factors.push(factor);
  }
  return factors;
}
