// `deno task bench:peers [TYPE|FILE...] [--shape 135m] [--threads 2] [--pairs 5] [--prompt 256] [--tokens 32]`:
// prefill and decode of a model with random weights, or of a file, on the CPU device, in turns with
// llama.cpp's CPU backend on the same file: the same prompt, window and number of threads. The peer is
// llama.cpp's own llama-bench, built for this CPU, or found at `--llama-bench PATH`. `--peer
// node-llama-cpp` is its prebuilt libraries called for each token, `--peer wllama` it in WebAssembly, in a
// Chromium. Prints medians and their ratio. `--once` is for long prompts: each engine reads one prompt
// once, and then decodes after it in turns. `--busy 4` measures beside so many processes that each keep a
// core busy. After `--seconds` no pair begins and llama.cpp's answers are cut. `--sequences 8` measures
// Quern alone: how fast so many decode at once, beside one.

import { parseArgs } from "node:util";
import { loadModel } from "../engine/model/load_model.ts";
import type { Model } from "../engine/model/model.ts";
import { openLlamaBench } from "./llama_bench.ts";
import { openLlamaCpp } from "./llama_cpp.ts";
import type { PeerEngine, PeerOptions, Speeds } from "./peer.ts";
import { load, median, print } from "./report.ts";
import { SHAPES, writeSyntheticLlama } from "./synthetic_model.ts";
import { temporaryFolder } from "./temporary.ts";
import { openWllama } from "./wllama.ts";

const PEERS: Record<string, typeof openWllama> = {
  "llama.cpp": (path, peer) => openLlamaBench(path, peer, options["llama-bench"]),
  "node-llama-cpp": openLlamaCppEngine,
  wllama: openWllama,
};
/** Rows of a chunk of the prompt, for both engines. */
const CHUNK = 512;

/** What was measured in a turn. */
interface Pair {
  own: Speeds;
  peer: Speeds | undefined;
}

async function openQuern(path: string): Promise<PeerEngine & { model: Model }> {
  const model = await loadModel(path, {
    contextLength: window,
    maxSequences: sequences,
    prefillChunk: Math.min(CHUNK, promptTokens),
    device: { kind: "cpu", threads },
  });
  return {
    name: "quern",
    model,
    async measure(prompt) {
      const started = performance.now();
      let [first, last] = [0, 0];
      const request = {
        prompt,
        maxTokens: decodeTokens + 1,
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
        prefill: prompt.length / (first - started) * 1000,
        decode: decodeTokens / (last - first) * 1000,
      };
    },
    [Symbol.asyncDispose]: () => model.close(),
  };
}

async function openLlamaCppEngine(
  path: string,
  { threads, window, chunk, decodeTokens }: PeerOptions,
): Promise<PeerEngine> {
  const llama = await openLlamaCpp(threads);
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
  const options = { contextSize: window, batchSize: chunk, threads };
  const context = await model.createContext(options);
  const sequence = context.getSequence();
  return {
    name: `llama.cpp ${llama.llamaCppRelease.release}`,
    async measure(prompt, isKnown = false) {
      const before = prompt.slice(0, -1);
      if (isKnown) await sequence.adaptStateToTokens(before);
      else await sequence.clearHistory();
      const started = performance.now();
      if (!isKnown) await sequence.evaluateWithoutGeneratingNewTokens(before);
      const first = performance.now();
      let count = 0;
      for await (const _ of sequence.evaluate([prompt.at(-1)], { temperature: 0 })) {
        if (++count === decodeTokens || performance.now() > deadline) break;
      }
      return {
        prefill: before.length / (first - started) * 1000,
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

/**
 * Tokens per second of all sequences while `count` decode at once, after prompts of 16 tokens: from
 * when the last one has its first token until the first one ends.
 */
async function decodeTogether(model: Model, count: number, seed: number): Promise<number> {
  const tokens = 4 * decodeTokens;
  const times: number[][] = [];
  const one = async (sequence: number) => {
    const prompt = Array.from(
      { length: 16 },
      (_, i) => 300 + (i * 7919 + sequence + seed) % 40_000,
    );
    const request = { prompt, maxTokens: tokens, temperature: 0, ignoreEnd: true, draftTokens: 0 };
    const received: number[] = [];
    for await (const event of model.generate(request)) {
      if (event.type === "text") received.push(performance.now());
    }
    times.push(received);
  };
  await Promise.all(Array.from({ length: count }, (_, sequence) => one(97 * sequence)));
  const first = Math.max(...times.map((received) => received[0]!));
  const last = Math.min(...times.map((received) => received.at(-1)!));
  // A text may be of several tokens, or of none where a character is incomplete.
  const produced = times.map((received) =>
    tokens * received.filter((time) => time > first && time <= last).length / received.length
  );
  return produced.reduce((sum, some) => sum + some) / (last - first) * 1000;
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
  await using peer = options.alone
    ? undefined
    : await openPeer(path, { threads, window, chunk: CHUNK, decodeTokens });
  deadline = performance.now() + 1000 * seconds;
  const measureBoth = async (prompt: readonly number[], isKnown?: boolean) => ({
    own: await own.measure(prompt, isKnown),
    peer: await peer?.measure(prompt, isKnown),
  });
  // Warm-up: V8 compiles what runs often; of llama.cpp's file all pages have to be there.
  await own.measure(promptOf(0, Math.min(promptTokens, CHUNK)));
  await peer?.measure(promptOf(0, 2));
  const read: Pair[] = [];
  const decoded: Pair[] = [];
  for (let pair = 1; pair <= pairs && (pair === 1 || performance.now() < deadline); pair++) {
    const isKnown = once && pair > 1;
    const result = await measureBoth(promptOf(once ? 1 : pair, promptTokens), isKnown);
    if (!isKnown) read.push(result);
    decoded.push(result);
  }
  const cells = ([["prefill", read], ["decode", decoded]] as const).map(([what, measured]) => {
    const ours = median(measured.map(({ own }) => own[what]));
    const theirs = median(measured.map(({ peer }) => peer?.[what] ?? NaN));
    return [ours.toFixed(1), theirs.toFixed(1), (ours / theirs).toFixed(2)].join("  ");
  });
  print(
    `${type.padEnd(8)} ${cells.join("    ")}    (${decoded.length} pairs, load ${load()}, ${
      peer?.name ?? "alone"
    })`,
  );
}

/** A prompt that no other one begins like, of bytes that a peer without token ids can be given as text. */
function promptOf(number: number, length: number): number[] {
  const [first, last] = [0x21, 0x7e]; // printable: each is a character and a token of the same number
  return Array.from(
    { length },
    (_, i) => first + (i * 7919 + number * 104_729) % (last - first + 1),
  );
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shape: { type: "string", default: "135m" },
    peer: { type: "string", default: "llama.cpp" },
    "llama-bench": { type: "string" },
    threads: { type: "string", default: String(navigator.hardwareConcurrency) },
    pairs: { type: "string", default: "5" },
    prompt: { type: "string", default: "256" },
    tokens: { type: "string", default: "32" },
    once: { type: "boolean", default: false },
    seconds: { type: "string", default: "Infinity" },
    sequences: { type: "string", default: "1" },
    busy: { type: "string", default: "0" },
    alone: { type: "boolean", default: false },
  },
});
const found = SHAPES[options.shape];
if (!found) throw new Error(`Cannot measure "${options.shape}": shapes are ${Object.keys(SHAPES)}`);
const openPeer = PEERS[options.peer];
if (!openPeer) {
  throw new Error(`Cannot measure beside "${options.peer}": peers are ${Object.keys(PEERS)}`);
}
const threads = Number(options.threads);
const pairs = Number(options.pairs);
const promptTokens = Number(options.prompt);
const decodeTokens = Number(options.tokens);
const seconds = Number(options.seconds);
const { once } = options;
/** When no pair is to begin any more, and llama.cpp's answers are cut. */
let deadline = Infinity;
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
    : `type     prefill: quern  ${options.peer}  ratio   decode: quern  ${options.peer}  ratio`,
);
for (const type of positionals.length > 0 ? positionals : ["Q8_0", "Q4_0", "Q4_K", "Q6_K"]) {
  using folder = temporaryFolder();
  const isFile = type.endsWith(".gguf");
  const path = isFile ? type : `${folder.path}/model.gguf`;
  if (!isFile) await writeSyntheticLlama(path, shape, { type });
  await (sequences > 1 ? compareSequences : compareEngines)(path, type);
}
Deno.exit(0);
