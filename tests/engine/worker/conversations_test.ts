// Forty conversations take turns on a model with four slots and a KV cache for six of them: each reads
// what is new and at most a block, while the model is loaded and after a restart, and says what it says
// alone. The everyday tests have twelve short ones; QUERN_SWEEP has all.

import { MemoryStore } from "../../../engine/block_store/mod.ts";
import { loadModel, type Model } from "../../../engine/mod.ts";
import { readAnswer } from "../harness.ts";
import { assert, assertEquals } from "@std/assert";

const isSweep = Deno.env.has("QUERN_SWEEP");
const [COUNT, LENGTH] = isSweep ? [40, 700] : [12, 200];
const ANSWER = 8;
const BLOCK = 32;

/** A window for three turns; the KV cache has room for six. */
const LOAD = {
  contextLength: LENGTH + 4 * ANSWER + BLOCK,
  maxSequences: 4,
  cacheWindows: 6,
};

const box = new URL("../../../engine/box/quern-tiny.gguf", import.meta.url);

interface Talk {
  prompt: number[];
  /** Tokens that were read or written so far. */
  known: number;
}

const ask = (model: Model, prompt: number[]) =>
  readAnswer(model.generate({ prompt, temperature: 0, maxTokens: ANSWER, ignoreEnd: true }));

/** Has all conversations go on by a turn; returns the tokens that were read again, and those known. */
async function turn(model: Model, talks: readonly Talk[]) {
  let [read, known] = [0, 0];
  await Promise.all(talks.map(async (talk) => {
    const { tokens, done } = await ask(model, talk.prompt);
    assertEquals(done!.usage.completionTokens, ANSWER);
    const again = Math.max(0, talk.known - done!.usage.cachedTokens);
    assert(again <= BLOCK, `${again} of ${talk.known} tokens were read again`);
    read += again;
    known += talk.known;
    talk.known = talk.prompt.length + tokens.length - 1; // the last token was never fed
    talk.prompt.push(...tokens, 300, 301);
  }));
  return { read, known };
}

Deno.test("conversations that return read what is new, after a restart as well", async () => {
  const folder = await Deno.makeTempDir();
  const disk = { folder, bytes: 2 ** 30 };
  const open = () =>
    loadModel(box, { ...LOAD, blockStore: { memory: new MemoryStore(2 ** 29), disk } });
  const talks = Array.from({ length: COUNT }, (_, talk): Talk => ({
    prompt: Array.from({ length: LENGTH }, (_, i) => 260 + (talk * 977 + i * i * 31 + i) % 3000),
    known: 0,
  }));
  try {
    {
      await using model = await open();
      await turn(model, talks);
      const { read, known } = await turn(model, talks);
      assert(!isSweep || read <= 0.05 * known, `${read} of ${known} tokens were read again`);
    }
    const before = talks.map(({ prompt }) => [...prompt]);
    {
      await using model = await open();
      const { read, known } = await turn(model, talks);
      assert(!isSweep || read <= 0.05 * known, `${read} of ${known} after a restart`);
    }
    await using alone = await loadModel(box, { ...LOAD, cacheWindows: 1, maxSequences: 1 });
    for (let i = 0; i < COUNT; i += 5) {
      const { tokens } = await ask(alone, before[i]);
      assertEquals(talks[i].prompt.slice(before[i].length, -2), tokens);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
