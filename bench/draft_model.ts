// Decoding with a draft model beside decoding without one: a 1B model with random weights, and one of
// 135M with the same vocabulary, on the CPU device. Random weights never agree, so the shares of right
// tokens are forced: after the draft model has done its work, its tokens are exchanged for those that are
// known to come, each with that probability. The draft model then reads right tokens anew that it would
// have had, so that real drafts cost a little less.

import { type GenerateRequest, loadModel, type Usage } from "../engine/mod.ts";
import { ModelDrafter } from "../engine/run/mod.ts";
import { load, median, print } from "./report.ts";
import { LLAMA_3_2_1B, SMOLLM2_135M, writeSyntheticLlama } from "./synthetic_model.ts";
import { temporaryFolder } from "./temporary.ts";

const TOKENS = 64;

/** Tokens of a draft. */
const DRAFT = 4;

/** Shares of drafted tokens that are right, each after those before it. */
const SHARES = [0, 0.5, 0.8];

/** Measures and prints tokens per second for each share, in turns with decoding without drafts. */
export async function benchDraftModel(
  { threads, pairs }: { threads: number; pairs: number },
): Promise<void> {
  using folder = temporaryFolder();
  const [path, draft] = [`${folder.path}/1b.gguf`, `${folder.path}/135m.gguf`];
  const { vocabulary } = SMOLLM2_135M;
  await writeSyntheticLlama(path, { ...LLAMA_3_2_1B, vocabulary }, { type: "Q8_0" });
  await writeSyntheticLlama(draft, SMOLLM2_135M, { type: "Q8_0", seed: 2 });
  const device = { kind: "cpu" as const, threads };
  const options = { contextLength: 1024, maxSequences: 1, device };
  await using model = await loadModel(path, { ...options, draft });
  const prompt = Array.from({ length: 64 }, (_, i) => (i * 7919 + 5) % vocabulary);
  // Drawn, so that nothing repeats and the text itself gives no drafts.
  const drawn = { prompt, temperature: 1, topK: 0, topP: 1, seed: 3, ignoreEnd: true };
  const run = async (request: GenerateRequest) => {
    const tokens: number[] = [];
    let usage: Usage | undefined;
    for await (const event of model.generate({ ...request, maxTokens: TOKENS })) {
      if (event.type === "text") tokens.push(...event.tokens);
      if (event.type === "done") usage = event.usage;
    }
    const { completionTokens, completionMilliseconds } = usage!;
    return {
      tokens,
      usage: usage!,
      rate: (completionTokens - 1) / completionMilliseconds * 1000,
    };
  };
  const { tokens: answer } = await run({ ...drawn, draftTokens: 0 });
  for (const share of SHARES) {
    using _ = forceShare(answer, share);
    const [plain, drafted, adapted]: number[][] = [[], [], []];
    let [proposed, accepted] = [0, 0];
    for (let pair = 0; pair < pairs; pair++) {
      plain.push((await run({ ...drawn, draftTokens: 0 })).rate);
      const { rate, usage } = await run({ ...drawn, draftTokens: DRAFT });
      drafted.push(rate);
      proposed += usage.draftedTokens ?? 0;
      accepted += usage.acceptedTokens ?? 0;
      adapted.push((await run(drawn)).rate);
    }
    const ratioOf = (rates: readonly number[]) =>
      median(rates.map((rate, pair) => rate / plain[pair])).toFixed(2);
    print(
      `1B with 135M, ${100 * share} % right: ${
        median(plain).toFixed(2)
      } tokens/s without drafts, ` +
        `${median(drafted).toFixed(2)} with ${DRAFT} at a time (${ratioOf(drafted)}), ` +
        `${median(adapted).toFixed(2)} with as many as pay (${ratioOf(adapted)}); ` +
        `${accepted} of ${proposed} drafted tokens came; load ${load()}`,
    );
  }
}

/** Has drafts be right with this probability, until the result is disposed of. */
function forceShare(answer: readonly number[], share: number): Disposable {
  const { prepare } = ModelDrafter.prototype;
  let state = 1;
  const isRight = () => (state = Math.imul(state, 1664525) + 1013904223 >>> 0) / 2 ** 32 < share;
  ModelDrafter.prototype.prepare = async function (running) {
    const time = await prepare.call(this, running);
    for (const target of running) {
      const { proposal } = target.drafts;
      if (proposal?.after !== target.tokens.length) continue;
      const { after, tokens } = proposal;
      const forced = tokens.map((_, i) => {
        const right = answer[target.generated + i] ?? 0;
        return isRight() ? right : right + 1;
      });
      target.drafts.propose(after, forced);
    }
    return time;
  };
  return { [Symbol.dispose]: () => void (ModelDrafter.prototype.prepare = prepare) };
}
