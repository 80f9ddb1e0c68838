// The architectures of models that together have every block, against references written from the
// papers: exact, however rows are batched.

import { loadModel } from "../../../engine/mod.ts";
import { type Fixture, logitErrors, worst } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { bert } from "../reference/bert.ts";
import { deepSeek2 } from "../reference/deepseek2.ts";
import { fixtureOf, randomTokens, writeReference } from "../reference/file.ts";
import { gemma2, gemma3 } from "../reference/gemma.ts";
import { gptOss } from "../reference/gpt_oss.ts";
import { unabsorb } from "../reference/latent_attention.ts";
import { llama } from "../reference/llama.ts";
import { mamba2 } from "../reference/mamba2.ts";
import { dot, scale, sum, type Vector } from "../reference/numbers.ts";
import { miMo2 } from "../reference/mimo2.ts";
import { qwen3 } from "../reference/qwen3.ts";
import { qwen3Next } from "../reference/qwen3_next.ts";
import { RandomWeights } from "../reference/weights.ts";
import { assert } from "@std/assert";

async function assertExact(fixture: Fixture): Promise<void> {
  const errors = await logitErrors(fixture);
  assert(worst(errors) <= 1e-9, JSON.stringify(errors));
}

Deno.test("DeepSeek-V3, its up-projections absorbed, has the logits of its reference", async () => {
  await assertExact(await fixtureOf(deepSeek2("absorbed")));
});

Deno.test("DeepSeek-V3, its keys and values unfolded, has the same logits", async () => {
  const weights = new RandomWeights();
  const fixture = await fixtureOf(deepSeek2("absorbed"), weights);
  for (const layer of [0, 1, 2]) unabsorb(weights, layer);
  await assertExact({ ...fixture, model: await writeReference(deepSeek2("unfolded"), weights) });
});

for (const model of [llama, qwen3, gemma2, gemma3, gptOss, miMo2, qwen3Next, mamba2]) {
  Deno.test(`${model.architecture} has the logits of its reference`, async () => {
    await assertExact(await fixtureOf(model));
  });
}

Deno.test("bert has the embeddings of its reference, alone and beside others", async () => {
  const weights = new RandomWeights();
  const texts = [35, 7, 1].map((count) => randomTokens(count));
  const expected = texts.map((tokens) => meanAtLengthOne(bert.run(weights, tokens)));
  const path = await writeReference(bert, weights);
  await using model = await loadModel(path, { exact: true, contextLength: 64, maxSequences: 2 });
  const together = await model.embed(texts);
  const alone = await model.embed([texts[1]]);
  for (const [i, embedding] of together.entries()) {
    assert(nmse(embedding, expected[i]) <= 1e-9, `text ${i}`);
  }
  assert(nmse(alone[0], expected[1]) <= 1e-9, "alone");
});

function meanAtLengthOne(rows: readonly Vector[]): Vector {
  const total = sum(rows);
  return scale(total, 1 / Math.sqrt(dot(total, total)));
}
