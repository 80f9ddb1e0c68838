// The tokenizers inside whole model files: embedding models with the special tokens that they add,
// and models whose vocabulary is a dummy, which must load for the use of token ids.

import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { readGguf } from "../../engine/gguf/mod.ts";
import { createTokenizer, type Tokenizer, TokenizerError } from "../../tokenizer/mod.ts";
import { dataNote, dataRoot, hasData } from "./vocabularies.ts";

interface Expected {
  texts: { text: string; tokens: number[] }[];
}

async function tokenizerOf(path: string): Promise<Tokenizer> {
  const file = await readGguf(fileURLToPath(new URL(`models/${path}`, dataRoot)));
  return createTokenizer(file.metadata);
}

Deno.test({
  name: `encode() gives embedding models the tokens of llama.cpp${dataNote}`,
  ignore: !hasData,
  async fn(test) {
    const text = await Deno.readTextFile(new URL("models/embedding/manifest.json", dataRoot));
    const manifest = JSON.parse(text) as Record<string, Expected>;
    assertEquals(Object.keys(manifest).length, 5);
    for (const [name, { texts }] of Object.entries(manifest)) {
      await test.step(name, async () => {
        const tokenizer = await tokenizerOf(`embedding/${name}.gguf`);
        assert(texts.length > 0);
        for (const { text, tokens } of texts) {
          assertEquals(tokenizer.encode(text, { bos: true, eos: true }), tokens, text);
        }
      });
    }
  },
});

Deno.test({
  name: `createTokenizer() takes the dummy vocabulary of every architecture${dataNote}`,
  ignore: !hasData,
  async fn() {
    let count = 0;
    for await (const { name } of Deno.readDir(new URL("models/architectures/", dataRoot))) {
      if (!name.endsWith(".gguf")) continue;
      count++;
      const tokenizer = await tokenizerOf(`architectures/${name}`);
      assertEquals(tokenizer.hasText, false, name);
      assert(tokenizer.vocabularySize > 0, name);
      assertThrows(() => tokenizer.encode("a"), TokenizerError, '"test" has no text');
    }
    assert(count >= 62);
  },
});
