// The conversation of two findings: a name is told, and asked for. The same with another name differs in
// one token, so that what a model keeps of it can be moved from one run into the other.

import type { Model } from "../../mod.ts";
import { expect, logitsAfter, promptOf } from "./finding.ts";

/** A prompt with the name, and one with another name. */
export interface NamedPrompts {
  /** Ends where the name is to come. */
  readonly told: readonly number[];
  readonly other: readonly number[];
  /** Where they differ first. */
  readonly at: number;
  /** How much of the difference between the two a change of the second prompt's run brings back. */
  recovered(changes: Parameters<Model["run"]>[0]["changes"]): Promise<number>;
}

/** The prompts. */
export async function namedPrompts(model: Model): Promise<NamedPrompts> {
  const [told, other] = await Promise.all(["Nora", "Max"].map(async (name) => {
    const text = await promptOf(model, `My name is ${name}. What is my name?`);
    return [...model.tokenizer.encode(`${text}Your name is `)];
  })) as [number[], number[]];
  const at = told.findIndex((token, i) => token !== other[i]);
  expect(told.length === other.length, "the names have as many tokens");
  const [right, wrong] = [told[at]!, other[at]!];
  const favour = (logits: Float32Array) => logits[right]! - logits[wrong]!;
  const most = favour(await logitsAfter(model, told));
  const least = favour(await logitsAfter(model, other));
  expect(most > 0 && least < 0, "each name is what the model says");
  const recovered: NamedPrompts["recovered"] = async (changes) =>
    (favour(await logitsAfter(model, other, changes)) - least) / (most - least);
  return { told, other, at, recovered };
}
