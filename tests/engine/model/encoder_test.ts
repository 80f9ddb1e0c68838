// Encoders of texts: their steps are full of texts however few sequences a load allows, texts of
// several requests take turns, and a cache that all layers share has the keys of each in its turn.

import { estimateMemory } from "../../../engine/memory/mod.ts";
import { loadModel, type LoadOptions } from "../../../engine/mod.ts";
import { nmse } from "../../numbers.ts";
import { bert } from "../reference/bert.ts";
import { randomTokens, writeReference } from "../reference/file.ts";
import { RandomWeights } from "../reference/weights.ts";
import { assert, assertEquals } from "@std/assert";

const weights = new RandomWeights();
bert.run(weights, randomTokens(2));
const path = await writeReference(bert, weights);
const load: LoadOptions = { exact: true, contextLength: 64, maxSequences: 1 };

const texts = (count: number, tokens: number) =>
  Array.from({ length: count }, (_, i) => randomTokens(tokens + i % 2).map((id) => (id + i) % 300));

Deno.test("a step takes as many texts as fill it, and they have the vectors that each has alone", async () => {
  await using model = await loadModel(path, load);
  const steps: { rows: number; decodeRows: number }[] = [];
  const many = texts(90, 9);
  const trace = model.trace(({ rows, decodeRows }) => steps.push({ rows, decodeRows }));
  const together = await model.embed(many);
  trace[Symbol.dispose]();
  assertEquals(steps.map(({ rows }) => rows), [9 * 27 + 10 * 26, 9 * 18 + 10 * 19]);
  for (const [i, text] of many.entries()) {
    const [alone] = await model.embed([text]);
    assert(nmse(together[i]!, alone!) < 1e-9, `text ${i}`);
  }
});

Deno.test("short texts fill a step by their number", async () => {
  await using model = await loadModel(path, load);
  const rows: number[] = [];
  using _trace = model.trace((step) => rows.push(step.rows));
  await model.embed(Array.from({ length: 100 }, (_, i) => [i + 5]));
  assertEquals(rows, [64, 36]);
});

Deno.test("texts of several requests take turns, a step each", async () => {
  await using model = await loadModel(path, load);
  const ended: string[] = [];
  const note = (name: string) => () => void ended.push(name);
  const many = model.embed(texts(400, 20)).then(note("many"));
  const few = model.embed(texts(4, 20)).then(note("few"));
  await Promise.all([many, few]);
  assertEquals(ended, ["few", "many"]);
});

Deno.test("layers share a cache, whose size no number of sequences changes, as was estimated", async () => {
  const memories = [];
  for (const maxSequences of [1, 8]) {
    const options = { ...load, exact: false, maxSequences };
    await using model = await loadModel(path, options);
    const estimate = await estimateMemory(path, options);
    assertEquals(estimate.memory, model.memory);
    assertEquals(estimate.maxSequences, undefined);
    memories.push(model.memory);
  }
  assertEquals(memories[0], memories[1]);
  const blocks = 512 / 32 + 64;
  const columns = 2 * 4 * 32; // keys and values of one layer
  assertEquals(memories[0]!.keyValueCache, blocks * 32 * columns * 2);
});

Deno.test("the keys of a layer are its own, though all layers write to one cache", async () => {
  await using model = await loadModel(path, load);
  const prompt = randomTokens(7);
  const labels = [0, 1, 2].map((layer) => `attention.keys[${layer}]`);
  const { captured } = await model.run({ prompt, capture: labels });
  const [first, second, third] = captured.map(({ values }) => values as Float32Array);
  assert(nmse(first!, second!) > 0.1);
  assert(nmse(second!, third!) > 0.1);
  const [alone] = (await model.run({ prompt, capture: [labels[1]!] })).captured;
  assertEquals(alone!.values, second);
});
