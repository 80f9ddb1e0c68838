// The network of an encoder, whose operations are divided into parts, so that a driver on the CPU can be
// stopped between them, and how the host's values are laid out for it.

import { GROUP, padTo, type Pass } from "../../kernels/mod.ts";
import { Network, type StepShape } from "../nn/mod.ts";

/** A network whose operations are divided into parts. It has no operations over output rows. */
export class DividedNetwork extends Network {
  /** Index of the first operation of each part. */
  readonly #starts: number[] = [0];

  /** Ends the current part. */
  divide(): void {
    this.#starts.push(this.operations("hidden").length);
  }

  /** For each part of a step, in order, the function that records it. */
  *parts(step: StepShape): Generator<(pass: Pass) => void> {
    const operations = this.operations("hidden");
    for (const [i, start] of this.#starts.entries()) {
      const part = operations.slice(start, this.#starts[i + 1]);
      yield (pass) => part.forEach((operation) => operation.encode(pass, step));
    }
  }
}

/** Rows, padded with zeros to whole groups. */
export function padColumns(values: Float32Array, columns: number): Float32Array {
  const stride = padTo(columns, GROUP);
  if (stride === columns) return values;
  const rows = values.length / columns;
  const padded = new Float32Array(rows * stride);
  for (let row = 0; row < rows; row++) {
    padded.set(values.subarray(row * columns, (row + 1) * columns), row * stride);
  }
  return padded;
}
