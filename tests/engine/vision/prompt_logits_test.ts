// Text models that read images: logits of prompts whose embeddings are given against those computed
// elsewhere, whole, in chunks and beside each other; and that decoding goes on from images as a prompt
// does, with prefixes found again.

import { assert, assertEquals } from "@std/assert";
import { assemble } from "../../../engine/load/assemble.ts";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { describeModel } from "../../../engine/load/inspect.ts";
import { loadModel } from "../../../engine/mod.ts";
import { type PromptItem, promptLength } from "../../../engine/prompt/prompt_media.ts";
import { resolveSampling } from "../../../engine/generate/sampling_request.ts";
import type { Scheduler } from "../../../engine/run/scheduler.ts";
import type { SequenceEnd } from "../../../engine/run/sequence.ts";
import { wholeOn } from "../../../engine/weights/mod.ts";
import { openDevice } from "../../../kernels/mod.ts";
import { conformanceTest } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { FIXTURES, readVisionFixture } from "./prompt_fixtures.ts";

const LOAD = { contextLength: 512, maxSequences: 2 };

for (const name of FIXTURES) {
  conformanceTest(`prompts with images have the known logits in ${name}`, async () => {
    const { model, images } = await readVisionFixture(name);
    const all = Object.values(images);
    const prompts = all.map(({ prompt }) => prompt);
    for (const [exact, most] of [[true, 1e-5], [false, 2e-3]] as const) {
      await using loaded = await loadModel(model, { ...LOAD, exact });
      const assertKnown = (logits: Float32Array, image: number, how: string) => {
        const error = nmse(logits, all[image].logits);
        assert(error <= most, `exact ${exact}, image ${image} ${how}: NMSE ${error}`);
      };
      assertKnown(await loaded.logits(prompts[0]), 0, "whole");
      const both = await loaded.batchLogits(prompts, { chunkSize: 5 });
      both.forEach((logits, image) => assertKnown(logits, image, "beside the other"));
    }
  });
}

/** The greedy continuation of a prompt, and how many of its positions were there. */
async function decode(scheduler: Scheduler, prompt: PromptItem[], count: number) {
  const { promise: ended, resolve: end } = Promise.withResolvers<SequenceEnd>();
  const tokens: number[] = [];
  let cached = 0;
  scheduler.add({
    prompt,
    maxTokens: count,
    sampling: resolveSampling({ temperature: 0 }, LOAD.contextLength, false),
    begin: (cachedTokens) => cached = cachedTokens,
    accept: (token) => tokens.push(token) > 0,
    end,
  });
  assertEquals(await ended, "length");
  return { tokens, cached };
}

for (const name of ["qwen25vl", "gemma3"] as const) {
  conformanceTest(`what ${name} decodes after images is what its logits say`, async () => {
    const { model, images: { cat, diagram } } = await readVisionFixture(name);
    const gguf = await readGguf(model);
    using device = await openDevice();
    const { scheduler } = await assemble(gguf, describeModel(gguf), wholeOn(device), {
      ...LOAD,
      exact: true,
      imageTokens: 96,
    });
    const prompt = [...cat.prompt, ...diagram.prompt];
    const { tokens, cached } = await decode(scheduler, prompt, 12);
    assertEquals(cached, 0);
    const [logits] = await scheduler.evaluate({
      branches: [{ tokens: [...prompt, ...tokens], wanted: "all" }],
      output: "logits",
    });
    const first = promptLength(prompt) - 1;
    const vocabulary = logits.length / (first + 1 + tokens.length);
    tokens.forEach((token, i) => {
      const row = logits.subarray((first + i) * vocabulary, (first + i + 1) * vocabulary);
      assertEquals(row.indexOf(Math.max(...row)), token, `token ${i}`);
    });
    const again = await decode(scheduler, prompt, 12);
    assertEquals(again.tokens, tokens);
    assertEquals(again.cached, Math.floor(first / 32) * 32);
    const other = await decode(scheduler, [...diagram.prompt, ...cat.prompt], 12);
    assertEquals(other.cached, 0);
    await scheduler.close();
  });
}

/** With many sequences, the rows of a step that are not for decoding are fewer than the image's. */
for (const maxSequences of [2, 480]) {
  conformanceTest(`an image runs whole beside ${maxSequences} sequences`, async () => {
    const { model, images: { cat } } = await readVisionFixture("gemma3");
    const gguf = await readGguf(model);
    using device = await openDevice();
    const { scheduler, media } = await assemble(gguf, describeModel(gguf), wholeOn(device), {
      ...LOAD,
      exact: true,
      prefillChunk: 16,
      maxSequences,
      cacheWindows: 1,
      imageTokens: 45,
    });
    assertEquals(media, { columns: 64, tokens: 45 });
    const prompt = cat.prompt.map((item) => {
      if (typeof item === "number") return item;
      const embeddings = Float32Array.from(
        Array.from({ length: 5 }, () => [...item.embeddings]).flat(),
      );
      return { key: "five cats", tokens: 5 * item.tokens, embeddings };
    });
    const evaluate = (wanted: "all" | "last") =>
      scheduler.evaluate({
        branches: [{ tokens: prompt, wanted }],
        output: "logits",
        chunkSize: 7,
      });
    const [all] = await evaluate("all");
    const [last] = await evaluate("last");
    assertEquals(all.length, promptLength(prompt) * last.length);
    assert(nmse(all.subarray(-last.length), last) < 1e-12);
    const before = cat.logits.subarray(0, 13 * last.length);
    assert(nmse(all.subarray(0, before.length), before) < 1e-10);
    await scheduler.close();
  });
}
