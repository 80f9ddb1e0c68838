// The choice of tokens at the end of a step: the sampler over a model's logits, the sampling and the biases
// of each slot, and the masks of outputs. A model without logits has no sampler, and chooses nothing.

import {
  BIAS_WORDS,
  type Buffer,
  type Device,
  type FloatRows,
  hasPenalties,
  packBiases,
  packSampling,
  type Pass,
  type ResolvedSampling,
  type Sampler,
  SAMPLING,
  type SamplingNeeds,
  type TokenBias,
} from "../../kernels/mod.ts";
import type { StepLimits, StepOperation, StepState } from "../nn/mod.ts";
import { slotsOf, type StepPlan } from "./step_plan.ts";

/** What chooses the tokens of steps. */
export class StepSampler {
  /** The chosen tokens: [outputs] u32. */
  readonly sampled: Buffer;
  readonly #device: Device;
  readonly #logits: FloatRows | undefined;
  readonly #sampler: Sampler | undefined;
  readonly #sampling: Buffer;
  /** [slots, BIAS_WORDS] */
  readonly #biases: Buffer | undefined;
  /** The biases that each slot has. */
  readonly #slotBiases: (readonly TokenBias[])[] = [];
  /** [outputs, vocabulary / 32]: the tokens that may come, for outputs of slots whose sampling is masked. */
  readonly #masks: Buffer | undefined;
  /** Words of an output's mask. */
  readonly #maskWords: number;
  readonly #options: (ResolvedSampling | undefined)[] = [];

  /** @param logits [outputs, vocabulary]; missing where the model has none */
  constructor(
    device: Device,
    logits: FloatRows | undefined,
    state: StepState,
    { outputs, slots, context }: StepLimits,
  ) {
    this.#device = device;
    this.#logits = logits;
    this.sampled = device.buffer("sampled", outputs * 4, "scratch");
    this.#sampling = device.buffer("sampling", slots * SAMPLING.bytes, "scratch");
    this.#maskWords = logits ? Math.ceil(logits.columns / 32) : 0;
    if (!logits) return;
    this.#biases = device.buffer("biases", slots * BIAS_WORDS * 4, "scratch");
    this.#masks = device.buffer("mask", outputs * this.#maskWords * 4, "scratch");
    this.#sampler = device.sampler({
      buffers: {
        logits: logits.floats,
        outputs: state.outputs,
        rows: state.rows,
        sampling: this.#sampling,
        history: state.history,
        biases: this.#biases,
        mask: this.#masks,
        sampled: this.sampled,
        slots: state.slots,
      },
      vocabulary: logits.columns,
      context,
      outputs,
    });
  }

  /** Sets the sampling of a slot, for the sequence that gets it. */
  assignSlot(slot: number, sampling: ResolvedSampling): void {
    this.#options[slot] = sampling;
    this.#slotBiases[slot] = [];
    this.#device.write(this.#sampling, slot * SAMPLING.bytes, packSampling(sampling));
  }

  /** Sets what is added to the logits of some tokens of a slot's sequence. @param biases each token once */
  writeBiases(slot: number, biases: readonly TokenBias[]): void {
    if (this.#slotBiases[slot] === biases) return;
    this.#slotBiases[slot] = biases;
    this.#device.write(this.#biases!, slot * BIAS_WORDS * 4, packBiases(biases));
  }

  /** Writes masks by output, for those of slots whose sampling is masked. */
  writeMasks(masks: ReadonlyMap<number, Uint32Array<ArrayBuffer>>): void {
    const words = this.#maskWords;
    for (const [output, mask] of masks) {
      this.#device.write(this.#masks!, output * words * 4, mask.subarray(0, words));
    }
  }

  /** Writes logits by output, in the place of the model's. @param rows each [vocabulary] */
  writeLogits(rows: ReadonlyMap<number, Float32Array>): void {
    const { floats, stride } = this.#logits!;
    for (const [output, row] of rows) {
      this.#device.write(floats, output * stride * 4, row as Float32Array<ArrayBuffer>);
    }
  }

  /** What the sampling of a plan's tokens needs. */
  needs(plan: StepPlan): SamplingNeeds {
    const slots = slotsOf(plan);
    const options = slots.map((slot) => this.#options[slot]!);
    return {
      penalties: options.some(hasPenalties),
      biases: slots.some((slot) => this.#slotBiases[slot]!.length > 0),
      masks: options.some(({ masked }) => masked),
      stochastic: options.some(({ temperature }) => temperature > 0),
    };
  }

  /** Records the choice of `outputs` tokens, if there are logits. */
  encode(pass: Pass, outputs: number, needs: SamplingNeeds): void {
    this.#sampler?.encode(pass, outputs, needs);
  }

  /** The choice of a plan's tokens as an operation of the step; none without logits. */
  operations(plan: StepPlan): StepOperation[] {
    const [sampler, logits] = [this.#sampler, this.#logits];
    if (!sampler || !logits) return [];
    const needs = this.needs(plan);
    return [{
      name: "sample",
      reads: [logits.floats],
      writes: [this.sampled],
      encode: (pass, { outputs }) => sampler.encode(pass, outputs, needs),
      work: ({ outputs }) => {
        const values = outputs * logits.columns;
        return { bytesRead: values * 4, bytesWritten: outputs * 4, flops: values };
      },
    }];
  }
}
