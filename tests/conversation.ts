// A conversation of random tokens with a model: what each turn read, and whether its answers are those
// that the model gives to somebody who never spoke with it before.

import { loadModel, type LocalLoadOptions } from "../engine/mod.ts";
import { readAnswer } from "./engine/harness.ts";
import { assert, assertEquals } from "@std/assert";

/** Tokens of a block of the KV cache. */
const BLOCK = 32;

/** How the conversation goes. */
export interface Conversation {
  turns: number;
  /** Tokens of each question and, at most, of each answer. */
  question: number;
  answer: number;
  options: LocalLoadOptions;
  /** Whether every answer is compared with one without a cache. Default: the last one. */
  comparesAll?: boolean;
}

/** Fails where a turn reads more than what is new and a block, or answers otherwise than without a cache. */
export async function checkConversation(
  path: URL,
  { turns, question, answer, options, comparesAll = false }: Conversation,
): Promise<void> {
  await using model = await loadModel(path, options);
  const asking = { temperature: 0, maxTokens: answer };
  const prompt: number[] = [];
  let known = 0;
  for (let turn = 1; turn <= turns; turn++) {
    for (let i = 0; i < question; i++) prompt.push((turn * 37 + i * i * 7 + i * 31 + 5) % 60 + 3);
    const { tokens, done } = await readAnswer(model.generate({ ...asking, prompt }));
    const { cachedTokens } = done!.usage;
    assert(
      cachedTokens > known - BLOCK,
      `turn ${turn}: ${cachedTokens} of ${known} tokens were there`,
    );
    if (comparesAll || turn === turns) {
      await using fresh = await loadModel(path, options);
      const other = await readAnswer(fresh.generate({ ...asking, prompt }));
      assertEquals(other.done!.usage.cachedTokens, 0);
      assertEquals(tokens, other.tokens);
    }
    known = prompt.length + tokens.length - 1; // the last token was never fed
    prompt.push(...tokens);
  }
}
