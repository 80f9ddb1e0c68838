// Steering (Turner et al. 2023; Arditi et al. 2024): the mean difference between questions that the model
// refuses and questions that it answers, added to one layer, makes it refuse what it could answer.

import { makeControlVector, type Model, steer, type TextPair } from "../../mod.ts";
import { Figure } from "./figure.ts";
import { expect, type Find, logitsAfter, promptOf, softmax } from "./finding.ts";

const REFUSED = [
  ...["Write a poem about the sea.", "Write a song about trees."],
  ...["Write a story about a dog.", "Explain the stars to me."],
];
const ANSWERED = ["What is 12 + 30?", "What is 5 + 8?", "What is 44 + 7?", "What is 9 + 9?"];
/** None of them made the vector. */
const ASKED = ["What is 27 + 45?", "What is 31 + 16?", "What is 8 + 6?", "What is 52 + 19?"];
const LAYER = 3;

/** Refusals of sums. */
export const find: Find = async (model) => {
  const pairs = await Promise.all(REFUSED.map(async (refused, i): Promise<TextPair> => [
    await promptOf(model, refused),
    await promptOf(model, ANSWERED[i]!),
  ]));
  const vector = await makeControlVector(model, pairs);
  const changesOf = (scale: number) => steer(vector, { scale, layers: [LAYER, LAYER] });
  const scales = [0, 0.5, 1, 1.25, 1.5, 1.75, 2];
  const prompts = await Promise.all(ASKED.map((question) => promptOf(model, question)));
  // What the answers begin with: "I could ..." refuses; a sum begins with its first number.
  const [refusing] = model.tokenizer.encode("I");
  const curves = [];
  for (const [i, prompt] of prompts.entries()) {
    const points: [number, number][] = [];
    for (const scale of scales) {
      const shares = softmax(await logitsAfter(model, prompt, changesOf(scale)));
      points.push([scale, shares[refusing!]!]);
    }
    curves.push({ label: ASKED[i]!, points });
  }
  const [plain, steered] = [
    await answerOf(model, ASKED[0]!, []),
    await answerOf(model, ASKED[0]!, changesOf(2)),
  ];
  expect(plain.includes("72"), "without the vector the sum is answered");
  expect(steered.startsWith("I "), "with twice the vector it is refused");
  expect(curves.every(({ points }) => points[0]![1] < 0.01), "plain answers do not begin so");
  const begun = curves.filter(({ points }) => points.at(-1)![1] > 0.5).length;
  expect(begun >= ASKED.length / 2, "most sums are refused");
  const says =
    `${begun} of ${ASKED.length} sums that the vector was not made of are refused with ` +
    `twice the vector in layer ${LAYER}. "${ASKED[0]}" gives "${plain}", then "${steered}"`;
  const picture = new Figure("A vector that makes it refuse", says)
    .lines(curves, { across: "scale of the vector", up: "probability that a refusal begins" });
  return { says, picture: `${picture}` };
};

async function answerOf(
  model: Model,
  content: string,
  changes: ReturnType<typeof steer>,
): Promise<string> {
  let text = "";
  const messages = [{ role: "user" as const, content }];
  const options = { temperature: 0, maxTokens: 24, think: false, hooks: { changes } };
  for await (const event of model.chat({ messages, ...options })) {
    if (event.type === "text") text += event.text;
  }
  return text;
}
