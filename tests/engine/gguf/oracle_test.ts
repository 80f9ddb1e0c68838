// Our reader against @huggingface/gguf and against the layout of files that llama.cpp wrote.
// Most of it needs the conformance data in ../shared and is ignored where that does not exist.

import { assertEquals } from "@std/assert";
import { GGMLFileQuantizationType, GGMLQuantizationType, gguf } from "@huggingface/gguf";
import { fileURLToPath } from "node:url";
import {
  fileTypeName,
  type MetadataValue,
  parseShardName,
  readGguf,
  tensorTypeById,
  tensorTypeByName,
} from "../../../engine/gguf/mod.ts";
import { assertInTime, threadTime } from "../../cpu_time.ts";

const shared = new URL("../../../../shared/data/", import.meta.url);
const ignore = !exists(shared);

function exists(url: URL): boolean {
  try {
    return Deno.statSync(url).isDirectory;
  } catch {
    return false;
  }
}

/** The GGUF files of a folder, but for shards: they are held against a whole file elsewhere. */
function filesIn(folder: string): URL[] {
  const url = new URL(folder, shared);
  return [...Deno.readDirSync(url)]
    .filter(({ name }) => name.endsWith(".gguf") && !parseShardName(name))
    .map(({ name }) => new URL(name, url));
}

/** Our value as the oracle gives it: in plain arrays, without a byte order mark, which it drops. */
function plain(value: MetadataValue): unknown {
  if (typeof value === "string") return value.replace(/^\ufeff/, "");
  if (ArrayBuffer.isView(value)) return Array.from<unknown>(value);
  return Array.isArray(value) ? value.map(plain) : value;
}

async function compare(url: URL): Promise<void> {
  const ours = await readGguf(url);
  const theirs = await gguf(fileURLToPath(url), { allowLocalFile: true });
  const { version, tensor_count, kv_count, ...metadata } = theirs.metadata as Record<
    string,
    unknown
  >;
  assertEquals<unknown>(ours.version, version);
  assertEquals(ours.tensors.size, Number(tensor_count));
  assertEquals(Object.keys(ours.metadata).length, Number(kv_count));
  for (const [key, value] of Object.entries(ours.metadata)) {
    const expected = metadata[key];
    const isSmallLong = typeof expected === "bigint" && typeof value === "number";
    assertEquals(plain(value), isSmallLong ? Number(expected) : expected, `${url}: ${key}`);
  }
  assertEquals(ours.dataOffset, Number(theirs.tensorDataOffset));
  assertEquals(
    [...ours.tensors.values()].map(({ name, shape, type, offset }) => ({
      name,
      shape,
      type,
      offset,
    })),
    theirs.tensorInfos.map(({ name, shape, dtype, offset }) => ({
      name,
      shape: shape.map(Number),
      type: dtype as number,
      offset: Number(theirs.tensorDataOffset + offset),
    })),
  );
}

/** llama.cpp writes tensors without gaps, so every size has to lead to the next tensor. */
async function checkSizes(url: URL): Promise<void> {
  const { tensors, alignment, fileSize } = await readGguf(url);
  const list = [...tensors.values()];
  for (const [index, { name, offset, byteLength }] of list.entries()) {
    const end = Math.ceil((offset + byteLength) / alignment) * alignment;
    assertEquals(end, list[index + 1]?.offset ?? fileSize, `${url}: ${name}`);
  }
}

Deno.test("tensorTypeById() and fileTypeName() name what @huggingface/gguf names", () => {
  for (const [name, id] of Object.entries(GGMLQuantizationType)) {
    if (typeof id !== "number") continue;
    assertEquals(tensorTypeById(id)?.name, name);
    assertEquals(tensorTypeByName(name)?.id, id);
  }
  assertEquals([tensorTypeById(31), tensorTypeById(43)], [undefined, undefined]);
  assertEquals(fileTypeName(15), GGMLFileQuantizationType[15]);
});

const IN_SHARED = ignore ? " (skipped: no ../shared)" : "";

for (const folder of ["models/quantizations/", "models/split/", "models/text/", "models/lora/"]) {
  Deno.test({
    name: `readGguf() agrees with @huggingface/gguf on ${folder}${IN_SHARED}`,
    ignore,
    async fn() {
      for (const url of filesIn(folder)) {
        await compare(url);
        await checkSizes(url);
      }
    },
  });
}

Deno.test({
  name:
    `readGguf() agrees with @huggingface/gguf on stories260K, phi-3 and architectures${IN_SHARED}`,
  ignore,
  async fn() {
    await compare(new URL("models/stories260K.gguf", shared));
    await compare(new URL("tokenizers/phi-3.gguf", shared));
    for (
      const name of ["llama-dense", "gpt-oss-moe", "gemma3-dense", "mamba2-dense", "falcon-dense"]
    ) {
      await compare(new URL(`models/architectures/${name}.gguf`, shared));
    }
  },
});

Deno.test({
  name: `readGguf() reads every architecture and the size of each of its tensors${IN_SHARED}`,
  ignore,
  async fn() {
    for (const url of filesIn("models/architectures/")) await checkSizes(url);
  },
});

Deno.test({
  name: `tensorTypeByName() knows the block bytes of the dequantization data${IN_SHARED}`,
  ignore,
  fn() {
    const url = new URL("models/dequantization/", shared);
    const names = [...Deno.readDirSync(url)].map(({ name }) => name);
    for (const name of names.filter((name) => name.endsWith(".blocks.bin"))) {
      const type = name.slice(0, -".blocks.bin".length);
      const values = Deno.statSync(new URL(`${type}.values.f32`, url)).size / 4;
      const { blockSize, blockBytes } = tensorTypeByName(type)!;
      const blocks = Deno.statSync(new URL(name, url)).size / blockBytes;
      assertEquals([blocks, values / blockSize], [64, 64], type);
    }
  },
});

Deno.test({
  name: `readGguf() reads a vocabulary of 201k tokens in under 0.3 s of CPU${IN_SHARED}`,
  ignore,
  async fn(test) {
    const url = new URL("tokenizers/gpt-4o.gguf", shared);
    const times: number[] = [];
    for (let run = 0; run < 5; run++) {
      // Not the time that passes: reading pauses, and then others may have the machine.
      const start = threadTime();
      const { metadata } = await readGguf(url);
      times.push(threadTime() - start);
      assertEquals((metadata["tokenizer.ggml.tokens"] as string[]).length, 201_088);
    }
    const best = Math.min(...times);
    await test.step(`best of 5: ${best.toFixed(0)} ms, first: ${times[0].toFixed(0)} ms`, () => {
      assertInTime(best, 300);
    });
  },
});
