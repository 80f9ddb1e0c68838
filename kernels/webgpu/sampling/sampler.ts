// Samples tokens on the GPU for several outputs, so that the next step finds its input there. It
// only owns scratch memory; all operands belong to the caller. Nothing is read back.

import type { Sampler } from "../../device.ts";
import type { Pass } from "../../operation.ts";
import { BIAS_WORDS, type SamplerOptions, type SamplingNeeds } from "../../ops/sampling/options.ts";
import { SAMPLING, SLOT_TOKEN, STEP_ROW } from "../../ops/step_records.ts";
import type { Gpu } from "../gpu.ts";
import { type Dispatch, encodeDispatch } from "../kernel.ts";
import { structs } from "../snippets.ts";
import biasShader from "./bias.wgsl" with { type: "text" };
import candidatesSnippet from "./candidates.wgsl" with { type: "text" };
import { filtersSnippet } from "./filters.ts";
import penalizeShader from "./penalize.wgsl" with { type: "text" };
import philoxSnippet from "./philox.wgsl" with { type: "text" };
import sampleShader from "./sample.wgsl" with { type: "text" };
import samplingSnippet from "./sampling.wgsl" with { type: "text" };
import selectSnippet from "./select.wgsl" with { type: "text" };
import surveyShader from "./survey.wgsl" with { type: "text" };

const WORKGROUP = 256;

/**
 * Tokens per invocation of the survey: few enough to occupy a GPU, and enough to skip most strips.
 */
const STRIP = 32;

/** Candidates that fit into workgroup memory. With more, each pass reads the vocabulary. */
const CAPACITY = 1024;

/** The sampling kernels, bound to a model's buffers. Disposing of it frees its scratch memory. */
export class GpuSampler implements Sampler {
  readonly #device: Gpu;
  readonly #scratch: GPUBuffer[];
  readonly #blocks: number;
  readonly #penalize: Dispatch;
  readonly #bias: Dispatch;
  readonly #survey: Record<"plain" | "masked", Dispatch>;
  readonly #sample: Record<"greedy" | "stochastic", Dispatch>;

  /** Errors: GpuError, GpuMemoryError. */
  constructor(device: Gpu, { buffers, vocabulary, context, outputs }: SamplerOptions) {
    this.#device = device;
    this.#blocks = Math.ceil(vocabulary / (WORKGROUP * STRIP));
    const stripCount = this.#blocks * WORKGROUP;
    const strips = device.buffer("sampling strips", 8 * outputs * stripCount, "scratch");
    const counts = device.buffer("token counts", 4 * outputs * vocabulary, "scratch");
    this.#scratch = [strips, counts];

    const { logits, outputs: outputRows, rows, sampling, history, biases, mask } = buffers;
    const { sampled, slots } = buffers;
    const step = { outputs: outputRows, rows };
    const snippets = [structs(STEP_ROW, SLOT_TOKEN, SAMPLING), samplingSnippet];
    const params = { vocabulary, strips: stripCount };
    this.#penalize = device.kernel({
      name: "penalize",
      source: penalizeShader,
      constants: { WORKGROUP },
      snippets,
    }).bind({ logits, ...step, sampling, history, counts }, { vocabulary, context });

    this.#bias = device.kernel({
      name: "bias",
      source: biasShader,
      constants: { WORKGROUP },
      snippets,
    })
      .bind({ logits, ...step, biases }, { vocabulary, stride: BIAS_WORDS });

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
        snippets: [
          ...snippets,
          philoxSnippet,
          candidatesSnippet,
          filtersSnippet(),
          selectSnippet,
        ],
      }).bind({ ...results, logits, sampling }, params),
    };
  }

  /** Records the sampling of a token for each of the first `outputs` outputs. */
  encode(into: Pass, outputs: number, needs: SamplingNeeds): void {
    const pass = into as GPUComputePassEncoder;
    const { penalties, biases, masks, stochastic } = needs;
    if (penalties) encodeDispatch(pass, this.#penalize, [outputs]);
    if (biases) encodeDispatch(pass, this.#bias, [outputs]);
    encodeDispatch(pass, this.#survey[masks ? "masked" : "plain"], [this.#blocks, outputs]);
    encodeDispatch(pass, this.#sample[stochastic ? "stochastic" : "greedy"], [outputs]);
  }

  /** Frees the scratch memory. */
  [Symbol.dispose](): void {
    for (const buffer of this.#scratch) this.#device.free(buffer);
  }
}
