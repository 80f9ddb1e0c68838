// Drafts by a model's own head for multi-token prediction: answers are those without it, greedy and drawn,
// with penalties, masks and log-probabilities, alone and together, where sequences have to give up their
// memory, and where a conversation goes on.

import {
  estimateMemory,
  type GenerateRequest,
  GgufError,
  loadModel,
  type LoadOptions,
} from "../../../engine/mod.ts";
import { readAnswer } from "../harness.ts";
import { deepSeek2 } from "../reference/deepseek2.ts";
import { glm4Moe } from "../reference/glm4_moe.ts";
import { llama } from "../reference/llama.ts";
import { randomTokens, writeReference } from "../reference/file.ts";
import { miMo2 } from "../reference/mimo2.ts";
import { withHead } from "../reference/mtp_head.ts";
import { qwen3Next } from "../reference/qwen3_next.ts";
import { RandomWeights } from "../reference/weights.ts";
import { writeAgreeing } from "./agreeing_head.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";

const LOAD: LoadOptions = { contextLength: 256, maxSequences: 4 };
const LIMITS = { maxTokens: 40, ignoreEnd: true };

/** Prompts without anything that occurs twice, so that the text itself gives few drafts. */
const prompts = [5, 17, 40].map((count) => randomTokens(count));

const requests: GenerateRequest[] = prompts.slice(1).flatMap((prompt, i) => [
  { ...LIMITS, prompt, temperature: 0, repeatPenalty: 1.3, repeatLastN: -1 },
  { ...LIMITS, prompt, temperature: 0.4, seed: 5 + i },
  { ...LIMITS, prompt, temperature: 0.4, seed: 6 + i, repeatPenalty: 1.2 },
  { ...LIMITS, prompt, temperature: 0.4, seed: 7 + i, format: { pattern: "([a-f]{3,9}, ){5}end" } },
  { ...LIMITS, prompt, temperature: 0.4, seed: 8 + i, logprobs: 0 },
]);

for (const reference of [glm4Moe, qwen3Next, deepSeek2("absorbed"), miMo2]) {
  const path = await writeAgreeing(reference);

  Deno.test(`answers of ${reference.architecture} are the same with its MTP head`, async () => {
    await using model = await loadModel(path, LOAD);
    const plain = await Promise.all(
      requests.map((request) => readAnswer(model.generate({ ...request, draftTokens: 0 }))),
    );
    for (const asked of [{ draftTokens: 3 }, { draftTokens: 1 }, {}]) {
      const together = await Promise.all(
        requests.map((request) => readAnswer(model.generate({ ...request, ...asked }))),
      );
      let [drafted, accepted] = [0, 0];
      for (const [i, { tokens, done }] of together.entries()) {
        assertEquals(tokens, plain[i].tokens, `request ${i}`);
        drafted += done!.usage.draftedTokens ?? 0;
        accepted += done!.usage.acceptedTokens ?? 0;
      }
      assert(drafted > accepted, `${accepted} of ${drafted} came`);
      // As many as pay may be few: that depends on what this machine takes for a token just now.
      if ("draftTokens" in asked) assert(accepted > 20, `${accepted} of ${drafted} came`);
    }
    const alone = await readAnswer(model.generate({ ...requests[1], draftTokens: 2 }));
    assertEquals(alone.tokens, plain[1].tokens);
  });
}

const path = await writeAgreeing(glm4Moe);

Deno.test("the first of several MTP heads drafts", async () => {
  await using model = await loadModel(await writeAgreeing(glm4Moe, 3), LOAD);
  assertEquals(model.warnings, []);
  let accepted = 0;
  for (const request of requests) {
    const { tokens, done } = await readAnswer(model.generate({ ...request, draftTokens: 3 }));
    const plain = await readAnswer(model.generate({ ...request, draftTokens: 0 }));
    assertEquals(tokens, plain.tokens);
    accepted += done!.usage.acceptedTokens ?? 0;
  }
  assert(accepted > 20, `${accepted} came`);
});

Deno.test("an MTP head drafts after its sequence gave up its memory", async () => {
  await using model = await loadModel(path, { ...LOAD, cacheWindows: 1 });
  const drawn = prompts.map((prompt, i) => {
    return { prompt, maxTokens: 150, ignoreEnd: true, temperature: 0.4, seed: i };
  });
  const [plain, drafted] = [0, 3];
  const [without, together] = await Promise.all(
    [plain, drafted].map((draftTokens) =>
      Promise.all(drawn.map((request) => readAnswer(model.generate({ ...request, draftTokens }))))
    ),
  );
  for (const [i, { tokens, done }] of together.entries()) {
    assertEquals(tokens, without[i].tokens);
    const { draftedTokens = 0, acceptedTokens = 0 } = done!.usage;
    assert(acceptedTokens > draftedTokens / 10, `${acceptedTokens} of ${draftedTokens} came`);
  }
});

Deno.test("an MTP head drafts where a conversation goes on from cached blocks", async () => {
  await using model = await loadModel(path, LOAD);
  let prompt: number[] = [...prompts[2]];
  for (let turn = 0; turn < 3; turn++) {
    const request = { ...LIMITS, prompt, temperature: 0.3, seed: turn };
    const { tokens, done } = await readAnswer(model.generate({ ...request, draftTokens: 3 }));
    const { draftedTokens = 0, acceptedTokens = 0, cachedTokens } = done!.usage;
    assert(turn === 0 || cachedTokens! > prompt.length - 40, `${cachedTokens} were cached`);
    assert(acceptedTokens > draftedTokens / 10, `${acceptedTokens} of ${draftedTokens} came`);
    const plain = await readAnswer(model.generate({ ...request, draftTokens: 0 }));
    assertEquals(tokens, plain.tokens);
    prompt = [...prompt, ...tokens, 9 + turn, 11];
  }
});

Deno.test("an MTP head's memory is estimated, and a draft model takes its place", async () => {
  const estimate = await estimateMemory(path, LOAD);
  await using model = await loadModel(path, LOAD);
  assertEquals(estimate.memory.weights, model.memory.weights);
  assertEquals(estimate.memory.keyValueCache, model.memory.keyValueCache);
  const other = new URL(await writeReference(glm4Moe, runOnce(glm4Moe)));
  const plain = await estimateMemory(other, LOAD);
  // One more layer of four, beside the embeddings and the output matrix.
  assertEquals(estimate.memory.keyValueCache, plain.memory.keyValueCache * 4 / 3);
  await using drafted = await loadModel(path, { ...LOAD, draft: other.pathname });
  assertEquals(drafted.memory.keyValueCache, plain.memory.keyValueCache * 2);
});

function runOnce(reference: typeof llama) {
  const weights = new RandomWeights();
  reference.run(weights, randomTokens(3));
  return weights;
}

Deno.test("an MTP head of which it is not known how it drafts is not used, and that is said", async () => {
  const weights = runOnce(llama);
  const layers = Number(llama.metadata["block_count"]);
  weights.layer(layers).vector("nextn.eh_proj.weight", [192, 96]);
  weights.layer(layers).vector("attn_norm.weight", 96);
  await using model = await loadModel(await writeReference(withHead(llama), weights), LOAD);
  assert(model.warnings.some((text) => /head for multi-token prediction is not used/.test(text)));
  const request = { ...LIMITS, prompt: prompts[0], temperature: 0.9, draftTokens: 3 };
  const { done } = await readAnswer(model.generate(request));
  assertEquals(done!.usage.completionTokens, LIMITS.maxTokens);
});

Deno.test("a lost tensor of an MTP head is named", async () => {
  const weights = runOnce(glm4Moe);
  weights.layer(3).vector("nextn.eh_proj.weight", [192, 96]);
  const path = await writeReference(withHead(glm4Moe), weights);
  await assertRejects(() => loadModel(path, LOAD), GgufError, "blk.3.");
});
