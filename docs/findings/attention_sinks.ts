// Attention sinks (Xiao et al. 2023): a head that has nothing to look at has to look somewhere, since its
// weights add up to one. Some heads choose the first token, whatever it says.

import { Figure } from "./figure.ts";
import { expect, type Find, promptOf } from "./finding.ts";

/** How much each head looks at the first token. */
export const find: Find = async (model) => {
  const texts = ["What is my name?", "Extract the name: Nora is here.", "Tell me a joke, please."];
  const sums: number[][] = [];
  for (const text of texts) {
    const prompt = await promptOf(model, text);
    const { captured } = await model.run({ prompt, capture: ["attention.pattern"] });
    for (
      const [layer, { values, shape: [heads = 0, positions = 0, keys = 0] }] of captured.entries()
    ) {
      sums[layer] ??= Array<number>(heads).fill(0);
      for (let head = 0; head < heads; head++) {
        let sum = 0;
        // The first tokens have little else to look at.
        for (let at = 4; at < positions; at++) sum += values[(head * positions + at) * keys]!;
        sums[layer]![head]! += sum / (positions - 4) / texts.length;
      }
    }
  }
  const all = sums.flatMap((row, layer) => row.map((share, head) => ({ layer, head, share })));
  const sinks = all.filter(({ share }) => share > 0.5);
  const [most] = [...all].sort((a, b) => b.share - a.share);
  expect(most!.share > 0.9, "a head looks at the first token nearly always");
  expect(sinks.length < all.length / 4, "most heads do not");
  const says =
    `Head ${most!.head} of layer ${most!.layer} gives ${(100 * most!.share).toFixed(0)} % ` +
    `of its attention to the first token; ${sinks.length} of ${all.length} heads give it more ` +
    `than half.`;
  const picture = new Figure("Attention sinks", says)
    .heatMap(sums, {
      rows: sums.map((_, layer) => `layer ${layer}`),
      columns: sums[0]!.map((_, head) => `head ${head}`),
      cells: sums.map((row) => row.map((share) => share > 0.05 ? share.toFixed(2) : "")),
    })
    .text("Share of attention on the first token, over all later tokens of three prompts.");
  return { says, picture: `${picture}` };
};
