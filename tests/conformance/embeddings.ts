// Runs the embedding models of the conformance data and compares their vectors with those computed
// elsewhere: of given tokens, and of texts through the tokenizer.

import { loadModel } from "../../engine/mod.ts";
import { DATA, readFloats } from "./logits.ts";

interface Entry {
  tokens: number[];
  texts: { text: string; tokens: number[]; pooled: string }[];
}

/** Cosine of the angle between two vectors. */
export function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) =>
    x.reduce((sum, value, i) => sum + value * y[i], 0);
  return a.length === b.length ? dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)) : NaN;
}

/** Names of the embedding models. */
export async function embeddingNames(): Promise<string[]> {
  return Object.keys(JSON.parse(await Deno.readTextFile(new URL("embedding/manifest.json", DATA))));
}

/** The least cosine between a model's vectors and the expected ones. */
export async function leastCosine(name: string, { exact = true } = {}): Promise<number> {
  const manifest = JSON.parse(await Deno.readTextFile(new URL("embedding/manifest.json", DATA)));
  const { tokens, texts } = manifest[name] as Entry;
  await using model = await loadModel(new URL(`embedding/${name}.gguf`, DATA), {
    contextLength: 64,
    maxSequences: 4,
    exact,
  });
  const expected = [
    await readFloats(`embedding/${name}.normalized.f32`),
    ...await Promise.all(texts.map(({ pooled }) => readFloats(`embedding/${pooled}`))),
  ];
  // One after another, all at once, and as text where the vocabulary can read it.
  const alone = [];
  for (const sequence of [tokens, ...texts.map((text) => text.tokens)]) {
    alone.push(...await model.embed([sequence]));
  }
  const together = await model.embed([tokens, ...texts.map((text) => text.tokens)]);
  const encoded = await model.embed([tokens, ...texts.map(({ text }) => text)]);
  const cosines = [alone, together, encoded].flatMap((vectors) =>
    vectors.map((vector, i) => cosine(vector, expected[i]))
  );
  return Math.min(...cosines);
}
