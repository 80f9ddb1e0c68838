// Which differences from the CPU are faults of a device.

import type { DeviceFault } from "../tuning/mod.ts";
import { describe, type Difference, type Distance, isWithin } from "./compare.ts";

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
