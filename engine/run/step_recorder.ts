// The commands of steps. Those of the decode step that probably follows are recorded ahead, while the
// GPU runs the current one: it has the same rows, each some positions later.

import {
  type Buffer,
  type Commands,
  type Device,
  padTo,
  type Pass,
  type SamplingNeeds,
} from "../../kernels/mod.ts";
import type { Network, RowReadback, StepShape } from "../nn/mod.ts";
import { isSameShape, type StepPlan } from "./step_plan.ts";

/** The sampling of a step's tokens, and the buffer to which the tokens go. */
export interface Choice {
  readonly needs: SamplingNeeds;
  /** Records it. */
  encode(pass: Pass): void;
  /** The buffer with the tokens. */
  readonly sampled: Buffer;
  /** The buffer to which they are copied, at n times their bytes for the n-th repeat. */
  readonly target: Buffer;
  /** The buffer to which the hidden states of each repeat's rows are copied. */
  readonly states?: RowReadback | undefined;
}

/** A step that is to be recorded. */
interface Wanted {
  readonly version: number;
  readonly shape: StepShape;
  /** How often it runs. */
  readonly repeats: number;
  /** Missing if tokens are sampled by a submit of their own. */
  readonly choice: Choice | undefined;
}

/** A decode step that was captured, so that it can be encoded again at little cost. */
interface Captured {
  readonly shape: StepShape;
  readonly needs: SamplingNeeds | undefined;
  readonly encode: (pass: Pass) => void;
}

/** Most captured steps. Several are kept because sequences come and go, and differ in their sampling. */
const MOST_CAPTURED = 8;

/** The recorder of a network's steps. */
export class StepRecorder {
  readonly #device: Device;
  readonly #network: Network;
  /** The latest first. */
  readonly #captured: Captured[] = [];
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
    // Commands for a longer context also serve a shorter one.
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
  #record(wanted: Wanted, first = 0): Commands[] {
    const { shape: { outputs, rows }, repeats, choice } = wanted;
    const bytes = outputs * 4;
    const encode = this.#encoder(wanted);
    return Array.from({ length: repeats - first }, (_, i) => {
      const repeat = first + i;
      const recorder = this.#device.record();
      recorder.pass(encode);
      if (choice) {
        // A step without tokens also copies a word, so that reading it shows that the step is done.
        recorder.copy(choice.sampled, 0, choice.target, repeat * bytes, Math.max(4, bytes));
        choice.states?.copy(recorder, 0, rows, repeat * rows);
      }
      return recorder.finish();
    });
  }

  /** The function that encodes a step. Decode steps are captured, if the device can do that. */
  #encoder({ shape, choice }: Wanted): (pass: Pass) => void {
    const encoderOf = (shape: StepShape) => (pass: Pass) => {
      this.#network.encode(pass, shape, "logits");
      if (shape.outputs > 0) choice?.encode(pass);
    };
    const device = this.#device;
    if (!device.capture || shape.prefillTiles > 0) return encoderOf(shape);
    // Kernels for a longer context also serve a shorter one, and are the same within a split length.
    const longest = { ...shape, decodeContext: padTo(shape.decodeContext, device.decodeSplit) };
    const captured = this.#captured;
    const at = captured.findIndex(({ shape, needs }) =>
      isSameShape(shape, longest) && isSameNeeds(needs, choice?.needs)
    );
    const step = at >= 0
      ? captured.splice(at, 1)[0]
      : { shape: longest, needs: choice?.needs, encode: device.capture(encoderOf(longest)) };
    captured.unshift(step);
    captured.length = Math.min(captured.length, MOST_CAPTURED);
    return step.encode;
  }
}

function isSameNeeds(a: SamplingNeeds | undefined, b: SamplingNeeds | undefined): boolean {
  return a === b || a !== undefined && b !== undefined && isSameShape(a, b);
}

/** Whether two steps differ only in their contexts and repeats. */
function isAlike(a: Wanted, b: Wanted): boolean {
  const isSameChoice = a.choice?.target === b.choice?.target &&
    isSameNeeds(a.choice?.needs, b.choice?.needs);
  const { decodeContext } = b.shape;
  return a.version === b.version && isSameChoice &&
    isSameShape({ ...a.shape, decodeContext }, b.shape);
}
