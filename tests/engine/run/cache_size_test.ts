// How much a model remembers by default: as long a window as is sound, never more than trained, and
// what is asked for in any case.

import { typesOf } from "../../../kernels/mod.ts";
import { type GgufFile, MetadataReader } from "../../../engine/gguf/mod.ts";
import { loadModel } from "../../../engine/mod.ts";
import { Config } from "../../../engine/nn/mod.ts";
import { type CacheDemand, chooseCacheSize, tokenBytes } from "../../../engine/run/cache_size.ts";
import { tinyPath } from "../harness.ts";
import { assert, assertEquals } from "@std/assert";

const GIB = 2 ** 30;

/** Llama 3.1 8B in 4 bits, on a device without a limit. */
const LLAMA: CacheDemand = {
  trained: 131_072,
  slots: 8,
  fileSize: 4.9e9,
  tokenBytes: { all: 131_072, largest: 2048 },
  maxBuffer: Infinity,
};

Deno.test("a window is as long as half the weights' memory has room for, twice", () => {
  assertEquals(chooseCacheSize(LLAMA), { context: 9216, blocks: 2 * 9216 / 32 + 8 });
  assertEquals(chooseCacheSize({ ...LLAMA, fileSize: 40e9 }).context, 75_776);
  assertEquals(chooseCacheSize({ ...LLAMA, fileSize: 400e9 }).context, 131_072);
  const small = { ...LLAMA, fileSize: 1e8, tokenBytes: { all: 16_384, largest: 512 } };
  assertEquals(chooseCacheSize(small).context, GIB / 2 / 16_384 / 2);
});

Deno.test("a window has 8192 tokens at least, but never more than trained", () => {
  const tight = { ...LLAMA, fileSize: 1e9 };
  assertEquals(chooseCacheSize(tight), { context: 8192, blocks: 8192 / 32 + 8 });
  assertEquals(chooseCacheSize({ ...tight, trained: 2048 }), { context: 2048, blocks: 128 + 8 });
  assertEquals(chooseCacheSize({ ...tight, trained: 6000 }).context, 6000);
});

Deno.test("what is asked for is given, and room for two as far as there is some", () => {
  const ask = (asked: number) => chooseCacheSize({ ...LLAMA, asked });
  assertEquals(ask(100), { context: 100, blocks: 7 + 8 });
  assertEquals(ask(65_536), { context: 65_536, blocks: 2048 + 8 });
  assertEquals(ask(1e9).context, 131_072);
  assertEquals(ask(1).context, 4);
  const { context, blocks } = ask(16_000);
  assert(context === 16_000 && blocks > 500 + 8 && blocks < 1000 + 8);
});

Deno.test("there are blocks for as many windows as are wanted, if there is room", () => {
  const blocksFor = (windows: number) => chooseCacheSize({ ...LLAMA, asked: 8192, windows }).blocks;
  assertEquals(blocksFor(1), 8192 / 32 + 8);
  assertEquals(blocksFor(2), 2 * 8192 / 32 + 8);
  assert(blocksFor(100) < 3 * 8192 / 32);
});

Deno.test("no buffer of the cache is larger than a device allows", () => {
  const maxBuffer = 128 * 2 ** 20;
  const { blocks, context } = chooseCacheSize({ ...LLAMA, fileSize: 400e9, maxBuffer });
  assert(blocks * 32 * LLAMA.tokenBytes.largest <= maxBuffer);
  assertEquals(context, 31 * 1024);
});

Deno.test("a model without keys and values is as long as it was trained for", () => {
  const { context } = chooseCacheSize({ ...LLAMA, tokenBytes: { all: 0, largest: 0 } });
  assertEquals(context, 131_072);
});

function bytesOf(metadata: Record<string, unknown>) {
  const keys = Object.entries({ block_count: 4, embedding_length: 512, ...metadata });
  const file = {
    path: "x.gguf",
    metadata: Object.fromEntries(keys.map(([key, value]) => [`some.${key}`, value])),
  };
  const reader = new MetadataReader(file as unknown as GgufFile);
  return tokenBytes(new Config(reader, file.path, "some"), typesOf("f16"));
}

Deno.test("tokenBytes() counts heads as headers write them", () => {
  const [heads, kvHeads] = ["attention.head_count", "attention.head_count_kv"];
  assertEquals(bytesOf({ [heads]: 8 }), { all: 4 * 8 * 2 * 64 * 2, largest: 8 * 64 * 2 });
  assertEquals(bytesOf({ [heads]: 8, [kvHeads]: 2 }).all, 4 * 2 * 2 * 64 * 2);
  assertEquals(bytesOf({ [heads]: 8, [kvHeads]: [0, 2, 0, 1] }), {
    all: 3 * 2 * 64 * 2,
    largest: 2 * 64 * 2,
  });
  const lengths = { "attention.key_length": 192, "attention.value_length": 128 };
  assertEquals(bytesOf({ [heads]: 8, [kvHeads]: 1, ...lengths }), {
    all: 4 * 320 * 2,
    largest: 192 * 2,
  });
  assertEquals(bytesOf({}), { all: 0, largest: 0 });
});

Deno.test("a model takes what its header says", async () => {
  await using model = await loadModel(tinyPath, { maxSequences: 2 });
  assertEquals(model.contextLength, 256);
  // Two layers with two heads of 16 elements, keys and values, f16.
  assertEquals(model.memory.keyValueCache, (2 * 8 + 2) * 32 * (2 * 2 * 16 * 2 * 2));
});
