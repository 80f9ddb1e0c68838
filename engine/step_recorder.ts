// The commands of steps without the choice of tokens, recorded ahead where the next step is known:
// decoding goes on with the same rows and one position more.

import type { Network, StepShape } from "./nn/mod.ts";
import { isSameShape, type StepPlan } from "./step_plan.ts";

/** Records steps of a network. */
export class StepRecorder {
  readonly #gpu: GPUDevice;
  readonly #network: Network;
  /** The step that is likely to follow the last one. */
  #next: { rows: Uint32Array; shape: StepShape; commands: GPUCommandBuffer } | undefined;

  constructor(gpu: GPUDevice, network: Network) {
    this.#gpu = gpu;
    this.#network = network;
  }

  /** The commands of a plan; to be submitted once. */
  take({ rows, shape }: StepPlan): GPUCommandBuffer {
    const next = this.#next;
    this.#next = undefined;
    const isReady = next?.rows === rows && isSameShape(next.shape, shape);
    return isReady ? next.commands : this.#record(shape);
  }

  /** Records what will probably follow a plan, best done while the GPU runs it. */
  prepare({ rows, shape }: StepPlan): void {
    if (shape.prefillTiles > 0) return;
    const next = { ...shape, decodeContext: shape.decodeContext + 1 };
    this.#next = { rows, shape: next, commands: this.#record(next) };
  }

  #record(shape: StepShape): GPUCommandBuffer {
    const encoder = this.#gpu.createCommandEncoder();
    const pass = encoder.beginComputePass();
    this.#network.encode(pass, shape, "logits");
    pass.end();
    return encoder.finish();
  }
}
