// `deno task bench`: decode and prefill speed of a synthetic model, with the share of the memory
// bandwidth, and the device they were measured on. The model is written here with random weights;
// sizes, not values, decide the speed.

import { loadModel } from "../engine/model/load_model.ts";
import type { Model } from "../engine/model/model.ts";
import type { OutputFormat } from "../engine/mod.ts";
import { SHAPES, writeSyntheticLlama } from "./synthetic_model.ts";
import { driverVersion } from "./driver.ts";
import { openDevice } from "../kernels/mod.ts";

/** Figures of one model on one device. */
interface Result {
  model: string;
  type: string;
  /** Tokens per second over a prompt. */
  prefill: number;
  /** Tokens per second of one sequence. */
  decode: number;
  /** Speed of one sequence under a mask, as a fraction of its speed without, in turns. */
  masked: number;
  /** Tokens per second of all sequences of a batch. */
  batchDecode: number;
  /** Bytes of weights read per second when decoding one sequence. */
  decodeBandwidth: number;
}

const PROMPT_TOKENS = 256;
const DECODE_TOKENS = 64;
const BATCH = 8;
/** Pairs of runs with and without a mask. */
const PAIRS = 5;
/** A string without an end: the mask allows many tokens and forces none, which would be faster. */
const STRING: OutputFormat = { schema: { type: "string", minLength: 10_000 } };

/** Number of prompts so far. Each is new, so that none is found in the cache. */
let prompts = 0;

/**
 * Runs `count` tokens after a prompt of `prompt` tokens in `batch` sequences. Returns tokens per
 * second.
 */
async function measure(
  model: Model,
  prompt: number,
  count: number,
  { batch = 1, ...options }: { batch?: number; format?: OutputFormat } = {},
): Promise<{ prefill: number; decode: number }> {
  const vocabulary = model.tokenizer.vocabularySize;
  let first = 0;
  let rest = 0;
  await Promise.all(Array.from({ length: batch }, async () => {
    const start = prompts++ * 104_729;
    const tokens = Array.from({ length: prompt }, (_, j) => (start + j * 7919) % vocabulary);
    for await (
      const event of model.generate({
        prompt: tokens,
        temperature: 0,
        maxTokens: count,
        finish: false,
        draftTokens: 0,
        ...options,
      })
    ) {
      if (event.type !== "done") continue;
      const { completionTokens, promptMilliseconds, completionMilliseconds } = event.usage;
      first = Math.max(first, promptMilliseconds);
      rest += (completionTokens - 1) / completionMilliseconds * 1000;
    }
  }));
  return { prefill: prompt * batch / first * 1000, decode: rest };
}

/** The median ratio of runs with a mask to those without, in turns. */
async function measureMasked(model: Model): Promise<number> {
  const ratios: number[] = [];
  for (let pair = 0; pair <= PAIRS; pair++) {
    const { decode: free } = await measure(model, 8, DECODE_TOKENS);
    const { decode: masked } = await measure(model, 8, DECODE_TOKENS, { format: STRING });
    // The first pair compiles kernels and schema.
    if (pair > 0) ratios.push(masked / free);
  }
  return ratios.sort((a, b) => a - b)[Math.floor(PAIRS / 2)];
}

async function benchmark(name: string, type: string, directory: string): Promise<Result> {
  const path = `${directory}/${name}-${type}.gguf`;
  await writeSyntheticLlama(path, SHAPES[name], { type });
  await using model = await loadModel(path, { contextLength: 2048 });
  await measure(model, PROMPT_TOKENS, 4, { batch: BATCH }); // compiles the kernels
  await measure(model, PROMPT_TOKENS, 4);
  const one = await measure(model, PROMPT_TOKENS, DECODE_TOKENS);
  const masked = await measureMasked(model);
  const batch = await measure(model, 8, DECODE_TOKENS, { batch: BATCH });
  await Deno.remove(path);
  return {
    model: name,
    type,
    prefill: one.prefill,
    decode: one.decode,
    masked,
    batchDecode: batch.decode,
    decodeBandwidth: one.decode * model.memory.weights,
  };
}

const names = Deno.args.filter((word) => word in SHAPES);
const types = Deno.args.filter((word) => /^(F|BF|Q)\d/.test(word));
const directory = await Deno.makeTempDir();
try {
  const { description, bandwidth } = await (async () => {
    using device = await openDevice();
    return { description: device.profile.description, bandwidth: await device.readBandwidth() };
  })();
  const lines = [
    `${new Date().toISOString().slice(0, 10)}, ${description}, ${await driverVersion(
      description,
    )}, Deno ${Deno.version.deno}, ` +
    `reads ${(bandwidth / 1e9).toFixed(1)} GB/s`,
    "",
    `| model | prefill ${PROMPT_TOKENS} tok/s | decode tok/s | masked | decode x${BATCH} tok/s | weights GB/s | of bandwidth |`,
    "|---|---|---|---|---|---|---|",
  ];
  for (const name of names.length > 0 ? names : ["135m"]) {
    for (const type of types.length > 0 ? types : ["Q8_0", "Q4_0"]) {
      const { prefill, decode, masked, batchDecode, decodeBandwidth } = await benchmark(
        name,
        type,
        directory,
      );
      lines.push(
        `| ${name} ${type} | ${prefill.toFixed(1)} | ${decode.toFixed(1)} | x${
          masked.toFixed(2)
        } | ${batchDecode.toFixed(1)} | ` +
          `${(decodeBandwidth / 1e9).toFixed(2)} | ${
            (100 * decodeBandwidth / bandwidth).toFixed(0)
          } % |`,
      );
    }
  }
  await Deno.stdout.write(new TextEncoder().encode(lines.join("\n") + "\n"));
} finally {
  await Deno.remove(directory, { recursive: true });
}
