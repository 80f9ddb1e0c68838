// Models on the CPU device: every weight format with int8 activations, and answers that do not depend on
// the number of threads. Architectures are in architectures_test.ts, which runs on it by default.

import { assert, assertEquals } from "@std/assert";
import { loadModel } from "../../engine/mod.ts";
import { readAnswer } from "../engine/harness.ts";
import { nmse } from "../numbers.ts";
import { conformanceTest, DATA, hasData, namesIn } from "./logits.ts";

const TOKENS = Array.from({ length: 40 }, (_, i) => (i * 37 + 11) % 120);

/** Of the power of the logits, what int8 activations may change. */
const MOST_ROUNDING = 2e-4;

async function logitsOf(name: string, exact: boolean, threads: number, chunk = Infinity) {
  await using model = await loadModel(new URL(`quantizations/${name}.gguf`, DATA), {
    exact,
    contextLength: 64,
    maxSequences: 2,
    device: { kind: "cpu", threads },
  });
  return await model.logits(TOKENS, { chunkSize: chunk });
}

conformanceTest("answers on the CPU are the same alone and among others", async () => {
  await using model = await loadModel(new URL("quantizations/Q8_0.gguf", DATA), {
    contextLength: 128,
    maxSequences: 3,
    prefillChunk: 9,
    device: { kind: "cpu", threads: 2 },
  });
  const prompts = [TOKENS, TOKENS.slice(3, 8), TOKENS.slice(10, 33)];
  const answer = (prompt: number[]) =>
    readAnswer(model.generate({ prompt, temperature: 0, maxTokens: 24 }));
  const alone: number[][] = [];
  for (const prompt of prompts) alone.push((await answer(prompt)).tokens);
  const together = await Promise.all(prompts.map(answer));
  assertEquals(together.map(({ tokens }) => tokens), alone);
  const { weights, keyValueCache, scratch, onCpu } = model.memory;
  assertEquals(onCpu, weights + keyValueCache + scratch);
});

/** One of each way that products are done; with QUERN_ALL_FORMATS set, all that there are. */
const FORMATS = ["F16", "IQ3_M", "MXFP4_MOE", "Q4_K_M", "Q6_K", "Q8_0"];
const all = Deno.env.has("QUERN_ALL_FORMATS") && hasData ? await namesIn("quantizations") : FORMATS;

for (const name of all) {
  conformanceTest(`${name} on the CPU rounds little, and alike on every thread`, async () => {
    const exact = await logitsOf(name, true, 1);
    const rounded = await logitsOf(name, false, 1);
    assert(nmse(rounded, exact) <= MOST_ROUNDING, `NMSE ${nmse(rounded, exact)}`);
    assertEquals(await logitsOf(name, false, 3, 7), rounded);
  });
}
