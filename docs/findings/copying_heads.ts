// The heads that copy: which heads of attention bring a name to the place where it is said? Each head's
// result there is taken from the run that was told "Nora" into the run that was told "Max".

import { namedPrompts } from "./copied_name.ts";
import { Figure } from "./figure.ts";
import { expect, type Find } from "./finding.ts";

/** What each head carries, and where it looks. */
export const find: Find = async (model) => {
  const { told, at, recovered } = await namedPrompts(model);
  const capture = ["attention.z", "attention.pattern"];
  const { captured } = await model.run({ prompt: told, capture, positions: "last" });
  const [results, patterns] = ["attention.z", "attention.pattern"].map((name) =>
    captured.filter(({ point }) => point.startsWith(name))
  ) as [typeof captured, typeof captured];
  const grid: number[][] = [];
  for (const { point, values, shape: [, heads = 0] } of results) {
    const row: number[] = [];
    for (let head = 0; head < heads; head++) {
      const change = { point, positions: [-1], heads: [head], replace: values };
      row.push(await recovered([change]));
    }
    grid.push(row);
  }
  const looks = patterns.map(({ values, shape: [heads = 0, , keys = 0] }) =>
    Array.from({ length: heads }, (_, head) => values[head * keys + at]!)
  );
  const all = grid.flatMap((row, layer) => row.map((share, head) => ({ layer, head, share })));
  const copying = all.filter(({ share }) => share > 0.1);
  expect(copying.length > 1, "several heads carry the name");
  expect(
    copying.every(({ layer, head }) => looks[layer]![head]! > 0.9),
    "each of them looks at the name",
  );
  const sum = copying.reduce((total, { share }) => total + share, 0);
  const names = copying.map(({ layer, head }) => `${layer}.${head}`).join(", ");
  const says = `Heads ${names} carry ${(100 * sum).toFixed(0)} % of the name, and each looks at ` +
    `its token with more than 90 % of its attention.`;
  const rows = grid.map((_, layer) => `layer ${layer}`);
  const columns = grid[0]!.map((_, head) => `head ${head}`);
  const picture = new Figure("The heads that do it", says)
    .text("What each head brings to the place where the name is said:")
    .heatMap(grid.map((row) => row.map((share) => 2 * share)), {
      rows,
      columns,
      cells: grid.map((row) => row.map((share) => share > 0.05 ? share.toFixed(2) : "")),
    })
    .text("How much of its attention is on the name:")
    .heatMap(looks, {
      rows,
      columns,
      cells: looks.map((row) => row.map((share) => share > 0.05 ? share.toFixed(2) : "")),
    });
  return { says, picture: `${picture}` };
};
