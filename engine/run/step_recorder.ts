// The commands of steps up to the logits. Those of the next decode step are recorded ahead, while the
// GPU runs the current one: it has the same rows, each one position later.

import type { Commands, Device } from "../../kernels/mod.ts";
import type { Network, StepShape } from "../nn/mod.ts";
import { isSameShape, type StepPlan } from "./step_plan.ts";

/** The recorder of a network's steps. */
export class StepRecorder {
  readonly #device: Device;
  readonly #network: Network;
  /** The step that is likely to follow the last one. */
  #next: { version: number; shape: StepShape; commands: Commands } | undefined;

  constructor(device: Device, network: Network) {
    this.#device = device;
    this.#network = network;
  }

  /** The commands of a plan; to be submitted once. */
  take({ version, shape }: StepPlan): Commands {
    const next = this.#next;
    this.#next = undefined;
    const isReady = next?.version === version && isSameShape(next.shape, shape);
    return isReady ? next.commands : this.#record(shape);
  }

  /** Records the step that probably follows a plan; best called while the GPU runs the plan. */
  prepare({ version, shape }: StepPlan): void {
    if (shape.prefillTiles > 0) return;
    const next = { ...shape, decodeContext: shape.decodeContext + 1 };
    this.#next = { version, shape: next, commands: this.#record(next) };
  }

  #record(shape: StepShape): Commands {
    const recorder = this.#device.record();
    recorder.pass((pass) => this.#network.encode(pass, shape, "logits"));
    return recorder.finish();
  }
}
