// The choice of tokens over vocabularies of real models: the likeliest one, and a draw with the filters
// that servers have by default.

import {
  BIAS_WORDS,
  type Operation,
  packSampling,
  SAMPLING,
  SLOT_TOKEN,
  STEP_ROW,
} from "../../kernels/mod.ts";
import { sampleReference, type SamplingOptions } from "../../kernels/ops/sampling/mod.ts";
import { MODELS } from "./shapes.ts";
import {
  type BoundCase,
  counted,
  type KernelCase,
  oneSequence,
  plainly,
  randomFloats,
  ROWS,
  type Workbench,
} from "./workbench.ts";

/** More outputs than sequences that decode are rare, and their logits take much memory. */
const MOST_OUTPUTS = 16;

/** Random logits with the spread of a model's. */
const LOGIT_RANGE = 12;

const GREEDY: SamplingOptions = {
  ...{ temperature: 0, topK: 0, topP: 1, minP: 0, seed: 7n, masked: false },
  ...{ repeatPenalty: 1, presencePenalty: 0, frequencyPenalty: 0, repeatLastN: 0 },
};

const KINDS: Readonly<Record<string, SamplingOptions>> = {
  greedy: GREEDY,
  drawn: { ...GREEDY, temperature: 0.8, topK: 40, topP: 0.9 },
  unfiltered: { ...GREEDY, temperature: 0.8 },
  min_p: { ...GREEDY, temperature: 0.8, minP: 0.05 },
  typical: { ...GREEDY, temperature: 0.8, topK: 40, typicalP: 0.9 },
};

/** All of these, by model, kind and outputs. */
export function samplingCases(): KernelCase[] {
  return Object.entries(MODELS).flatMap(([model, { vocabulary }]) =>
    Object.entries(KINDS).flatMap(([kind, options]) =>
      ROWS.filter((outputs) => outputs <= MOST_OUTPUTS).map((outputs): KernelCase => ({
        words: ["sample", model, kind, `${vocabulary}`, counted(outputs, "rows")],
        bind: (bench) => bound(bench, vocabulary, outputs, options),
      }))
    )
  );
}

function bound(
  bench: Workbench,
  vocabulary: number,
  outputs: number,
  options: SamplingOptions,
): BoundCase {
  const { device } = bench;
  const values = randomFloats(outputs * vocabulary, outputs).map((value) => LOGIT_RANGE * value);
  const each = Array.from({ length: outputs }, (_, row) => row);
  const rows = each.map((row) => {
    return { token: 0, position: row, slot: row, time: row, height: row, width: row };
  });
  const sampling = new Uint32Array(outputs * SAMPLING.words);
  for (const slot of each) sampling.set(packSampling(options), slot * SAMPLING.words);
  const logits = bench.upload(values);
  const sampled = bench.upload(new Uint32Array(outputs));
  const buffers = {
    ...{ logits, sampled },
    outputs: bench.upload(Uint32Array.from(each)),
    rows: bench.upload(STEP_ROW.pack(rows)),
    sampling: bench.upload(sampling),
    history: bench.upload(new Uint32Array(outputs)),
    biases: bench.upload(new Uint32Array(outputs * BIAS_WORDS)),
    mask: bench.upload(new Uint32Array(outputs * Math.ceil(vocabulary / 32))),
    slots: bench.upload(new Uint32Array(outputs * SLOT_TOKEN.words)),
  };
  const sampler = device.sampler({ buffers, vocabulary, context: 1, outputs });
  const needs = {
    ...{ penalties: false, biases: false, masks: false },
    stochastic: options.temperature > 0,
  };
  const operation: Operation = {
    name: "sample",
    reads: [logits],
    writes: [sampled],
    encode: (pass, count) => sampler.encode(pass, count!, needs),
    work: ({ rows }) => {
      const read = rows * vocabulary;
      return { bytesRead: 4 * read, bytesWritten: 4 * rows, flops: read };
    },
  };
  return {
    variants: plainly(operation, outputs),
    counts: oneSequence(outputs),
    reset: () => device.write(sampled, 0, new Uint32Array(outputs).fill(vocabulary)),
    async compare() {
      const bits = await bench.read({ floats: sampled, columns: 1, stride: 1 }, each);
      const expected = each.map((row) => {
        const own = values.slice(row * vocabulary, (row + 1) * vocabulary);
        return sampleReference(own, options, { position: row }).token;
      });
      // Another token is an error beyond any tolerance, unless its id is adjacent.
      return { actual: new Uint32Array(bits.buffer), expected, tolerance: 1e-9 };
    },
  };
}
