// Models with a draft model: what they say is what they say without, masks, log-probabilities and recurrent
// states included; memory is counted, and a draft model of another vocabulary is refused.

import {
  estimateMemory,
  type GenerateRequest,
  loadModel,
  UnsupportedModelError,
} from "../../../engine/mod.ts";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { commonVocabulary } from "../../../engine/load/draft_model.ts";
import { conformanceTest, DATA } from "../../conformance/logits.ts";
import { writeBlurred } from "../../../bench/blurred_model.ts";
import { folder, readAnswer, tinyPath } from "../harness.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";

const box = new URL("../../../engine/box/quern-tiny.gguf", import.meta.url);
const draft = `${folder}/blurred.gguf`;
await writeBlurred(box, draft);

const LOAD = { contextLength: 256, maxSequences: 4 };

Deno.test("log-probabilities and masks are those without a draft model", async () => {
  await using model = await loadModel(box, { ...LOAD, maxSequences: 16, draft });
  const requests: GenerateRequest[] = [
    { prompt: "The miller said", temperature: 0, logprobs: 2, ignoreEnd: true },
    { prompt: "The miller said", seed: 5, logprobs: 0, repeatPenalty: 1.2, ignoreEnd: true },
    { prompt: "A list:", seed: 7, format: { pattern: "([a-z]{3,8}, ){12}end" }, logprobs: 1 },
    { prompt: "A list:", seed: 8, format: { pattern: "([a-z]{3,8}, ){12}end" }, masks: true },
  ];
  const read = async (request: GenerateRequest) => {
    const events = await Array.fromAsync(model.generate({ ...request, maxTokens: 40 }));
    const told = events.flatMap((event) => event.type === "text" ? event.logprobs ?? [] : []);
    const done = events.find((event) => event.type === "done");
    return { tokens: told.map(({ token }) => token), told, usage: done!.usage };
  };
  const together = await Promise.all(
    requests.map((request) => read({ ...request, draftTokens: 3 })),
  );
  for (const [i, request] of requests.entries()) {
    const plain = await read({ ...request, draftTokens: 0 });
    assertEquals(together[i].tokens, plain.tokens);
    assert(together[i].usage.acceptedTokens! > 5, `${together[i].usage.acceptedTokens} came`);
    for (const [at, { logprob }] of plain.told.entries()) {
      assert(Math.abs(together[i].told[at].logprob - logprob) < 0.05);
    }
  }
});

Deno.test("a draft model's memory is estimated and reported", async () => {
  const alone = await estimateMemory(box, LOAD);
  const both = await estimateMemory(box, { ...LOAD, draft });
  await using model = await loadModel(box, { ...LOAD, draft });
  assert(both.memory.weights > 1.9 * alone.memory.weights);
  assert(both.memory.keyValueCache > 1.9 * alone.memory.keyValueCache);
  assertEquals(both.memory.weights, model.memory.weights);
  assertEquals(both.memory.keyValueCache, model.memory.keyValueCache);
});

Deno.test("a draft model of another vocabulary is refused with what differs", async () => {
  const load = () => loadModel(box, { ...LOAD, draft: tinyPath });
  const error = await assertRejects(load, UnsupportedModelError, "with the same vocabulary");
  assert(/^Cannot draft for ".*quern-tiny.gguf" with ".*tiny.gguf": it/.test(error.message));

  const gguf = await readGguf(box);
  const tokens = [...gguf.metadata["tokenizer.ggml.tokens"] as string[]];
  const other = (metadata: Record<string, unknown>) =>
    ({ ...gguf, metadata: { ...gguf.metadata, ...metadata } }) as typeof gguf;
  const padded = [...tokens, "[PAD1]", "[PAD2]"];
  assertEquals(commonVocabulary(gguf, other({ "tokenizer.ggml.tokens": padded })), tokens.length);
  const renamed = other({ "tokenizer.ggml.tokens": tokens.with(300, "<other>") });
  assertThrows(
    () => commonVocabulary(gguf, renamed),
    UnsupportedModelError,
    'token 300 is "<other>"',
  );
});

Deno.test("a sequence that is called off, and a model that is closed, end their drafts", async () => {
  const model = await loadModel(box, { ...LOAD, draft });
  const controller = new AbortController();
  const limits = { maxTokens: 200, draftTokens: 4, ignoreEnd: true };
  const left = model.generate({ prompt: "One", ...limits, signal: controller.signal });
  const stays = readAnswer(model.generate({ prompt: "Two", ...limits, seed: 1 }));
  for await (const event of left) if (event.type === "text") controller.abort();
  const { tokens } = await stays;
  assertEquals(tokens.length, 200);
  const cut = readAnswer(model.generate({ prompt: "Three", ...limits }));
  await model.close();
  await assertRejects(() => cut, Error, "closed");
});

const PAIRS = [
  ["granitehybrid-dense", "granitehybrid-dense"],
  ["falcon-h1-dense", "llama-dense"],
  ["llama-dense", "lfm2-dense"],
];

for (const [target, smaller] of PAIRS) {
  conformanceTest(`${target} says the same with drafts of ${smaller}`, async () => {
    const pathOf = (name: string) => new URL(`architectures/${name}.gguf`, DATA);
    await using model = await loadModel(pathOf(target), {
      contextLength: 256,
      maxSequences: 2,
      exact: true,
      draft: pathOf(smaller).pathname,
    });
    const prompts = [1, 2, 3].map((seed) =>
      Array.from({ length: 70 }, (_, i) => (seed * 31 + i * 7) % 100)
    );
    const answers = (more: Partial<GenerateRequest>) =>
      Promise.all(
        prompts.map((prompt) =>
          readAnswer(model.generate({ prompt, maxTokens: 60, ignoreEnd: true, seed: 3, ...more }))
        ),
      );
    for (const temperature of [0, 0.8]) {
      const plain = await answers({ temperature, draftTokens: 0 });
      const drafted = await answers({ temperature, draftTokens: 3 });
      for (const [i, { tokens }] of plain.entries()) assertEquals(drafted[i].tokens, tokens);
      const [all, came] = (["draftedTokens", "acceptedTokens"] as const).map((name) =>
        drafted.reduce((sum, { done }) => sum + (done!.usage[name] ?? 0), 0)
      );
      assert(all > 100, `${all} drafted`);
      assert(target !== smaller || came > 0.6 * all, `${came} of ${all} came`);
    }
  });
}
