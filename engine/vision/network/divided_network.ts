// A network that can be submitted in parts. A driver that runs on the CPU takes seconds for an image:
// between two parts the thread hears messages, and the work can be aborted.

import type { Pass } from "../../../kernels/mod.ts";
import { Network, type StepOperation, type StepShape } from "../../nn/mod.ts";

/** A network whose operations fall into parts. It has no outputs of rows that are asked for. */
export class DividedNetwork extends Network {
  readonly #parts: StepOperation[][] = [[]];

  /** Ends a part. */
  divide(): void {
    this.#parts.push([]);
  }

  override add(operation: StepOperation): void {
    this.#parts.at(-1)!.push(operation);
  }

  override encode(pass: Pass, step: StepShape): void {
    for (const operation of this.#parts.flat()) operation.encode(pass, step);
  }

  /** What records each part of a step, in order. */
  *parts(step: StepShape): Generator<(pass: Pass) => void> {
    for (const operations of this.#parts) {
      yield (pass) => operations.forEach((operation) => operation.encode(pass, step));
    }
  }
}
