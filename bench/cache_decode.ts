// `deno task bench:cache-decode [--context 8192] [--tokens 32] [--pairs 5] [--threads 1] [--types f16,q8_0]`:
// decoding of a whole 135M model with random weights (Q8_0) far into its window, with KV caches of several
// types, in turns. The prompt is read once for each type; then its blocks are found in the prefix cache.
// Prints bytes of the KV cache, and the processor time of a token: least and median.

import { cpuUsage } from "node:process";
import { parseArgs } from "node:util";
import { loadModel, type LocalLoadOptions, type Usage } from "../engine/mod.ts";
import { load, median, print } from "./report.ts";
import { SMOLLM2_135M, writeSyntheticLlama } from "./synthetic_model.ts";
import { temporaryFolder } from "./temporary.ts";

const { values } = parseArgs({
  options: {
    context: { type: "string", default: "8192" },
    tokens: { type: "string", default: "32" },
    pairs: { type: "string", default: "5" },
    threads: { type: "string", default: "1" },
    types: { type: "string", default: "f16,q8_0" },
  },
});
const [context, tokens, pairs, threads] = [
  values.context,
  values.tokens,
  values.pairs,
  values.threads,
].map(Number) as [number, number, number, number];
const types = values.types.split(",") as NonNullable<LocalLoadOptions["cacheType"]>[];

function cpuMilliseconds(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

using folder = temporaryFolder();
const path = `${folder.path}/model.gguf`;
await writeSyntheticLlama(path, SMOLLM2_135M, { type: "Q8_0" });
const prompt = Array.from(
  { length: context - tokens - 1 },
  (_, i) => (i * 7919 + i * i * 13 + 5) % SMOLLM2_135M.vocabulary,
);
await using models = new AsyncDisposableStack();
const rivals = [];
for (const cacheType of types) {
  const model = models.use(
    await loadModel(path, {
      contextLength: context,
      maxSequences: 1,
      cacheWindows: 1,
      cacheType,
      device: { kind: "cpu", threads },
    }),
  );
  const run = async (maxTokens: number): Promise<Usage> => {
    const request = { prompt, temperature: 0, ignoreEnd: true, draftTokens: 0, maxTokens };
    for await (const event of model.generate(request)) {
      if (event.type === "done") return event.usage;
    }
    throw new Error("Cannot measure: an answer has no end");
  };
  const began = cpuMilliseconds();
  await run(1);
  const prefill = (cpuMilliseconds() - began) / 1000;
  rivals.push({ cacheType, model, run, prefill, wall: [] as number[], own: [] as number[] });
}
print(`135M Q8_0, ${context} positions, ${threads} threads, load ${load()}`);
for (let pair = 0; pair < pairs; pair++) {
  for (const { run, own, wall } of pair % 2 === 0 ? rivals : rivals.toReversed()) {
    // What a short answer takes beside its tokens is taken off.
    const timeOf = async (count: number) => {
      const began = cpuMilliseconds();
      const { completionMilliseconds } = await run(count);
      return { cpu: cpuMilliseconds() - began, wall: completionMilliseconds };
    };
    const short = await timeOf(1);
    const long = await timeOf(tokens + 1);
    own.push((long.cpu - short.cpu) / tokens);
    wall.push((long.wall - short.wall) / tokens);
  }
}
for (const { cacheType, model, prefill, own, wall } of rivals) {
  const [least, middle] = [Math.min(...own), median(own)].map((ms) => ms.toFixed(2));
  print(
    `${cacheType}: KV cache ${(model.memory.keyValueCache / 2 ** 20).toFixed(1)} MiB; ` +
      `prompt ${prefill.toFixed(1)} s of processor time; a token ${least} ms of it at least, ` +
      `${middle} in the median, ${median(wall).toFixed(2)} ms by the clock`,
  );
}
const [first, ...others] = rivals;
for (const { cacheType, own } of others) {
  const ratio = median(first!.own.map((ms, pair) => ms / own[pair]!));
  print(
    `${cacheType} decodes ${ratio.toFixed(2)} times as fast as ${
      first!.cacheType
    } (median of pairs)`,
  );
}
