// Conversations go on after their model was closed and loaded again: from memory that outlives the
// model's thread, from memory of a process, and from disk, with the answers that there are without.

import { MemoryStore } from "../../../engine/block_store/mod.ts";
import {
  type ChatModel,
  loadModel,
  openModelInProcess,
  openModelInWorker,
} from "../../../engine/mod.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { until } from "../../until.ts";
import { assert, assertEquals } from "@std/assert";

const prompt = Array.from({ length: 100 }, (_, i) => (i * i * 7 + i) % 200 + 3);
const asking = { prompt, temperature: 0, maxTokens: 12 };

async function ask(model: ChatModel) {
  const { tokens, done } = await readAnswer(model.generate(asking));
  return { tokens, usage: done!.usage };
}

const expected = await (async () => {
  await using model = await loadModel(tinyPath, tinyLoad);
  return (await ask(model)).tokens;
})();

for (
  const [where, open] of [["this thread", loadModel], ["a worker", openModelInWorker]] as const
) {
  Deno.test(`a model that is loaded again finds its blocks in memory: in ${where}`, async () => {
    const memory = new MemoryStore(2 ** 26);
    const blockStore = { memory };
    {
      await using model = await open(tinyPath, { ...tinyLoad, blockStore });
      const { tokens, usage } = await ask(model);
      assertEquals([tokens, usage.cachedTokens], [expected, 0]);
    }
    assert(memory.bytes > 0, "blocks outlive their model");
    await using model = await open(tinyPath, { ...tinyLoad, blockStore });
    const { tokens, usage } = await ask(model);
    assertEquals([tokens, usage.cachedTokens, usage.fromMemoryTokens], [expected, 96, 96]);
    if (open !== loadModel) return;
    await using other = await open(tinyPath, { ...tinyLoad, blockStore, exact: true });
    assertEquals((await ask(other)).usage.cachedTokens, 0, "loaded otherwise, it has other blocks");
  });
}

Deno.test("a model finds its blocks on disk after a restart, and damage there changes no answer", async () => {
  const folder = await Deno.makeTempDir();
  const warnings: string[] = [];
  const disk = { folder, bytes: 2 ** 26 };
  const blockStore = { disk, warn: (text: string) => warnings.push(text) };
  try {
    await (await askOnce(openModelInWorker, blockStore)).model.close();
    const { model, tokens, usage } = await askOnce(loadModel, blockStore);
    assertEquals([tokens, usage.cachedTokens, usage.fromDiskTokens], [expected, 96, 96]);
    await model.close();
    // Beside the folder of the model's blocks lies a file with the bytes of all models.
    const entries = await Array.fromAsync(Deno.readDir(folder));
    const { name: own } = entries.find(({ isDirectory }) => isDirectory)!;
    for (const { name } of await Array.fromAsync(Deno.readDir(`${folder}/${own}`))) {
      const path = `${folder}/${own}/${name}`;
      const bytes = await Deno.readFile(path);
      bytes[bytes.length >> 1]! ^= 1;
      await Deno.writeFile(path, bytes);
    }
    const damaged = await askOnce(openModelInWorker, blockStore);
    assertEquals([damaged.tokens, damaged.usage.cachedTokens], [expected, 0]);
    await damaged.model.close();
    assertEquals(warnings.length, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

async function askOnce(open: typeof openModelInWorker, blockStore: object) {
  const model = await open(tinyPath, { ...tinyLoad, blockStore });
  return { model, ...await ask(model) };
}

Deno.test("a model in a process of its own keeps its blocks there", async () => {
  const blockStore = { memory: new MemoryStore(2 ** 26) };
  const load = { ...tinyLoad, contextLength: 128, maxSequences: 1, cacheWindows: 1, blockStore };
  await using model = await openModelInProcess(tinyPath, load);
  assertEquals((await ask(model)).tokens, expected);
  for (let seed = 1; seed < 4; seed++) {
    const other = prompt.map((token) => token % 100 + seed);
    await readAnswer(model.generate({ ...asking, prompt: other }));
  }
  const { tokens, usage } = await ask(model);
  assertEquals([tokens, usage.cachedTokens], [expected, 96]);
});

Deno.test("models in processes of their own have one limit in memory together", async () => {
  const memory = new MemoryStore(2 ** 26);
  const load = { ...tinyLoad, contextLength: 128, maxSequences: 1, cacheWindows: 1 };
  const open = () => openModelInProcess(tinyPath, { ...load, blockStore: { memory } });
  /** Has the model's cache take another prompt in place of the one before. */
  const ask = async (model: ChatModel, seed: number) => {
    const other = prompt.map((token) => token % 100 + seed);
    const { done } = await readAnswer(model.generate({ ...asking, prompt: other }));
    return done!.usage.cachedTokens!;
  };
  const first = await open();
  await ask(first, 1);
  await ask(first, 2);
  // Blocks are copied beside the steps, and counted a little later: the three of each of two prompts.
  await until(() => memory.count === 6);
  const ofOne = memory.bytes;
  assert(ofOne > 0, "the client's store counts the blocks of the process");
  {
    await using second = await open();
    await ask(second, 1);
    await ask(second, 2);
    await until(() => memory.count === 12);
    assertEquals(memory.bytes, 2 * ofOne, "the blocks of both are counted");
  }
  assertEquals(memory.bytes, ofOne, "what a process had is free when it ends");
  await first.close();
  assertEquals(memory.bytes, 0);

  // With room for the blocks of one prompt, another process's blocks go for those of the last one.
  const small = new MemoryStore(ofOne);
  const [one, two] = await Promise.all(
    [1, 2].map(() => openModelInProcess(tinyPath, { ...load, blockStore: { memory: small } })),
  );
  await using _one = one;
  await using _two = two;
  await ask(one, 1);
  await ask(one, 2);
  assertEquals(await ask(one, 1), 96, "it comes back while nobody else needs the memory");
  await ask(two, 1);
  await ask(two, 2);
  await ask(two, 3);
  assert(small.bytes <= small.limit);
  assert(await ask(one, 2) < 96, "the other process has taken the memory");
});
