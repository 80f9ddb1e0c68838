// A network that can be submitted in parts. A driver that runs on the CPU takes seconds for an image:
// between parts others are heard, and the work can end.

import { Network, type StepShape } from "../nn/mod.ts";

type Operation = Parameters<Network["add"]>[0];

/** A network whose operations fall into parts. It has no outputs of rows that are asked for. */
export class DividedNetwork extends Network {
  readonly #parts: Operation[][] = [[]];

  /** Ends a part. */
  divide(): void {
    this.#parts.push([]);
  }

  override add(operation: Operation): void {
    this.#parts.at(-1)!.push(operation);
  }

  override encode(pass: GPUComputePassEncoder, step: StepShape): void {
    for (const operation of this.#parts.flat()) operation(pass, step);
  }

  /** What records each part of a step, in order. */
  *parts(step: StepShape): Generator<(pass: GPUComputePassEncoder) => void> {
    for (const operations of this.#parts) {
      yield (pass) => operations.forEach((operation) => operation(pass, step));
    }
  }
}
