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
import type { StepCopies } from "./step_copies.ts";
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
  /** Missing: nobody looks at what it writes. */
  readonly copies?: StepCopies | undefined;
}

/** A decode step that was captured, so that it can be encoded again at little cost. */
interface Captured {
  readonly shape: StepShape;
  readonly needs: SamplingNeeds | undefined;
  readonly copies: StepCopies | undefined;
  readonly encode: readonly ((pass: Pass) => void)[];
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

  /**
   * The commands of a plan, to be submitted once. The first are the least that can be submitted alone.
   * @param copies what is copied besides; with a choice of tokens, it is sent to the host
   */
  take(
    { version, shape }: StepPlan,
    repeats = 1,
    choice?: Choice,
    copies?: StepCopies,
  ): Commands[] {
    const wanted = { version, shape, repeats, choice, copies };
    const next = this.#next;
    this.#next = undefined;
    // Commands for a longer context also serve a shorter one.
    const isReady = next && isAlike(next.wanted, wanted) &&
      next.wanted.shape.decodeContext >= shape.decodeContext;
    return isReady ? next.commands : this.#record(wanted);
  }

  /**
   * Records the step that probably follows a plan, without a choice of tokens; best called while the
   * GPU runs the plan.
   */
  prepare({ version, shape }: StepPlan): void {
    if (shape.prefillTiles > 0) return;
    const next = { ...shape, decodeContext: shape.decodeContext + 1 };
    const wanted = { version, shape: next, repeats: 1, choice: undefined };
    this.#next = { wanted, commands: this.#record(wanted) };
  }

  #record(wanted: Wanted): Commands[] {
    const { shape, repeats, choice, copies } = wanted;
    const { outputs, rows } = shape;
    const bytes = outputs * 4;
    const [first, ...others] = this.#encoder(wanted);
    const commands: Commands[] = [];
    let recorder = this.#device.record();
    for (let repeat = 0; repeat < repeats; repeat++) {
      const isApart = repeat === 0 && others.length > 0;
      if (isApart) {
        recorder.pass(first);
        commands.push(recorder.finish());
        recorder = this.#device.record();
      }
      recorder.pass((pass) => {
        if (!isApart) first(pass);
        for (const encode of others) encode(pass);
      });
      if (choice) {
        // A step without tokens also copies a word, so that reading it shows that the step is done.
        recorder.copy(choice.sampled, 0, choice.target, repeat * bytes, Math.max(4, bytes));
        choice.states?.copy(recorder, 0, rows, repeat * rows);
        copies?.send(recorder, shape, repeat);
      }
    }
    // All repeats use the same buffers, which an implementation checks and frees once for all of them.
    commands.push(recorder.finish());
    return commands;
  }

  /** The functions that encode the parts of a step. Decode steps are captured, if the device can. */
  #encoder({ shape, choice, copies }: Wanted): readonly ((pass: Pass) => void)[] {
    const encoderOf = (shape: StepShape) => (pass: Pass) => {
      (copies ?? this.#network).encode(pass, shape, "logits");
      if (shape.outputs > 0) choice?.encode(pass);
    };
    const device = this.#device;
    if (!device.capture || shape.prefillTiles > 0) return [encoderOf(shape)];
    // Kernels for a longer context also serve a shorter one, and are the same within a split length.
    const longest = { ...shape, decodeContext: padTo(shape.decodeContext, device.decodeSplit) };
    const captured = this.#captured;
    const at = captured.findIndex((step) =>
      isSameShape(step.shape, longest) && isSameNeeds(step.needs, choice?.needs) &&
      step.copies === copies
    );
    const step = at >= 0 ? captured.splice(at, 1)[0] : {
      ...{ shape: longest, needs: choice?.needs, copies },
      encode: device.capture(encoderOf(longest)),
    };
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
  return a.version === b.version && isSameChoice && a.copies === b.copies &&
    isSameShape({ ...a.shape, decodeContext }, b.shape);
}
