// What the model in the box learns from: the texts are those that the server writes and reads, the
// same seed gives the same data, and nothing held out is learnt.

import { assert, assertEquals } from "@std/assert";
import { tokenizerOf, trainVocabulary, WORDS } from "../../../bench/box/bpe_trainer.ts";
import { examples, readTemplate, Renderer } from "../../../bench/box/corpus.ts";
import { Random } from "../../../bench/box/random.ts";
import { EVALUATED } from "../../../bench/box/skills/mod.ts";
import type { Answer, Example } from "../../../bench/box/types.ts";
import { createChatTemplate } from "../../../tokenizer/mod.ts";

const renderer = new Renderer();

/** The conversation as the template writes it once it is over. */
function history({ system, tools, turns }: Example): string {
  const said = ({ text = "", call }: Answer) => ({
    role: "assistant",
    content: text,
    ...call && { tool_calls: [{ type: "function", function: call }] },
  });
  const messages = turns.flatMap(({ user, toolResult, answer }) => [
    user !== undefined
      ? { role: "user", content: user }
      : { role: "tool", content: toolResult ?? "" },
    said(answer),
  ]);
  if (system !== undefined) messages.unshift({ role: "system", content: system });
  return createChatTemplate(readTemplate(), {}).render({ messages, tools });
}

Deno.test("what the model learns to say is what the template writes of it afterwards", () => {
  let [calls, thoughts] = [0, 0];
  for (const example of examples(5, 400, "train")) {
    const text = renderer.render(example).map(({ text }) => text).join("");
    if (example.think) thoughts++;
    else assertEquals(`${text}\n`, history(example));
    calls += example.turns.filter(({ answer }) => answer.call).length;
  }
  assert(calls > 20 && thoughts > 20, `${calls} calls, ${thoughts} thoughts`);
});

Deno.test("the same seed gives the same examples, another seed others", () => {
  const texts = (seed: number) =>
    [...examples(seed, 50, "train")].map((example) => JSON.stringify(renderer.render(example)));
  assertEquals(texts(3), texts(3));
  assert(texts(3).join() !== texts(4).join());
});

Deno.test("no conversation of the evaluation is learnt, whatever tools it offers", () => {
  const wordsOf = ({ system, tools, turns }: Example) =>
    JSON.stringify([system, tools !== undefined, turns.map(({ user }) => user)]);
  const learnt = new Set([...examples(1, 3000, "train")].map(wordsOf));
  for (const skill of EVALUATED) {
    const random = new Random(2026);
    for (let i = 0; i < 200; i++) {
      const words = wordsOf(skill.example(random, "heldOut"));
      assert(!learnt.has(words), words);
    }
  }
});

Deno.test("trainVocabulary() merges the most frequent pairs, and its tokens encode any text", () => {
  const { tokens, merges } = trainVocabulary(["low lower lowest", "low low slow"], 260);
  assertEquals(merges.slice(0, 2), [["l", "o"], ["lo", "w"]]);
  assertEquals(tokens.length, 260);
  const tokenizer = tokenizerOf({ tokens, merges });
  const text = "low, été 12\n\n東京";
  assertEquals(tokenizer.decode(tokenizer.encode(text)), text);
  assertEquals(tokenizer.encode("low").length, 1);
});

Deno.test("words are cut so that each digit is alone", () => {
  const words = "Add 47 and 38, it's 85!".match(new RegExp(WORDS, "gu"));
  assertEquals(words, [
    "Add",
    " ",
    "4",
    "7",
    " and",
    " ",
    "3",
    "8",
    ",",
    " it",
    "'s",
    " ",
    "8",
    "5",
    "!",
  ]);
});
