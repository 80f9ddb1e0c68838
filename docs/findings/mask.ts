// What a mask changes: the schema of an answer forbids tokens. Mostly the model would not have said them
// anyway; where it would, the mask decides, and the form is right while the content need not be.

import { Figure } from "./figure.ts";
import { expect, type Find } from "./finding.ts";

const QUESTION = "Extract name and age as JSON. Nora Weber is 34 years old and lives in Rome.";
/** The text does not fit it: nobody there is called Nora alone, or as old as 40. */
const SCHEMA = {
  type: "object",
  properties: { name: { enum: ["Nora", "Anna"] }, age: { type: "integer", minimum: 40 } },
  required: ["name", "age"],
};

/** The probability of what a schema forbids, token by token. */
export const find: Find = async (model) => {
  const bars = [];
  let text = "";
  for await (
    const event of model.chat({
      messages: [{ role: "user", content: QUESTION }],
      format: { schema: SCHEMA },
      temperature: 0,
      think: false,
      logprobs: 1,
      masks: true,
    })
  ) {
    if (event.type !== "text") continue;
    text += event.text;
    for (const { token, mask } of event.logprobs ?? []) {
      if (!mask) continue;
      const [wish] = mask.topForbidden;
      const value = wish ? Math.exp(wish.logprob) : 0;
      const note = value > 0.5 ? `it would have said ${JSON.stringify(wish!.token)}` : "";
      const label = `${JSON.stringify(token)}, ${mask.allowed} allowed`;
      bars.push({ label, value, note, ...(value > 0.5 && { color: "#cb181d" }) });
    }
  }
  const { name, age } = JSON.parse(text);
  expect(["Nora", "Anna"].includes(name) && age >= 40, "the answer fits its schema");
  const changed = bars.filter(({ value }) => value > 0.5).length;
  expect(changed > 0 && changed < bars.length / 2, "the mask decides in a few places");
  const says = `In ${changed} of ${bars.length} places the schema forbids what the model wants. ` +
    `It made ${text} of a text that says 34: a mask keeps the form, not the truth.`;
  const picture = new Figure("What a mask changes", says)
    .text("Probability of the likeliest token that was forbidden, in the place of each:")
    .bars(bars, 1);
  return { says, picture: `${picture}` };
};
