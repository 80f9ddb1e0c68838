// Changes the rate of a sound by a band-limited filter: a sinc under a Kaiser window, which passes
// what the lower of the two rates can hold, and lets 1/10,000 of the rest through (-80 dB). Samples
// come and go in blocks. The method: J. O. Smith, "Digital Audio Resampling" (2002).

/** Zero crossings of the sinc at each side. */
const CROSSINGS = 64;

/** Kaiser's beta for -80 dB, and the width of the transition as a fraction of the lower rate. */
const BETA = 7.857;
const TRANSITION = 72 / (14.36 * 2 * CROSSINGS);

/**
 * Most phases of the filter that are kept. Rates whose ratio needs more have outputs between two
 * phases, which are interpolated.
 */
const MOST_PHASES = 1024;

/** Changes the rate of one channel. */
export class Resampler {
  readonly #up: number;
  readonly #down: number;
  /** Samples of the input at each side of an output, an even number. */
  readonly #side: number;
  readonly #phases: number;
  /** The filter of each phase: [phases + 1, 2 * side]. */
  readonly #filters: Float64Array;
  /** The input from sample `first` on that outputs to come still need. */
  #kept: Float64Array;
  #first: number;
  #given = 0;
  #taken = 0;

  /** @param from rate of the input @param to rate of the output, both whole numbers of Hz */
  constructor(from: number, to: number) {
    const common = greatestDivisor(from, to);
    this.#up = to / common;
    this.#down = from / common;
    const lower = Math.min(1, to / from);
    this.#side = 2 * Math.ceil(CROSSINGS / lower / 2);
    this.#phases = Math.min(this.#up, MOST_PHASES);
    this.#filters = filtersOf(this.#phases, this.#side, lower);
    this.#kept = new Float64Array(this.#side);
    this.#first = -this.#side;
  }

  /** The outputs that follow from the next samples of the input, in memory of their own. */
  push(samples: Float32Array): Float32Array {
    this.#given += samples.length;
    return this.#take(samples);
  }

  /** The last outputs, for which zeros follow the input. */
  end(): Float32Array {
    return this.#take(new Float32Array(this.#side + 1));
  }

  #take(samples: Float32Array): Float32Array {
    const [up, down, side, phases] = [this.#up, this.#down, this.#side, this.#phases];
    const input = new Float64Array(this.#kept.length + samples.length);
    input.set(this.#kept);
    input.set(samples, this.#kept.length);
    // Output n lies at n * down / up, and needs `side` inputs at each side.
    const ready = this.#first + input.length - side;
    const last = Math.min(
      Math.ceil(ready * up / down),
      Math.ceil(this.#given * up / down),
    );
    const output = new Float32Array(Math.max(0, last - this.#taken));
    for (let i = 0; i < output.length; i++) {
      const steps = (this.#taken + i) * down;
      const at = Math.floor(steps / up);
      const phase = (steps - at * up) * phases / up;
      const from = at - side + 1 - this.#first;
      const lower = Math.floor(phase);
      output[i] = this.#filter(input, from, lower);
      if (phase > lower) {
        const upper = this.#filter(input, from, lower + 1);
        output[i] += (phase - lower) * (upper - output[i]);
      }
    }
    this.#taken += output.length;
    const needed = Math.floor(this.#taken * down / up) - side + 1;
    const keep = Math.max(0, Math.min(input.length, needed - this.#first));
    this.#kept = input.slice(keep);
    this.#first += keep;
    return output;
  }

  /** Float64Arrays, since JavaScript computes in 64 bits, and conversions take a quarter of the time. */
  #filter(input: Float64Array, from: number, phase: number): number {
    const count = 2 * this.#side;
    const filters = this.#filters;
    const first = phase * count;
    // Four sums, because an addition waits for the one before it.
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let i = 0; i < count; i += 4) {
      const tap = first + i;
      const at = from + i;
      a += filters[tap] * input[at];
      b += filters[tap + 1] * input[at + 1];
      c += filters[tap + 2] * input[at + 2];
      d += filters[tap + 3] * input[at + 3];
    }
    return a + b + c + d;
  }
}

/** The filters of all phases: that of phase p is for outputs p / phases behind an input. */
function filtersOf(phases: number, side: number, lower: number): Float64Array {
  const count = 2 * side;
  const cutoff = lower * (1 - TRANSITION);
  const filters = new Float64Array((phases + 1) * count);
  const whole = besselI0(BETA);
  for (let phase = 0; phase <= phases; phase++) {
    for (let i = 0; i < count; i++) {
      const distance = i - side + 1 - phase / phases;
      const inside = 1 - (distance / side) ** 2;
      if (inside < 0) continue;
      const window = besselI0(BETA * Math.sqrt(inside)) / whole;
      filters[phase * count + i] = cutoff * sinc(cutoff * distance) * window;
    }
  }
  return filters;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** The modified Bessel function of order zero, by its series. */
function besselI0(x: number): number {
  let [sum, term] = [1, 1];
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= (x / 2 / k) ** 2;
    sum += term;
  }
  return sum;
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
