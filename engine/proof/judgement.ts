// Which differences from the CPU are faults of a device, and how far values are apart.

import type { DeviceFault } from "../tuning/mod.ts";

/**
 * How far an operation may be from the CPU's, by the same inputs. Sums in another order differ by some
 * 1e-13 of the power, int8 codes and halves that fall on the other side of a rounding by up to 1e-7.
 */
const OPERATION: Distance = { error: 1e-5, greatest: 0.05 };

/** The result of a proof. */
export interface Proof {
  /** Values of operations that were compared with the CPU's: operations, by steps. */
  readonly compared: number;
  /** The greatest distance of an operation that was found, within its bounds or not. */
  readonly worst: Distance;
  /** In the order of the steps; none: the device computes the model right. */
  readonly faults: readonly DeviceFault[];
  readonly milliseconds: number;
}

/** What was found of the operations that were compared so far. */
export class Judgement {
  #compared = 0;
  #error = 0;
  #greatest = 0;
  readonly faults: DeviceFault[] = [];

  /** Judges what the operations of a step of so many rows have written. */
  add(differences: readonly Difference[], rows: number): void {
    for (const difference of differences) {
      const { name, layer, output, error, greatest } = difference;
      this.#compared++;
      this.#error = Math.max(this.#error, error);
      this.#greatest = Math.max(this.#greatest, greatest);
      if (isWithin(difference, OPERATION)) continue;
      const where = layer === undefined ? "" : ` of layer ${layer}`;
      this.faults.push({
        what: `${name}${where} (${output}), ${rows} row${rows === 1 ? "" : "s"}`,
        how: describe(difference),
      });
    }
  }

  /** The proof, which has taken so many milliseconds. */
  proof(milliseconds: number): Proof {
    const worst = { error: this.#error, greatest: this.#greatest };
    return { compared: this.#compared, worst, faults: this.faults, milliseconds };
  }
}

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
