// How far values of a device are from those of the CPU, and how far they may be.

/** How far values are from the right ones. */
export interface Distance {
  /** The power of the differences, as a share of the power of the right values. */
  readonly error: number;
  /** The greatest difference, in units of the root mean square of the right values. */
  readonly greatest: number;
}

/** How far what an operation has written is from what it should be. */
export interface Difference extends Distance {
  /** The operation, such as "linear Q4_K". */
  readonly name: string;
  readonly layer: number | undefined;
  /** The meaning of its rows, such as "qkv". */
  readonly output: string;
}

/** Compares values. Those that are not finite, or of another number, are infinitely far. */
export function compare(actual: Float32Array, expected: Float32Array): Distance {
  if (actual.length !== expected.length) return { error: Infinity, greatest: Infinity };
  let [power, noise, greatest] = [0, 0, 0];
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs(actual[i]! - expected[i]!);
    power += expected[i]! ** 2;
    noise += difference ** 2;
    // A comparison with NaN is false.
    if (!(difference <= greatest)) greatest = difference;
  }
  if (!Number.isFinite(noise)) return { error: Infinity, greatest: Infinity };
  if (noise === 0) return { error: 0, greatest: 0 };
  if (power === 0) return { error: Infinity, greatest: Infinity };
  return { error: noise / power, greatest: greatest / Math.sqrt(power / expected.length) };
}

/** Whether values are no further off than they may be. */
export function isWithin(distance: Distance, bound: Distance): boolean {
  return distance.error <= bound.error && distance.greatest <= bound.greatest;
}

/** A sentence about a distance. */
export function describe({ error, greatest }: Distance): string {
  return Number.isFinite(error)
    ? `off by ${error.toPrecision(2)} of the power, and by up to ${
      greatest.toPrecision(2)
    } times the mean value`
    : "values are not finite";
}
