// `deno task bench:peers [TYPE...] [--shape 135m] [--threads 2] [--pairs 5] [--prompt 256]`: prefill and
// decode of a model with random weights on the CPU device, in turns with llama.cpp's CPU backend on the
// same file: the same prompt, window and number of threads. Prints medians and their ratio. What follows
// a long prompt decodes at that position. `--busy 4` measures beside so many processes that keep a core
// busy each. `--sequences 8` measures Quern alone: how fast so many decode at once, beside one.

import { parseArgs } from "node:util";
import { loadModel, type Model } from "../engine/model/model.ts";
import { openLlamaCpp } from "./llama_cpp.ts";
import { load, median, print } from "./report.ts";
import {
  LLAMA_3_2_1B,
  type LlamaShape,
  SMOLLM2_135M,
  writeSyntheticLlama,
} from "./synthetic_model.ts";

const SHAPES: Record<string, LlamaShape> = { "135m": SMOLLM2_135M, "1b": LLAMA_3_2_1B };
const DECODE_TOKENS = 32;
/** Rows of a chunk of the prompt, for both engines. */
const CHUNK = 512;

/** Tokens per second. */
interface Speeds {
  prefill: number;
  decode: number;
}

/** A model that is ready to be measured. */
interface Engine extends AsyncDisposable {
  measure(prompt: readonly number[]): Promise<Speeds>;
}

async function openQuern(path: string): Promise<Engine & { model: Model }> {
  const model = await loadModel(path, {
    contextLength: window,
    maxSequences: sequences,
    prefillChunk: Math.min(CHUNK, promptTokens),
    device: { kind: "cpu", threads },
  });
  return {
    model,
    async measure(prompt) {
      const started = performance.now();
      let [first, last] = [0, 0];
      const request = {
        prompt,
        maxTokens: DECODE_TOKENS + 1,
        temperature: 0,
        ignoreEnd: true,
        draftTokens: 0,
      };
      for await (const event of model.generate({ ...request, prompt: [...prompt] })) {
        if (event.type !== "done" && event.type !== "text") continue;
        last = performance.now();
        first ||= last;
      }
      return {
        prefill: promptTokens / (first - started) * 1000,
        decode: DECODE_TOKENS / (last - first) * 1000,
      };
    },
    [Symbol.asyncDispose]: () => model.close(),
  };
}

async function openPeer(path: string): Promise<Engine & { build: string }> {
  const llama = await openLlamaCpp(threads);
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
  const options = { contextSize: window, batchSize: CHUNK, threads };
  const context = await model.createContext(options);
  const sequence = context.getSequence();
  return {
    build: `${llama.llamaCppRelease.release}`,
    async measure(prompt) {
      await sequence.clearHistory();
      const started = performance.now();
      await sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(0, -1));
      const first = performance.now();
      let count = 0;
      for await (const _ of sequence.evaluate([prompt.at(-1)], { temperature: 0 })) {
        if (++count === DECODE_TOKENS) break;
      }
      return {
        prefill: (promptTokens - 1) / (first - started) * 1000,
        decode: count / (performance.now() - first) * 1000,
      };
    },
    [Symbol.asyncDispose]: async () => {
      await context.dispose();
      await model.dispose();
      await llama.dispose();
    },
  };
}

/** Tokens per second of all sequences while `count` decode at once, after prompts of 16 tokens. */
async function decodeTogether(model: Model, count: number, seed: number): Promise<number> {
  const tokens = 2 * DECODE_TOKENS;
  const begun: number[] = [];
  const ended: number[] = [];
  const one = async (sequence: number) => {
    const prompt = Array.from(
      { length: 16 },
      (_, i) => 300 + (i * 7919 + sequence + seed) % 40_000,
    );
    const request = { prompt, maxTokens: tokens, temperature: 0, ignoreEnd: true, draftTokens: 0 };
    let produced = 0;
    for await (const event of model.generate(request)) {
      if (event.type === "text" && produced++ === 0) begun.push(performance.now());
    }
    ended.push(performance.now());
  };
  await Promise.all(Array.from({ length: count }, (_, sequence) => one(97 * sequence)));
  return count * tokens / (Math.max(...ended) - Math.min(...begun)) * 1000;
}

async function compareSequences(path: string, type: string): Promise<void> {
  await using own = await openQuern(path);
  const [alone, together]: [number[], number[]] = [[], []];
  for (let pair = 0; pair <= pairs; pair++) {
    const speeds = [
      await decodeTogether(own.model, 1, 1000 * pair),
      await decodeTogether(own.model, sequences, 1000 * pair + 1),
    ];
    if (pair === 0) continue; // warm-up
    alone.push(speeds[0]);
    together.push(speeds[1]);
  }
  const [one, all] = [median(alone), median(together)];
  const ratio = (all / one).toFixed(2);
  print(`${type.padEnd(8)} ${one.toFixed(1)}  ${all.toFixed(1)}  ${ratio}    (load ${load()})`);
}

async function compareEngines(path: string, type: string): Promise<void> {
  await using own = await openQuern(path);
  await using peer = options.alone ? undefined : await openPeer(path);
  const results: { own: Speeds; peer: Speeds | undefined }[] = [];
  for (let pair = 0; pair <= pairs; pair++) {
    const prompt = Array.from(
      { length: promptTokens },
      (_, i) => 300 + (i * 7919 + pair * 104_729) % 40_000,
    );
    const result = { own: await own.measure(prompt), peer: await peer?.measure(prompt) };
    if (pair > 0) results.push(result); // the first is warm-up
  }
  const cells = (["prefill", "decode"] as const).map((what) => {
    const ours = median(results.map(({ own }) => own[what]));
    const theirs = median(results.map(({ peer }) => peer?.[what] ?? NaN));
    return [ours.toFixed(1), theirs.toFixed(1), (ours / theirs).toFixed(2)].join("  ");
  });
  print(`${type.padEnd(8)} ${cells.join("    ")}    (load ${load()}, ${peer?.build ?? "alone"})`);
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shape: { type: "string", default: "135m" },
    threads: { type: "string", default: String(navigator.hardwareConcurrency) },
    pairs: { type: "string", default: "5" },
    prompt: { type: "string", default: "256" },
    sequences: { type: "string", default: "1" },
    busy: { type: "string", default: "0" },
    alone: { type: "boolean", default: false },
  },
});
const found = SHAPES[options.shape];
if (!found) throw new Error(`Cannot measure "${options.shape}": shapes are ${Object.keys(SHAPES)}`);
const threads = Number(options.threads);
const pairs = Number(options.pairs);
const promptTokens = Number(options.prompt);
const sequences = Number(options.sequences);
const window = promptTokens + 256;
const shape = { ...found, context: Math.max(found.context, window) };

const neighbours = Array.from(
  { length: Number(options.busy) },
  () => new Deno.Command(Deno.execPath(), { args: ["eval", "for (;;);"] }).spawn(),
);
addEventListener("unload", () => neighbours.forEach((process) => process.kill("SIGKILL")));

const beside = neighbours.length > 0 ? `, beside ${neighbours.length} busy processes` : "";
print(
  `${options.shape}, ${threads} threads, ${promptTokens} tokens of prompt, load ${load()}${beside}`,
);
print(
  sequences > 1
    ? `type     tokens/s: alone  ${sequences} sequences  ratio`
    : "type     prefill: quern  llama.cpp  ratio   decode: quern  llama.cpp  ratio",
);
for (const type of positionals.length > 0 ? positionals : ["Q8_0", "Q4_0", "Q4_K", "Q6_K"]) {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await writeSyntheticLlama(path, shape, { type });
    await (sequences > 1 ? compareSequences : compareEngines)(path, type);
  } finally {
    await Deno.remove(path);
  }
}
Deno.exit(0);
