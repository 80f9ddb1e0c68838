// Which models are embedding models, by architecture and pooling type, over headers without weights.

import { type WritableMetadata, writeGguf } from "../../../engine/gguf/mod.ts";
import { inspectModel } from "../../../engine/mod.ts";
import { assertEquals } from "@std/assert";

const CASES: [architecture: string, pooling: number | undefined, isEmbeddingModel: boolean][] = [
  ["llama", undefined, false],
  ["qwen3", undefined, false],
  ["qwen3", 3, true],
  ["bert", 2, true],
  ["bert", undefined, true],
  ["gemma-embedding", undefined, true],
  ["modern-bert", 1, true],
  ["llama", 4294967295, false], // -1, as unsigned: not said
];

for (const [architecture, pooling, isEmbeddingModel] of CASES) {
  const what = isEmbeddingModel ? "an embedding model" : "a model of text";
  Deno.test(`inspectModel() takes ${architecture} with pooling ${pooling} for ${what}`, async () => {
    const path = await Deno.makeTempFile({ suffix: ".gguf" });
    const metadata: WritableMetadata = {
      "general.architecture": architecture,
      ...(pooling !== undefined && { [`${architecture}.pooling_type`]: { uint32: pooling } }),
    };
    await writeGguf(path, metadata, []);
    assertEquals((await inspectModel(path)).isEmbeddingModel, isEmbeddingModel);
    await Deno.remove(path);
  });
}
