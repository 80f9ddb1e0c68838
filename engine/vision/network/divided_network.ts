// A network that can be submitted in parts. A driver that runs on the CPU takes seconds for an image:
// between two parts the thread hears messages, and the work can be aborted.

import type { Pass } from "../../../kernels/mod.ts";
import { Network, type StepShape } from "../../nn/mod.ts";

/** A network whose operations fall into parts. It has no outputs of rows that are asked for. */
export class DividedNetwork extends Network {
  /** Where each part begins. */
  readonly #starts: number[] = [0];

  /** Ends a part. */
  divide(): void {
    this.#starts.push(this.operations("hidden").length);
  }

  /** What records each part of a step, in order. */
  *parts(step: StepShape): Generator<(pass: Pass) => void> {
    const operations = this.operations("hidden");
    for (const [i, start] of this.#starts.entries()) {
      const part = operations.slice(start, this.#starts[i + 1]);
      yield (pass) => part.forEach((operation) => operation.encode(pass, step));
    }
  }
}
