// The commands of steps. Those of the decode step that probably follows are recorded ahead, while the
// GPU runs the current one: it has the same rows, each some positions later.

import type { Buffer, Commands, Device, Pass, SamplingNeeds } from "../../kernels/mod.ts";
import type { Network, StepShape } from "../nn/mod.ts";
import { isSameShape, type StepPlan } from "./step_plan.ts";

/** The choice of tokens in a step, and where the tokens go. */
export interface Choice {
  readonly needs: SamplingNeeds;
  /** Records it. */
  encode(pass: Pass): void;
  /** What has the tokens. */
  readonly sampled: Buffer;
  /** Where those of the n-th repeat are copied to: from n times their bytes on. */
  readonly target: Buffer;
}

/** A step that is to be recorded. */
interface Wanted {
  readonly version: number;
  readonly shape: StepShape;
  /** How often it runs. */
  readonly repeats: number;
  /** Missing where tokens are chosen by commands of their own. */
  readonly choice: Choice | undefined;
}

/** The recorder of a network's steps. */
export class StepRecorder {
  readonly #device: Device;
  readonly #network: Network;
  /** The step that is likely to follow the last one. */
  #next: { wanted: Wanted; commands: Commands[] } | undefined;

  constructor(device: Device, network: Network) {
    this.#device = device;
    this.#network = network;
  }

  /** The commands of each repeat of a plan, to be submitted once. */
  take({ version, shape }: StepPlan, repeats = 1, choice?: Choice): Commands[] {
    const wanted = { version, shape, repeats, choice };
    const next = this.#next;
    this.#next = undefined;
    if (!next || !isAlike(next.wanted, wanted)) return this.#record(wanted);
    const ready = next.commands.slice(0, repeats);
    // Commands for a longer context do for a shorter one.
    const context = shape.decodeContext - (repeats - ready.length);
    if (next.wanted.shape.decodeContext < context) return this.#record(wanted);
    return [...ready, ...this.#record(wanted, ready.length)];
  }

  /**
   * Records the step that probably follows a plan; best called while the GPU runs the plan.
   *
   * @param repeats how often it will run
   */
  prepare({ version, shape }: StepPlan, repeats = 1, choice?: Choice): void {
    if (shape.prefillTiles > 0) return;
    // The context of a plan is that of its last repeat.
    const next = { ...shape, decodeContext: shape.decodeContext + repeats };
    const wanted = { version, shape: next, repeats, choice };
    this.#next = { wanted, commands: this.#record(wanted) };
  }

  /** @param first the first repeat that is recorded */
  #record({ shape, repeats, choice }: Wanted, first = 0): Commands[] {
    const bytes = shape.outputs * 4;
    return Array.from({ length: repeats - first }, (_, i) => {
      const repeat = first + i;
      const recorder = this.#device.record();
      recorder.pass((pass) => {
        this.#network.encode(pass, shape, "logits");
        if (bytes > 0) choice?.encode(pass);
      });
      if (choice) {
        // Of a step without tokens a word is copied too: that it can be read tells that the step is done.
        recorder.copy(choice.sampled, 0, choice.target, repeat * bytes, Math.max(4, bytes));
      }
      return recorder.finish();
    });
  }
}

/** Whether two steps differ in their contexts and repeats alone. */
function isAlike(a: Wanted, b: Wanted): boolean {
  const isSameChoice = a.choice === b.choice || a.choice !== undefined && b.choice !== undefined &&
      a.choice.target === b.choice.target && isSameShape(a.choice.needs, b.choice.needs);
  const { decodeContext } = b.shape;
  return a.version === b.version && isSameChoice &&
    isSameShape({ ...a.shape, decodeContext }, b.shape);
}
