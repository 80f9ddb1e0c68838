// Reference models as GGUF files, with the tokens that tests run and the logits that they expect.

import { tokenizerMetadata } from "../../../bench/synthetic_model.ts";
import type { Fixture } from "../../conformance/logits.ts";
import { writeModelFile } from "../../model_file.ts";
import { type ReferenceModel, VOCABULARY } from "./model.ts";
import { RandomWeights } from "./weights.ts";

/**
 * More than a block of the KV cache, and than any window; in chunks of 5 and of 7 without a rest, for
 * which other kernels would be compiled.
 */
const TOKENS = 35;

/** Tokens without a pattern. */
export function randomTokens(count = TOKENS): number[] {
  return Array.from({ length: count }, (_, i) => (i * i * 7 + i * 31 + 5) % VOCABULARY);
}

/** Runs a model, writes what it was made of, and says what to expect of the file. */
export async function fixtureOf(
  reference: ReferenceModel,
  weights: RandomWeights = new RandomWeights(),
  tokens: number[] = randomTokens(),
): Promise<Fixture> {
  const expected = Float32Array.from(reference.run(weights, tokens).flat());
  const name = reference.architecture;
  return { name, model: await writeReference(reference, weights), tokens, expected };
}

/** Writes a model that has been run, with its weights as they are by now. */
export async function writeReference(
  { architecture, metadata }: ReferenceModel,
  weights: RandomWeights,
): Promise<URL> {
  const pairs = Object.entries(metadata).map(([key, value]) => [`${architecture}.${key}`, value]);
  const all = {
    "general.architecture": architecture,
    ...Object.fromEntries(pairs),
    ...tokenizerMetadata(VOCABULARY),
  };
  return new URL(`file://${await writeModelFile(all, weights.writable())}`);
}
