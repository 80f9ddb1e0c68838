// Activation patching: where does a model keep a name that it will repeat? The residual stream of a run
// that was told "Nora" is put, place by place, into a run that was told "Max".

import { namedPrompts } from "./copied_name.ts";
import { Figure } from "./figure.ts";
import { expect, type Find, textsOf } from "./finding.ts";

/** A name's way through the layers. */
export const find: Find = async (model) => {
  const { told, at, recovered } = await namedPrompts(model);
  const { captured } = await model.run({ prompt: told, capture: ["residual.post"] });
  const last = told.length - 1;
  // Before the name, both runs are the same.
  const places = Array.from({ length: last - at + 1 }, (_, i) => at + i);
  const grid: number[][] = [];
  for (const { point, values, shape: [, width = 0] } of captured) {
    const row: number[] = [];
    for (const place of places) {
      const replace = values.subarray(place * width, (place + 1) * width);
      row.push(await recovered([{ point, positions: [place], replace }]));
    }
    grid.push(row);
  }
  const moves = grid.findIndex((row) => row.at(-1)! > 0.5);
  expect(grid[0]![0]! > 0.9, "after layer 0 the name is where it was told");
  expect(moves > 0 && grid.at(-1)!.at(-1)! > 0.9, "after the last layer it is where it is said");
  expect(
    grid.every((row) => row.slice(1, -1).every((share) => share < 0.5)),
    "it is never elsewhere",
  );
  const says = `The name stays at its token up to layer ${moves - 1}; layer ${moves} takes it to ` +
    `the end, where it is said, in one leap.`;
  const columns = textsOf(model, told.slice(at));
  const rows = captured.map((_, layer) => `layer ${layer}`);
  const picture = new Figure("Where a copied name travels", says)
    .heatMap(grid, { rows, columns, slanted: true })
    .text('Dark: putting this place of "Nora" into the run of "Max" makes it say "Nora".');
  return { says, picture: `${picture}` };
};
