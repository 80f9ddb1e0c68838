// Speculative decoding (Leviathan et al. 2023) without a second model: what follows an earlier occurrence
// of the last tokens is drafted, and one step checks it all. It pays off where a text repeats itself.

import type { Model, Usage } from "../../mod.ts";
import { Figure } from "./figure.ts";
import { expect, type Find } from "./finding.ts";

const WORDS = "red green blue yellow white black";
const LONGEST = 72;

/** A text that repeats itself, and one that does not. */
const TEXTS = {
  "a list again and again":
    `A list of colours, and once more: ${WORDS}. ${WORDS}. ${WORDS}. red green`,
  "something new": "<|im_start|>user\nWho are you?<|im_end|>\n<|im_start|>assistant\n",
};

/** Steps that an answer takes, along its tokens. */
export const find: Find = async (model) => {
  const lines = [];
  const said: string[] = [];
  const totals: Usage[] = [];
  for (const [label, prompt] of Object.entries(TEXTS)) {
    const points: [number, number][] = [];
    for (let length = 6; length <= LONGEST; length += 6) {
      const { usage } = await answerOf(model, prompt, length, 5);
      // Each step gives one token, and those of its draft that were right.
      points.push([length, length - (usage.acceptedTokens ?? 0)]);
    }
    const [drafted, plain] = [
      await answerOf(model, prompt, LONGEST, 5),
      await answerOf(model, prompt, LONGEST, 0),
    ];
    expect(`${drafted.tokens}` === `${plain.tokens}`, "drafts change nothing of the answer");
    lines.push({ label, points });
    said.push(model.tokenizer.decode(plain.tokens));
    totals.push(drafted.usage);
  }
  const { draftedTokens: drafted = 0, acceptedTokens: accepted = 0 } = totals[0]!;
  const [repeated, fresh] = lines.map(({ points }) => points.at(-1)![1]);
  expect(accepted > drafted / 2, "most of what is drafted in a repetition is right");
  expect(repeated! < 0.85 * LONGEST, "a repetition takes far fewer steps than tokens");
  expect(fresh! > repeated!, "new text takes more");
  const says = `${LONGEST} tokens of a text that repeats itself took ${repeated} steps: ` +
    `${accepted} of ${drafted} drafted tokens were right. New text took ${fresh}. The answers are ` +
    `those without drafts.`;
  const picture = new Figure("Speculative acceptance along a text", says)
    .lines(lines, { across: "tokens of the answer", up: "steps so far" });
  for (const text of said) picture.text(`…${text.slice(0, 90)}…`);
  return { says, picture: `${picture}` };
};

async function answerOf(model: Model, prompt: string, maxTokens: number, draftTokens: number) {
  const tokens: number[] = [];
  const ask = { prompt, maxTokens, draftTokens, temperature: 0, ignoreEnd: true };
  let usage: Usage | undefined;
  for await (const event of model.generate(ask)) {
    if (event.type === "text") tokens.push(...event.tokens);
    if (event.type === "done") ({ usage } = event);
  }
  return { tokens, usage: usage! };
}
