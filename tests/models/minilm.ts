// all-MiniLM-L6-v2: a trained encoder of texts, whose vectors are compared with those that its formulas
// give in 64-bit floats.

import { deepStrictEqual as assertEquals, ok as assert } from "node:assert";
import { loadModel } from "../../engine/mod.ts";
import { modelPath, testModel } from "./files.ts";

const NAME = "minilm-l6-v2-f32";

/** Texts, their tokens and vectors, by numpy in 64-bit floats and Hugging Face's tokenizers. */
interface Expected {
  text: string;
  tokens: number;
  /** Floats of 32 bits, little-endian, in base64. */
  vector: string;
}

testModel(NAME, "embeds texts as its formulas say", async () => {
  const expected: Expected[] = JSON.parse(
    await Deno.readTextFile(new URL("minilm.json", import.meta.url)),
  );
  await using model = await loadModel(modelPath(NAME), { contextLength: 512 });
  const texts = expected.map(({ text }) => text);
  const together = await model.embed(texts);
  for (const [i, { text, tokens, vector }] of expected.entries()) {
    assertEquals(model.tokenizer.encode(text, { bos: true, eos: true }).length, tokens);
    const [alone] = await model.embed([text]);
    for (const actual of [alone!, together[i]!]) {
      const floats = new Float32Array(Uint8Array.fromBase64(vector).buffer);
      const cosine = floats.reduce((sum, value, at) => sum + value * actual[at]!, 0);
      assert(cosine > 0.99999, `cosine ${cosine} of ${text}`);
    }
  }
});
