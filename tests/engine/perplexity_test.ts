// The perplexity of a text, and the divergence of one model from another.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { loadModel, measurePerplexity, RequestError } from "../../engine/mod.ts";
import { writeTinyLlama } from "../tiny_model.ts";
import { folder } from "./harness.ts";

const [plain, rounded] = ["F32", "Q8_0"].map((type) => `${folder}/perplexity-${type}.gguf`);
await writeTinyLlama(plain!);
await writeTinyLlama(rounded!, { type: "Q8_0" });
const load = { contextLength: 33, maxSequences: 1, device: { kind: "cpu", threads: 1 } } as const;
const TEXT = "Whatever is written here, a model without training finds it unlikely. ".repeat(2);

Deno.test("the second halves of windows count, and a model is as far from itself as nothing", async () => {
  await using model = await loadModel(plain!, { ...load, exact: true });
  const seen: number[] = [];
  const result = await measurePerplexity(model, TEXT, {
    window: 32,
    against: model,
    onWindow: ({ windows }, all) => seen.push(windows, all),
  });
  const tokens = [...model.tokenizer.encode(TEXT, { bos: true })];
  const count = Math.floor(tokens.length / 32);
  assertEquals(seen, Array.from({ length: count }, (_, i) => [i + 1, count]).flat());
  const losses: number[] = [];
  for (let at = 0; at < count; at++) {
    const own = tokens.slice(32 * at, 32 * at + 32);
    const [begin] = model.tokenizer.encode("", { bos: true });
    if (begin !== undefined) own[0] = begin;
    const logits = await model.logits(own);
    for (let row = 16; row < 31; row++) {
      const all = logits.subarray(300 * row, 300 * (row + 1));
      const sum = all.reduce((total, logit) => total + Math.exp(logit), 0);
      losses.push(Math.log(sum) - all[own[row + 1]!]!);
    }
  }
  const mean = losses.reduce((a, b) => a + b) / losses.length;
  assert(Math.abs(result.perplexity / Math.exp(mean) - 1) < 1e-6);
  assertEquals([result.tokens, result.windows], [losses.length, count]);
  assertEquals(result.against!.sameTop, 1);
  assert(Math.abs(result.against!.divergence) < 1e-9);
  assertEquals(result.against!.perplexity, result.perplexity);
});

Deno.test("int8 activations are a little apart from exact ones, and what cannot be measured is said", async () => {
  await using model = await loadModel(rounded!, load);
  await using against = await loadModel(rounded!, { ...load, exact: true });
  const { against: compared } = await measurePerplexity(model, TEXT, { window: 32, against });
  assert(compared!.divergence > 1e-7 && compared!.divergence < 0.05, `${compared!.divergence}`);
  assert(compared!.sameTop > 0.8);
  const measure = (options: object, text = TEXT) => measurePerplexity(model, text, options);
  await assertRejects(() => measure({ window: 33 }), RequestError, "not between 4 and 32");
  await assertRejects(() => measure({ window: 32 }, "short"), RequestError, "a window 32");
  await assertRejects(() => measure({ window: 32, signal: AbortSignal.abort() }), DOMException);
});
