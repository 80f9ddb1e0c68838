// The table of supported architectures in docs/models.md, made from the registry:
// `deno task docs:models` writes it, and a test fails when it is out of date.

import { architectures } from "../engine/models/registry.ts";

const [BEGIN, END] = ["<!-- architectures -->", "<!-- /architectures -->"];

/** A page with its table of architectures brought up to date. Errors: RangeError without markers. */
export function withArchitectureTable(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) {
    throw new RangeError(`Cannot update the table: no ${BEGIN} followed by ${END}`);
  }
  return page.slice(0, begin + BEGIN.length) + "\n\n" + table() + "\n\n" + page.slice(end);
}

/** The table. Columns are as wide as their longest cell, as the formatter wants them. */
function table(): string {
  const rows = [...architectures].sort(([a], [b]) => a < b ? -1 : 1).map((
    [name, { models, isEncoder }],
  ) => [
    `\`${name}\``,
    isEncoder ? `${models[name]} (embeddings)` : models[name],
  ]);
  const all = [["architecture", "models"], ...rows];
  const widths = [0, 1].map((i) => Math.max(...all.map((cells) => cells[i].length)));
  const line = (cells: string[], fill = " ") =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i], fill)).join(" | ")} |`;
  return [line(all[0]), line(["", ""], "-"), ...rows.map((cells) => line(cells))].join("\n");
}

if (import.meta.main) {
  const path = new URL("../docs/models.md", import.meta.url);
  await Deno.writeTextFile(path, withArchitectureTable(await Deno.readTextFile(path)));
}
