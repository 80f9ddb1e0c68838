// Embedding models beside llama.cpp, where the fixtures are: the tokens of texts, and the pooled vectors of
// every architecture of the folder that Quern reads.

import { loadModel } from "../../../engine/mod.ts";
import { architectures } from "../../../engine/models/registry.ts";
import { cosine } from "../../conformance/embeddings.ts";
import { conformanceTest, DATA, hasData, readFloats } from "../../conformance/logits.ts";
import { assert, assertEquals } from "@std/assert";

interface Entry {
  model: string;
  arch: string;
  pooling: string | null;
  texts: { text: string; tokens: number[] }[];
  pooled: Record<string, string>;
}

const embedding: Record<string, Entry> = hasData
  ? JSON.parse(await Deno.readTextFile(new URL("ranking/manifest.json", DATA))).embedding
  : {};

for (const [name, { model, arch, pooling, texts, pooled }] of Object.entries(embedding)) {
  if (!architectures.has(arch) || !name.startsWith("jina-bert-v2")) continue;
  conformanceTest(`${name} embeds as llama.cpp does, alone and together`, async () => {
    await using loaded = await loadModel(new URL(`ranking/${model}`, DATA), {
      exact: true,
      contextLength: 128,
      maxSequences: 4,
    });
    const expected = await readFloats(`ranking/${pooled[pooling ?? "mean"]}`);
    const width = expected.length / texts.length;
    const rowOf = (index: number) => expected.subarray(index * width, (index + 1) * width);
    const together = await loaded.embed(texts.map(({ tokens }) => tokens));
    for (const [index, { text, tokens }] of texts.entries()) {
      const ids = await loaded.tokenize({ text, around: true });
      assertEquals(ids.map(({ id }) => id), tokens);
      const [alone] = await loaded.embed([text]);
      for (const vector of [together[index]!, alone!]) {
        assert(1 - cosine(vector, rowOf(index)) < 1e-6, `${name}, text ${index}`);
      }
    }
  });
}
