// `deno task bench:peers [TYPE...] [--shape 135m] [--threads 2] [--pairs 5]`: prefill and decode of a
// model with random weights on the CPU device, in turns with llama.cpp's CPU backend on the same file:
// the same prompt, window and number of threads. Prints medians and their ratio.

import { parseArgs } from "node:util";
import { loadavg } from "node:os";
import { loadModel } from "../engine/model/model.ts";
import {
  LLAMA_3_2_1B,
  type LlamaShape,
  SMOLLM2_135M,
  writeSyntheticLlama,
} from "./synthetic_model.ts";

const SHAPES: Record<string, LlamaShape> = { "135m": SMOLLM2_135M, "1b": LLAMA_3_2_1B };
const PROMPT_TOKENS = 256;
const DECODE_TOKENS = 32;
const WINDOW = 512;

/** Tokens per second. */
interface Speeds {
  prefill: number;
  decode: number;
}

/** A model that is ready to be measured. */
interface Engine extends AsyncDisposable {
  measure(prompt: readonly number[]): Promise<Speeds>;
}

async function openQuern(path: string, threads: number): Promise<Engine> {
  const model = await loadModel(path, {
    contextLength: WINDOW,
    maxSequences: 1,
    prefillChunk: PROMPT_TOKENS,
    device: { kind: "cpu", threads },
  });
  return {
    async measure(prompt) {
      const started = performance.now();
      let [first, last] = [0, 0];
      const request = { prompt, maxTokens: DECODE_TOKENS + 1, temperature: 0, ignoreEnd: true };
      for await (const event of model.generate({ ...request, prompt: [...prompt] })) {
        if (event.type !== "done" && event.type !== "text") continue;
        last = performance.now();
        first ||= last;
      }
      return speeds(started, first, last);
    },
    [Symbol.asyncDispose]: () => model.close(),
  };
}

/** The package of llama.cpp's builds; its first run fetches them. */
const PACKAGE = "npm:node-llama-cpp@3.21.1";

async function openLlamaCpp(path: string, threads: number): Promise<Engine & { build: string }> {
  const { getLlama } = await import(PACKAGE);
  const llama = await getLlama({ gpu: false, build: "never", maxThreads: threads });
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
  const options = { contextSize: WINDOW, batchSize: WINDOW, threads };
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
        prefill: (PROMPT_TOKENS - 1) / (first - started) * 1000,
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

function speeds(started: number, first: number, last: number): Speeds {
  return {
    prefill: PROMPT_TOKENS / (first - started) * 1000,
    decode: DECODE_TOKENS / (last - first) * 1000,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shape: { type: "string", default: "135m" },
    threads: { type: "string", default: String(navigator.hardwareConcurrency) },
    pairs: { type: "string", default: "5" },
    alone: { type: "boolean", default: false },
  },
});
const shape = SHAPES[options.shape];
if (!shape) throw new Error(`Cannot measure "${options.shape}": shapes are ${Object.keys(SHAPES)}`);
const threads = Number(options.threads);
const print = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text + "\n"));
const load = () => loadavg()[0]!.toFixed(1);

print(`${options.shape}, ${threads} threads, ${PROMPT_TOKENS} tokens of prompt, load ${load()}`);
print("type     prefill: quern  llama.cpp  ratio   decode: quern  llama.cpp  ratio");
for (const type of positionals.length > 0 ? positionals : ["Q8_0", "Q4_0", "Q4_K", "Q6_K"]) {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await writeSyntheticLlama(path, shape, { type });
    await using own = await openQuern(path, threads);
    await using peer = options.alone ? undefined : await openLlamaCpp(path, threads);
    const results: { own: Speeds; peer: Speeds | undefined }[] = [];
    for (let pair = 0; pair <= Number(options.pairs); pair++) {
      const prompt = Array.from(
        { length: PROMPT_TOKENS },
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
  } finally {
    await Deno.remove(path);
  }
}
Deno.exit(0);
