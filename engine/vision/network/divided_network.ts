// A network that is submitted in parts. With a driver on the CPU an image takes seconds; between
// two parts the thread receives messages, and the work can be aborted.

import type { Pass } from "../../../kernels/mod.ts";
import { Network, type StepShape } from "../../nn/mod.ts";

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
