// What a model's KV blocks are kept under: the whole content of its files. One byte of difference makes
// another model, and of a large file nothing is kept before all of it was read.

import { createHash } from "node:crypto";
import { DigestFiles, MemoryStore } from "../../../engine/block_store/mod.ts";
import { filesInMemory } from "../../../engine/gguf/mod.ts";
import { digestOf, lookAt } from "../../../engine/load/block_tiers.ts";
import { type ChatModel, loadModel } from "../../../engine/mod.ts";
import { later } from "../../clock.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { folder, readAnswer, tinyLoad } from "../harness.ts";
import { until } from "../../until.ts";
import { assert, assertEquals, assertNotEquals } from "@std/assert";

const prompt = Array.from({ length: 100 }, (_, i) => (i * i * 7 + i) % 200 + 3);

async function cachedTokens(model: ChatModel): Promise<number> {
  const { done } = await readAnswer(model.generate({ prompt, temperature: 0, maxTokens: 4 }));
  return done!.usage.cachedTokens;
}

/** Writes a model, and one that differs from it in one weight, at the same size. */
async function writeTwins(name: string, sizes: object): Promise<[string, string]> {
  const paths: [string, string] = [`${folder}/${name}-1.gguf`, `${folder}/${name}-2.gguf`];
  await writeTinyLlama(paths[0], sizes);
  const bytes = await Deno.readFile(paths[0]);
  // Halfway between two of 512 samples of 4 KB.
  const distance = (bytes.length - 4096) / 511;
  bytes[Math.floor(300.7 * distance) & ~3]! ^= 1;
  await Deno.writeFile(paths[1], bytes);
  return paths;
}

Deno.test("blocks of a model are none of another that differs in one byte", async () => {
  const [one, two] = await writeTwins("twins", { embedding: 192, feedForward: 768, layers: 4 });
  assert((await Deno.stat(one)).size > 6e6);
  // Names of blobs say nothing of what is in them.
  const blob = `${folder}/sha256-${"ab".repeat(32)}`;
  const blockStore = { memory: new MemoryStore(2 ** 26) };
  for (const [path, wanted] of [[one, 0], [one, 96], [two, 0], [two, 96], [one, 96]] as const) {
    await Deno.copyFile(path, blob);
    await using model = await loadModel(blob, { ...tinyLoad, blockStore });
    assertEquals(await cachedTokens(model), wanted);
  }
});

Deno.test("of a large file blocks are kept once it was read, and restored at once when its digest is", async () => {
  const path = `${folder}/large.gguf`;
  await writeTinyLlama(path, { embedding: 256, feedForward: 1536, layers: 4, vocabulary: 400 });
  assert((await Deno.stat(path)).size > 16 * 2 ** 20);
  // The digest of a file that has just changed is not kept.
  using _clock = later(10_000);
  const memory = new MemoryStore(2 ** 26);
  const digests = `${folder}/digests`;
  const blockStore = { memory, digests };
  {
    await using model = await loadModel(path, { ...tinyLoad, blockStore });
    await cachedTokens(model);
    // What was read before gets its names when it is used again.
    await until(async () => {
      await cachedTokens(model);
      await new Promise((resolve) => setTimeout(resolve, 10));
      return memory.bytes > 0;
    });
  }
  await using model = await loadModel(path, { ...tinyLoad, blockStore });
  assertEquals(await cachedTokens(model), 96);
  assertEquals([...Deno.readDirSync(digests)].length, 1);
});

Deno.test("a digest is that of the content that was looked at, or there is none", async () => {
  const path = `${folder}/content`;
  const bytes = crypto.getRandomValues(new Uint8Array(65_536));
  const write = (size: number) =>
    Deno.writeFile(path, new Uint8Array(size).map((_, i) => bytes[i % 65_536]!));
  await write(2_500_000);
  const file = await lookAt(path);
  const wanted = createHash("sha256").update(await Deno.readFile(path)).digest("hex");
  assertEquals(await digestOf(file), wanted);
  const idle = { load: 0, isClosed: false };
  assertEquals(await digestOf(file, undefined, idle), wanted);
  assertEquals(await digestOf(file, undefined, { load: 1, isClosed: false }), wanted);
  assertEquals(await digestOf(file, undefined, { load: 0, isClosed: true }), undefined);
  const reading = digestOf(file, undefined, { load: 1, isClosed: false });
  await write(2_500_001);
  assertEquals([await reading, await digestOf(file)], [undefined, undefined]);
  assertNotEquals((await lookAt(path)).stamp, file.stamp);
});

Deno.test("a file in memory has the digest of its content", async () => {
  const content = crypto.getRandomValues(new Uint8Array(50_000));
  const wanted = createHash("sha256").update(content).digest("hex");
  assertEquals(await digestOf(await lookAt("name", filesInMemory({ name: content }))), wanted);
});

Deno.test("kept digests are found by stamps, and what is damaged is none", async () => {
  const kept = new DigestFiles(`${folder}/kept/digests`);
  const [one, two] = ["1".repeat(64), "2".repeat(64)];
  assertEquals(await kept.get("a"), undefined);
  await kept.put("a", one);
  await kept.put("b", two);
  assertEquals([await kept.get("a"), await kept.get("b"), await kept.get("c")], [
    one,
    two,
    undefined,
  ]);
  for (const { name } of Deno.readDirSync(`${folder}/kept/digests`)) {
    await Deno.writeTextFile(`${folder}/kept/digests/${name}`, "12");
  }
  assertEquals(await kept.get("a"), undefined);
  await Deno.writeTextFile(`${folder}/file`, "");
  await new DigestFiles(`${folder}/file`).put("a", one); // fails nobody
});
