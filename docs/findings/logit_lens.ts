// Logit lens: what would the model say if it stopped after a layer? The residual stream after each layer
// goes through the model's own last norm and head. The answer to a sum comes into being late.

import { logitLens } from "../../mod.ts";
import { Figure } from "./figure.ts";
import { expect, type Find, promptOf, textsOf } from "./finding.ts";

/** The digits of 27 + 45 over depth. */
export const find: Find = async (model) => {
  const answer = "27 + 45 = 7";
  const prompt = await promptOf(model, "What is 27 + 45?") + answer;
  const tokens = model.tokenizer.encode(prompt);
  const positions = Array.from({ length: 9 }, (_, i) => i - 9);
  const { places } = await logitLens(model, { prompt, positions, top: 1 });
  const columns = textsOf(model, [...tokens].slice(-9));
  const layers = [...new Set(places.map(({ layer }) => layer))];
  const of = (layer: number) => places.filter((place) => place.layer === layer);
  const shares = layers.map((layer) => of(layer).map(({ top }) => top[0]!.probability));
  const texts = layers.map((layer) => of(layer).map(({ top }) => top[0]!.text));
  const [first, last] = [texts[0]!.at(-1), texts.at(-1)!.at(-1)];
  expect(last === "2", "after the last layer the model says the digit 2 of 72");
  const settled = layers.findLast((layer) => texts[layer]!.at(-1) !== "2")! + 1;
  expect(settled > 1, "no early layer knows the digit");
  const says = `After "${answer}" layer 0 would say "${first}"; the 2 of 72 is there from layer ` +
    `${settled} of ${layers.length} on.`;
  const picture = new Figure("The logit lens over depth", says)
    .heatMap(shares, { rows: layers.map((layer) => `layer ${layer}`), columns, cells: texts })
    .text("Each cell: the likeliest next token after the token below; the darker, the surer.");
  return { says, picture: `${picture}` };
};
