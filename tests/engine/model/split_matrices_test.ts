// Matrices that are too large for one binding of the GPU: in parts they give the same logits, those of
// experts too.

import { loadModel, type LocalLoadOptions } from "../../../engine/mod.ts";
import { nmse } from "../../numbers.ts";
import { deepSeek2 } from "../reference/deepseek2.ts";
import { fixtureOf } from "../reference/file.ts";
import { gptOss } from "../reference/gpt_oss.ts";
import { llama } from "../reference/llama.ts";
import { RandomWeights } from "../reference/weights.ts";
import { assert, assertEquals } from "@std/assert";

/** Logits of a prompt, and those of tokens that come one by one. */
async function logitsOf(path: URL, tokens: number[], options: LocalLoadOptions) {
  await using model = await loadModel(path, { contextLength: 64, maxSequences: 2, ...options });
  const whole = await model.logits(tokens);
  const single = await model.logits(tokens.slice(0, 4), { chunkSize: 1 });
  return { whole, single };
}

// Two parts of the embeddings and of the queries, keys and values; one expert in a part of gates and
// up projections, two in one of down projections.
const FLOAT_BINDING = 64 * 1024;

for (const model of [llama, gptOss, deepSeek2("absorbed")]) {
  Deno.test(`${model.architecture} in small parts has the logits of its reference`, async () => {
    const { model: path, tokens, expected } = await fixtureOf(model);
    const device = { maxBindingSize: FLOAT_BINDING };
    const { whole, single } = await logitsOf(path, tokens, { exact: true, device });
    assert(nmse(whole, expected) <= 1e-9);
    assert(nmse(single, expected.subarray(0, single.length)) <= 1e-9);
  });
}

Deno.test("experts of Q8_0 weights in small parts have the same logits as whole", async () => {
  const { model: path, tokens } = await fixtureOf(gptOss, new RandomWeights("Q8_0"));
  const device = { maxBindingSize: FLOAT_BINDING / 4 };
  assertEquals(await logitsOf(path, tokens, { device }), await logitsOf(path, tokens, {}));
});
