// Models whose files are in memory: what they say, with the files of their options, is what they say on
// disk, and nothing is looked for on disk.

import {
  filesInMemory,
  GgufError,
  inspectModel,
  loadModel,
  loadTokenizer,
  type LocalLoadOptions,
  MemoryStore,
} from "../../../engine/mod.ts";
import { folder, readAnswer, tinyPath } from "../harness.ts";
import { assertEquals, assertRejects } from "@std/assert";

const NAME = "nowhere/tiny.gguf";
const files = filesInMemory({ [NAME]: await Deno.readFile(tinyPath) });
const LOAD = { contextLength: 128, maxSequences: 4, device: { kind: "cpu" } } as const;

async function sayingOf(path: string, options: LocalLoadOptions): Promise<number[]> {
  await using model = await loadModel(path, { ...LOAD, ...options });
  const request = { prompt: "Hello", temperature: 0, maxTokens: 20, ignoreEnd: true };
  return (await readAnswer(model.generate(request))).tokens;
}

Deno.test("a model in memory says what it says on disk, with a draft model and blocks too", async () => {
  const expected = await sayingOf(tinyPath, {});
  assertEquals(await sayingOf(NAME, { files }), expected);
  const blockStore = { memory: new MemoryStore(2 ** 24) };
  assertEquals(await sayingOf(NAME, { files, draft: NAME, blockStore }), expected);
});

Deno.test("a model in memory can be inspected, and its vocabulary read", async () => {
  assertEquals(await inspectModel(NAME, { files }), await inspectModel(tinyPath));
  const [there, here] = [await loadTokenizer(NAME, { files }), await loadTokenizer(tinyPath)];
  assertEquals(there.encode("Hello, you"), here.encode("Hello, you"));
});

Deno.test("every file of a load is looked for in memory", async () => {
  const other = `${folder}/other.gguf`;
  await Deno.copyFile(tinyPath, other);
  for (
    const options of [{ draft: other }, { projector: other }, { adapters: [{ path: other }] }]
  ) {
    const error = await assertRejects(() => sayingOf(NAME, { files, ...options }), GgufError);
    assertEquals(error.message.includes("no file in memory has that name"), true, error.message);
  }
  await assertRejects(() => sayingOf(other, { files }), GgufError);
});
