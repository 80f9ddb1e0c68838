// Runs findings, writes their pictures, and prints what was found:
// deno task findings [NAME...] [--model FILE.gguf] [--beside FILE.gguf,...] [--out FOLDER]
// The model in the box is looked at unless another is named; what is to be seen there may not be seen
// elsewhere, and then the finding fails.

import { parseArgs } from "node:util";
import { loadModel } from "../../mod.ts";
import { FINDINGS } from "./list.ts";
import { findBeside } from "./tokenizers.ts";

const BOX = new URL("../../engine/box/quern-tiny.gguf", import.meta.url);

const { values, positionals } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: {
    model: { type: "string" },
    beside: { type: "string" },
    out: { type: "string", default: "dist/findings" },
  },
});
const path = values.model ?? BOX;
const chosen = positionals.length > 0 ? positionals : Object.keys(FINDINGS);
await Deno.mkdir(values.out, { recursive: true });
await using model = await loadModel(path, { contextLength: 512, maxSequences: 2 });
for (const name of chosen) {
  const find = FINDINGS[name];
  if (!find) {
    throw new Error(`Cannot find "${name}": there are ${Object.keys(FINDINGS).join(", ")}`);
  }
  const { says, picture } = name === "tokenizers" && values.beside
    ? await findBeside(model, [path, ...values.beside.split(",")])
    : await find(model, path);
  const file = `${values.out}/${name}.svg`;
  await Deno.writeTextFile(file, picture);
  await Deno.stdout.write(new TextEncoder().encode(`${file}: ${says}\n`));
}
