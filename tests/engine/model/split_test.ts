// A model on two devices does all that it does on one. Two CPU devices stand for a GPU and the CPU.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { loadModel, type LoadOptions, type Model } from "../../../engine/mod.ts";
import { conformanceTest, DATA } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { webGpuTest } from "../../adapter.ts";

const ONE = { kind: "cpu", threads: 1 } as const;
const DEVICES = { device: ONE, beside: ONE };

/** One of the tiny model's two layers and the head on the first device, the other layer beside it. */
const SPLIT = { ...tinyLoad, ...DEVICES, gpuLayers: 2 };

async function compare<T>(
  options: LoadOptions,
  ask: (model: Model) => Promise<T>,
  path: string | URL = tinyPath,
): Promise<[whole: T, split: T]> {
  await using whole = await loadModel(path, { ...SPLIT, ...options, gpuLayers: -1 });
  await using split = await loadModel(path, { ...SPLIT, ...options });
  return [await ask(whole), await ask(split)];
}

const PROMPTS = ["hello", "a longer prompt than the one before it", "x y z", "hello world, hello"];

Deno.test("a split model answers alone, in a batch and from the prefix cache as a whole one", async () => {
  const [whole, split] = await compare({}, async (model) => {
    const answer = (prompt: string) =>
      readAnswer(model.generate({ prompt, temperature: 0, maxTokens: 24 }));
    const alone = await answer(PROMPTS[1]);
    const together = await Promise.all(PROMPTS.map(answer));
    const again = await answer(PROMPTS[1]);
    return [alone, ...together, again].map(({ tokens }) => tokens);
  });
  assertEquals(split, whole);
  assertEquals(split[0], split.at(-1));
});

Deno.test("sequences of a split model that were preempted answer as others", async () => {
  // Four sequences want nearly the whole window each, and the cache has room for one.
  const [whole, split] = await compare(
    { cacheWindows: 1 },
    (model) =>
      Promise.all(PROMPTS.map(async (prompt) => {
        const limits = { temperature: 0, maxTokens: 80, ignoreEnd: true };
        return (await readAnswer(model.generate({ prompt, ...limits }))).tokens;
      })),
  );
  assertEquals(split, whole);
});

Deno.test("answers of a split model are masked, penalized and told with their probabilities", async () => {
  const format = { schema: { type: "object", properties: { a: { type: "integer" } } } };
  const [whole, split] = await compare({}, async (model) => {
    const limits = { temperature: 0, maxTokens: 30 };
    const masked = await readAnswer(model.generate({ prompt: "hello", format, ...limits }));
    const penalties = { repeatPenalty: 1.5, frequencyPenalty: 0.5, logprobs: 2 };
    const penalized = await readAnswer(
      model.generate({ prompt: "hello hello", ...penalties, ...limits }),
    );
    const drawn = await readAnswer(
      model.generate({ prompt: "hello", temperature: 1, seed: 7, maxTokens: 20 }),
    );
    return [masked.text, penalized.text, drawn.text];
  });
  assertEquals(split, whole);
  JSON.parse(split[0]);
});

Deno.test("embeddings of a split model are those of a whole one", async () => {
  const [whole, split] = await compare({}, (model) => model.embed(PROMPTS));
  split.forEach((vector, i) => assert(nmse(vector, whole[i]) < 1e-9));
});

Deno.test("what a split model holds is told for both devices, and none of it twice", async () => {
  const [whole, split] = await compare({}, (model) => Promise.resolve(model.memory));
  assertEquals(split.weights, whole.weights);
  assertEquals(split.keyValueCache, whole.keyValueCache);
  assert(split.scratch > whole.scratch);
});

Deno.test("a load that is aborted among two devices ends with its reason", async () => {
  const abort = new AbortController();
  const reason = new Error("changed my mind");
  const load = loadModel(tinyPath, {
    ...SPLIT,
    signal: abort.signal,
    onProgress: ({ loaded, total }) => {
      if (loaded > total / 2) abort.abort(reason);
    },
  });
  assertEquals(await assertRejects(() => load), reason);
  await using model = await loadModel(tinyPath, SPLIT);
  assertEquals((await model.embed(["a"])).length, 1);
});

conformanceTest("an adapter changes a split model as it does a whole one", async () => {
  const adapters = [{ path: new URL("lora/adapter.gguf", DATA).pathname, scale: 0.5 }];
  const tokens = Array.from({ length: 20 }, (_, i) => 3 * i + 1);
  const options = { adapters, exact: true };
  const base = new URL("lora/base.gguf", DATA);
  const [whole, split] = await compare(options, (model) => model.logits(tokens), base);
  assert(nmse(split, whole) <= 1e-8);
});

webGpuTest("a model on a GPU and the CPU has the logits that it has on either", async () => {
  const load = { ...tinyLoad, exact: true, device: { kind: "webgpu" as const } };
  const tokens = Array.from({ length: 40 }, (_, i) => (i * 37 + 11) % 120);
  await using whole = await loadModel(tinyPath, { ...tinyLoad, exact: true, device: ONE });
  const expected = await whole.logits(tokens);
  for (const gpuLayers of [1, 2]) {
    await using split = await loadModel(tinyPath, { ...load, gpuLayers });
    assert(nmse(await split.logits(tokens, { chunkSize: 9 }), expected) <= 1e-8);
    const { weights, keyValueCache, scratch, onCpu = 0 } = split.memory;
    assert(onCpu > 0 && onCpu < weights + keyValueCache + scratch);
    const limits = { prompt: "hello", temperature: 0, maxTokens: 20 };
    const [text, same] = await Promise.all(
      [split, whole].map(async (model) => (await readAnswer(model.generate(limits))).text),
    );
    assertEquals(text, same);
  }
});
