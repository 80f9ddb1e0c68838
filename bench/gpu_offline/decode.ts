// The work of the host for decoding, on the null GPU: a model of 32 layers in Q4_K_M, whose widths do
// not matter, decodes freely, with sampling, with logits of each token, and under a mask. Prints JSON.
// Run by main.ts with the architecture, and by a test with the names of some ways too.

import process from "node:process";
import { type GenerateRequest, loadModel } from "../../engine/mod.ts";
import { type LlamaShape, writeSyntheticLlama } from "../synthetic_model.ts";
import { type Counts, openCounters } from "./null_gpu.ts";

/** The cost of a token in one way of decoding. */
export interface DecodeFigures {
  readonly name: string;
  readonly tokensPerSecond: number;
  /** The fastest WINDOW consecutive tokens, because other work of the machine varies. */
  readonly fastest: number;
  /** Processor time of a token, of all threads, in milliseconds. */
  readonly cpu: number;
  /** Milliseconds until the first token. */
  readonly firstToken: number;
  /** The driver's counts for each token after the first. */
  readonly perToken: Omit<Counts, "idleNanoseconds" | "gaps">;
  /** Idle time of a GPU that takes DISPATCH_NANOSECONDS for a dispatch, per submit, in milliseconds. */
  readonly idle: number;
  /** The idle times: their median and their first decile, in milliseconds. */
  readonly gap: { readonly median: number; readonly tenth: number };
}

/** All figures of one model. */
export interface DecodeReport {
  readonly architecture: string;
  readonly layers: number;
  readonly ways: readonly DecodeFigures[];
}

/**
 * Nanoseconds of a dispatch on the GPU whose idle time is counted: an 8B model at 60 tokens a
 * second.
 */
const DISPATCH_NANOSECONDS = 50_000;

const LAYERS = 32;
const TOKENS = 400;
const IDLE_TOKENS = 240;
const WINDOW = 16;

const SHAPE: LlamaShape = {
  layers: LAYERS,
  embedding: 512,
  heads: 8,
  keyValueHeads: 2,
  feedForward: 1024,
  vocabulary: 1024,
  context: 8192,
  ropeBase: 500_000,
  tiedEmbedding: true,
};

// The null GPU always gives token 0, the byte 0, so the pattern has to allow it.
const WAYS: Readonly<Record<string, Partial<GenerateRequest>>> = {
  free: { temperature: 0 },
  sampled: { temperature: 0.8, topK: 40, topP: 0.9, repeatPenalty: 1.1 },
  logprobs: { temperature: 0, logprobs: 1 },
  constrained: { temperature: 0, format: { pattern: "[^x]*" }, finish: false },
};

const [architecture = "llama", ...names] = Deno.args;
const counters = openCounters();
const path = await Deno.makeTempFile({ suffix: ".gguf" });
try {
  await writeSyntheticLlama(path, SHAPE, { type: "Q4_K_M", architecture });
  await using model = await loadModel(path, { contextLength: 4096, maxSequences: 1 });
  let prompts = 0;
  const run = async (maxTokens: number, options: Partial<GenerateRequest>) => {
    const start = 7919 * prompts++; // no prompt is found in the cache
    const prompt = Array.from({ length: 50 }, (_, i) => (start + i * 31) % 256);
    const begin = performance.now();
    const times: number[] = [];
    let [tokens, first, before, cpu] = [0, 0, counters.counts(), process.cpuUsage()];
    const request = { prompt, maxTokens, ignoreEnd: true, draftTokens: 0, ...options };
    for await (const event of model.generate(request)) {
      if (event.type !== "text") continue;
      tokens += event.tokens.length;
      const at = performance.now();
      for (const _ of event.tokens) times.push(at);
      if (first > 0) continue;
      first = performance.now();
      before = counters.counts();
      cpu = process.cpuUsage();
    }
    const after = counters.counts();
    const { user, system } = process.cpuUsage(cpu);
    return {
      tokens,
      firstToken: first - begin,
      fastest: Math.max(
        ...times.slice(0, -WINDOW).map((at, i) => 1000 * WINDOW / (times[i + WINDOW]! - at)),
      ),
      cpu: (user + system) / 1000 / (tokens - 1),
      seconds: (performance.now() - first) / 1000,
      counted: Object.fromEntries(
        Object.keys(after).map((
          key,
        ) => [key, after[key as keyof Counts] - before[key as keyof Counts]]),
      ) as unknown as Counts,
    };
  };
  const ways: DecodeFigures[] = [];
  for (const [name, options] of Object.entries(WAYS)) {
    if (names.length > 0 && !names.includes(name)) continue;
    await run(64, options);
    const { tokens, firstToken, fastest, cpu, seconds, counted } = await run(TOKENS, options);
    counters.setDispatchTime(DISPATCH_NANOSECONDS);
    const busy = await run(IDLE_TOKENS, options);
    counters.setDispatchTime(0);
    const gaps = counters.gaps(busy.counted.gaps).sort((a, b) => a - b);
    const { idleNanoseconds: _, gaps: __, ...all } = counted;
    ways.push({
      name,
      tokensPerSecond: (tokens - 1) / seconds,
      fastest,
      cpu,
      firstToken,
      perToken: Object.fromEntries(
        Object.entries(all).map(([key, count]) => [key, count / (tokens - 1)]),
      ) as DecodeFigures["perToken"],
      idle: busy.counted.idleNanoseconds / busy.counted.submits / 1e6,
      gap: {
        median: (gaps[Math.floor(gaps.length / 2)] ?? 0) / 1e6,
        tenth: (gaps[Math.floor(gaps.length / 10)] ?? 0) / 1e6,
      },
    });
  }
  const report: DecodeReport = { architecture, layers: LAYERS, ways };
  await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(report)));
} finally {
  await Deno.remove(path);
}
Deno.exit(0);
