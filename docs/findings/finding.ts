// What findings have in common: what one is, and questions to a chat model.

import { ok } from "node:assert/strict";
import type { Model } from "../../mod.ts";

/** What was found. */
export interface Finding {
  /** A sentence with the numbers. */
  readonly says: string;
  /** The picture, as SVG. */
  readonly picture: string;
}

/** Looks for something in a model. It throws where that is not to be seen. */
export type Find = (model: Model, path: string | URL) => Promise<Finding>;

/** Fails unless it is so. */
export function expect(isSo: boolean, what: string): asserts isSo {
  ok(isSo, `Expected that ${what}`);
}

/** The prompt of a chat whose last turn is the user's, up to the answer. */
export function promptOf(model: Model, ...turns: string[]): Promise<string> {
  const messages = turns.map((content, i) => {
    return { role: i % 2 === 0 ? "user" as const : "assistant" as const, content };
  });
  return model.renderChat({ messages, think: false });
}

/** The texts of tokens, one by one. */
export function textsOf(model: Model, tokens: readonly number[]): string[] {
  return tokens.map((token) => model.tokenizer.decode([token], { special: true }));
}

/** The logits after a prompt, perhaps with changes: [vocabulary]. */
export async function logitsAfter(
  model: Model,
  prompt: string | readonly number[],
  changes: Parameters<Model["run"]>[0]["changes"] = [],
): Promise<Float32Array> {
  const run = { prompt, changes, capture: ["logits"], positions: "last" } as const;
  return (await model.run(run)).captured[0]!.values;
}

/** Logits as probabilities. */
export function softmax(logits: Float32Array): Float64Array {
  const greatest = logits.reduce((a, b) => Math.max(a, b));
  const weights = Float64Array.from(logits, (logit) => Math.exp(logit - greatest));
  const total = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / total);
}
