// Chooses tokens on the GPU for a batch of outputs, so that the next step finds its input there.
// Owns scratch memory only; what is read and written belongs to the caller. Nothing is read back.

import type { Device } from "../device.ts";
import { type Dispatch, encodeDispatch, type Resource } from "../kernel.ts";
import candidatesSnippet from "./candidates.wgsl" with { type: "text" };
import penalizeShader from "./penalize.wgsl" with { type: "text" };
import philoxSnippet from "./philox.wgsl" with { type: "text" };
import sampleShader from "./sample.wgsl" with { type: "text" };
import samplingSnippet from "./sampling.wgsl" with { type: "text" };
import selectSnippet from "./select.wgsl" with { type: "text" };
import surveyShader from "./survey.wgsl" with { type: "text" };

/** The caller's buffers, of words of 32 bits. */
export interface SamplerBuffers {
  /** f32 [outputs, vocabulary]; penalties and masks are written into it. */
  readonly logits: Resource;
  /** [outputs]: the row that each output belongs to. */
  readonly outputs: Resource;
  /** [rows, 4]: token, position, slot and a word not read here. */
  readonly rows: Resource;
  /** [slots] of what packSampling() returns. */
  readonly sampling: Resource;
  /** [slots, context]: the tokens of each slot's sequence up to the row's position. */
  readonly history: Resource;
  /** [slots, ceil(vocabulary / 32)]: a bit per token, lowest first, set where it is allowed. */
  readonly mask: Resource;
  /** Result, [outputs]: the chosen token, or {@linkcode NO_TOKEN}. */
  readonly sampled: Resource;
  /** Result, [slots, 2]: the chosen token and its position, the row's plus one. */
  readonly slots: Resource;
}

/** What a sampler is made for. */
export interface SamplerOptions {
  readonly buffers: SamplerBuffers;
  /** Tokens in the vocabulary. */
  readonly vocabulary: number;
  /** Positions in a slot's history. */
  readonly context: number;
  /** Most outputs in one step. */
  readonly outputs: number;
}

/** What at least one output of a step needs; what none needs is not run. */
export interface SamplingNeeds {
  readonly penalties: boolean;
  readonly masks: boolean;
  /** Whether a temperature is above 0. */
  readonly stochastic: boolean;
}

/** What is sampled where there is no choice: a logit is NaN or +inf, or no token is allowed. */
export const NO_TOKEN = 0xffffffff;

const WORKGROUP = 256;
/** Tokens per invocation of the survey: few enough to fill a GPU, enough to skip most strips. */
const STRIP = 32;
/** Candidates that fit into workgroup memory; with more, each pass reads the vocabulary. */
const CAPACITY = 1024;

/** The sampling kernels bound to a model's buffers. Dispose of it to free its scratch memory. */
export class Sampler implements Disposable {
  readonly #device: Device;
  readonly #scratch: GPUBuffer[];
  readonly #blocks: number;
  readonly #penalize: Dispatch;
  readonly #survey: Record<"plain" | "masked", Dispatch>;
  readonly #sample: Record<"greedy" | "stochastic", Dispatch>;

  /** Errors: GpuError, GpuMemoryError. */
  constructor(device: Device, { buffers, vocabulary, context, outputs }: SamplerOptions) {
    this.#device = device;
    this.#blocks = Math.ceil(vocabulary / (WORKGROUP * STRIP));
    const stripCount = this.#blocks * WORKGROUP;
    const strips = device.buffer("sampling strips", 8 * outputs * stripCount, "scratch");
    const counts = device.buffer("token counts", 4 * outputs * vocabulary, "scratch");
    this.#scratch = [strips, counts];

    const { logits, outputs: outputRows, rows, sampling, history, mask, sampled, slots } = buffers;
    const step = { outputs: outputRows, rows };
    const snippets = [samplingSnippet];
    const params = { vocabulary, strips: stripCount };
    this.#penalize = device.kernel({
      name: "penalize",
      source: penalizeShader,
      constants: { WORKGROUP },
      snippets,
    }).bind({ logits, ...step, sampling, history, counts }, { vocabulary, context });

    const survey = (MASKED: boolean) =>
      device.kernel({
        name: MASKED ? "survey masked" : "survey",
        source: surveyShader,
        constants: { WORKGROUP, STRIP, UNROLL: 4, MASKED },
        snippets,
      });
    this.#survey = {
      plain: survey(false).bind({ logits, strips }, params),
      masked: survey(true).bind({ logits, strips, ...step, sampling, mask }, params),
    };

    const results = { strips, ...step, sampled, slots };
    this.#sample = {
      greedy: device.kernel({
        name: "sample greedy",
        source: sampleShader,
        constants: { WORKGROUP, STOCHASTIC: false },
        snippets,
      }).bind(results, params),
      stochastic: device.kernel({
        name: "sample",
        source: sampleShader,
        constants: { WORKGROUP, STRIP, CAPACITY, STOCHASTIC: true },
        snippets: [...snippets, philoxSnippet, candidatesSnippet, selectSnippet],
      }).bind({ ...results, logits, sampling }, params),
    };
  }

  /** Records the choice of a token for each of the first `outputs` outputs. */
  encode(pass: GPUComputePassEncoder, outputs: number, needs: SamplingNeeds): void {
    const { penalties, masks, stochastic } = needs;
    if (penalties) encodeDispatch(pass, this.#penalize, [outputs]);
    encodeDispatch(pass, this.#survey[masks ? "masked" : "plain"], [this.#blocks, outputs]);
    encodeDispatch(pass, this.#sample[stochastic ? "stochastic" : "greedy"], [outputs]);
  }

  /** Frees the scratch memory. */
  [Symbol.dispose](): void {
    for (const buffer of this.#scratch) this.#device.free(buffer);
  }
}
