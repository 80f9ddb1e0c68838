// Samples tokens on the GPU for several outputs, so that the next step finds its input there. It
// only owns scratch memory; all operands belong to the caller. Nothing is read back. The filters of
// kernels/ops/filters become WGSL: `prepare_filters` finds what they need of an output; then
// `filters_keep` tells whether a token is kept, by its logit minus the greatest. Sums are of
// integers, as in select.wgsl, so that they do not depend on the order of invocations.

import type { Sampler } from "../../device.ts";
import type { Pass } from "../../operation.ts";
import type { Arithmetic, Filter, Total } from "../../ops/filters/filter.ts";
import { FILTERS } from "../../ops/filters/list.ts";
import type { SamplerOptions, SamplingNeeds } from "../../ops/sampling/options.ts";
import { SAMPLING, SLOT_TOKEN, STEP_ROW } from "../../ops/step_records.ts";
import type { Gpu } from "../gpu.ts";
import { type Dispatch, encodeDispatch } from "../kernel.ts";
import { snakeCase, structs } from "../structs.ts";
import candidatesSnippet from "./candidates.wgsl" with { type: "text" };
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

    const { logits, outputs: outputRows, rows, sampling, history, mask, sampled, slots } = buffers;
    const step = { outputs: outputRows, rows };
    const snippets = [structs(STEP_ROW, SLOT_TOKEN, SAMPLING), samplingSnippet];
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
        snippets: [
          ...snippets,
          philoxSnippet,
          candidatesSnippet,
          selectSnippet,
          filtersSnippet(FILTERS),
        ],
      }).bind({ ...results, logits, sampling }, params),
    };
  }

  /** Records the sampling of a token for each of the first `outputs` outputs. */
  encode(into: Pass, outputs: number, needs: SamplingNeeds): void {
    const pass = into as GPUComputePassEncoder;
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

/** Numbers and conditions as text. */
function arithmetic(filter: number): Arithmetic<string, string> {
  return {
    constant: (value) => `f32(${value})`,
    option: (name) => `options.${snakeCase(name)}`,
    random: () => `f32(philox(vec4(position, 0u, 1u, ${filter}u), options.seed).x) * 0x1p-32`,
    multiply: (a, b) => `((${a}) * (${b}))`,
    ln: (value) => `ln(${value})`,
    atLeast: (a, b) => `((${a}) >= (${b}))`,
    not: (condition) => `!(${condition})`,
  };
}

/** A snippet with these filters. */
function filtersSnippet(filters: readonly Filter[]): string {
  const variables = filters.flatMap(({ totals }, index) => [
    `var<private> filter_${index}: bool;`,
    ...totals.map((_, total) => `var<private> total_${index}_${total}: f32;`),
  ]);
  const namesOf = (index: number) =>
    filters[index]!.totals.map((_, total) => `total_${index}_${total}`);
  const keep = (count: number) =>
    filters.slice(0, count).map(({ keeps }, index) =>
      ` && (!filter_${index} || ${keeps(arithmetic(index), "relative", namesOf(index))})`
    ).join("");
  const prepared = filters.map(({ isOn, totals }, index) => {
    const m = arithmetic(index);
    const steps = totals.map((total, number) =>
      stepOf(total, m, namesOf(index), number, `is_kept(item, last)${keep(index)}`)
    );
    return `  filter_${index} = ${isOn(m)};\n  if (filter_${index}) {\n${steps.join("")}  }\n`;
  });
  return `${variables.join("\n")}
var<workgroup> total_low: atomic<u32>;
var<workgroup> total_high: atomic<u32>;
var<workgroup> total_shared: vec2<u32>;

fn prepare_filters(
  options: Sampling, entries: Entries, last: vec2<u32>, position: u32, thread: u32,
) {
${prepared.join("")}}

fn filters_keep(options: Sampling, relative: f32) -> bool {
  return true${keep(filters.length)};
}
`;
}

function stepOf(
  total: Total,
  m: Arithmetic<string, string>,
  names: readonly string[],
  number: number,
  isKept: string,
): string {
  const before = names.slice(0, number);
  if (total.kind === "value") return `    ${names[number]} = ${total.of(m, before)};\n`;
  const add = total.kind === "least"
    ? "atomicMax(&total_low, item.x);"
    : `let mass = mass_of(relative);
        let carry = u32(atomicAdd(&total_low, mass.y) > ~mass.y);
        atomicAdd(&total_high, mass.x + carry);`;
  const value = total.kind === "least"
    ? "relative_logit(total_shared_now.y, entries.best_key)"
    : "f32(total_shared_now.x) * 0x1p-13 + f32(total_shared_now.y) * 0x1p-45";
  return `    {
      if (thread == 0u) {
        atomicStore(&total_low, 0u);
        atomicStore(&total_high, 0u);
      }
      workgroupBarrier();
      for (var at = thread; at < entries.size; at += WORKGROUP) {
        let item = entry(entries, at);
        let relative = relative_logit(item.x, entries.best_key);
        if (${isKept} && ${total.of(m, "relative", before)}) {
        ${add}
        }
      }
      workgroupBarrier();
      if (thread == 0u) {
        total_shared = vec2(atomicLoad(&total_high), atomicLoad(&total_low));
      }
      let total_shared_now = workgroupUniformLoad(&total_shared);
      ${names[number]} = ${value};
    }
`;
}
