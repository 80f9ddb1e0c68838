// `deno task bench:drafts [--threads 2] [--pairs 5] [--only lookup|model]`: decoding with drafts beside
// decoding without them, in turns, on the CPU device and a 135M model with random weights. One text goes
// around, as what such a model says of itself does, so that all drafts are right; the other one is drawn
// at random and repeats nothing. Prints medians of tokens per second, and of the ratio within a pair, also
// of processor times, which other programs lengthen less. Then draft_model.ts measures a draft model.

import { cpuUsage } from "node:process";
import { parseArgs } from "node:util";
import { type GenerateRequest, loadModel, type Usage } from "../engine/mod.ts";
import { benchDraftModel } from "./draft_model.ts";
import { load, median, print } from "./report.ts";
import { SMOLLM2_135M, writeSyntheticLlama } from "./synthetic_model.ts";
import { temporaryFolder } from "./temporary.ts";

const TOKENS = 128;

const { values } = parseArgs({
  options: {
    threads: { type: "string" },
    pairs: { type: "string", default: "5" },
    only: { type: "string" },
  },
});
const threads = Number(values.threads ?? 2);
if (values.only === "model") {
  await benchDraftModel({ threads, pairs: Number(values.pairs) });
  Deno.exit();
}
{
  using folder = temporaryFolder();
  const path = `${folder.path}/model.gguf`;
  await writeSyntheticLlama(path, SMOLLM2_135M, { type: "Q8_0" });
  await using model = await loadModel(path, {
    contextLength: 2048,
    maxSequences: 1,
    device: { kind: "cpu", threads },
  });

  const run = async (request: GenerateRequest) => {
    const tokens: number[] = [];
    let usage: Usage | undefined;
    let began = cpuUsage();
    for await (const event of model.generate({ ...request, ignoreEnd: true, maxTokens: TOKENS })) {
      if (event.type === "text") {
        if (tokens.length === 0) began = cpuUsage(); // The prompt is read by now.
        tokens.push(...event.tokens);
      }
      if (event.type === "done") usage = event.usage;
    }
    const { user, system } = cpuUsage(began);
    return { tokens, usage: usage!, cpu: user + system };
  };

  const beginning = Array.from({ length: 64 }, (_, i) => (i * 7919 + 5) % SMOLLM2_135M.vocabulary);
  const { tokens } = await run({ prompt: beginning, temperature: 0 });
  const texts: Record<string, GenerateRequest> = {
    "goes around": { prompt: [...beginning, ...tokens], temperature: 0 },
    "repeats nothing": { prompt: beginning, temperature: 1, topK: 0, topP: 1, seed: 3 },
  };
  print(`135M Q8_0, ${threads} threads, ${TOKENS} tokens, load ${load()}`);
  for (const [name, request] of Object.entries(texts)) {
    const plain: number[] = [];
    const drafted: number[] = [];
    const times: Record<"plain" | "drafted", number[]> = { plain: [], drafted: [] };
    let [proposed, accepted] = [0, 0];
    for (let pair = 0; pair < Number(values.pairs); pair++) {
      const both = [[plain, 0], [drafted, undefined]] as const;
      // Whoever comes second may find the machine in another state: they take turns at that, too.
      for (const [rates, draftTokens] of pair % 2 === 0 ? both : both.toReversed()) {
        const { usage, cpu } = await run(
          draftTokens === undefined ? request : { ...request, draftTokens },
        );
        rates.push((usage.completionTokens - 1) / usage.completionMilliseconds * 1000);
        times[draftTokens === 0 ? "plain" : "drafted"].push(cpu);
        proposed += usage.draftedTokens ?? 0;
        accepted += usage.acceptedTokens ?? 0;
      }
    }
    const [without, with_] = [median(plain), median(drafted)];
    const ratio = median(drafted.map((rate, pair) => rate / plain[pair])).toFixed(2);
    const cpuRatio = median(times.plain.map((cpu, pair) => cpu / times.drafted[pair])).toFixed(2);
    print(
      `a text that ${name}: ${without.toFixed(1)} tokens/s without drafts, ${
        with_.toFixed(1)
      } with ` +
        `(${ratio}; ${cpuRatio} by processor time); ${accepted} of ${proposed} drafted tokens came`,
    );
  }
}
if (values.only === undefined) await benchDraftModel({ threads, pairs: Number(values.pairs) });
