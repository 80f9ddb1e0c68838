// The library imported from a folder of somebody else's: by the path of mod.ts, with a deno.json there
// that knows nothing of us, without any, and with packages of Node.

import { dirname } from "node:path";
import { assertEquals } from "@std/assert";
import { BOX_MODEL } from "../engine/mod.ts";

const PROGRAM = `
const { loadModel, loadTokenizer } = await import(Deno.args[0]);
const tokenizer = await loadTokenizer(Deno.args[1]);
const model = await loadModel(Deno.args[1], { contextLength: 256 });
const messages = [{ role: "user", content: "What is 2 plus 3?" }];
let text = "";
for await (const event of model.chat({ messages, temperature: 0, maxTokens: 24 })) {
  if (event.type === "text") text += event.text;
}
await model.close();
console.log(JSON.stringify([tokenizer.decode(tokenizer.encode("Hello")), text.includes("5")]));
Deno.exit(0);
`;

const FOLDERS: [name: string, files: Record<string, object>][] = [
  ["without a deno.json", {}],
  [
    "with a deno.json of its own",
    { "deno.json": { imports: { hono: "npm:hono@4.0.0" }, unstable: [] } },
  ],
  // There Deno looks for packages in node_modules alone.
  [
    "with a package.json and node_modules",
    {
      "package.json": { type: "module", dependencies: { other: "1.0.0" } },
      "node_modules/other/package.json": { name: "other", version: "1.0.0" },
    },
  ],
];

for (const [name, files] of FOLDERS) {
  Deno.test(`the library is imported by its path from a folder ${name}`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      await Deno.writeTextFile(`${folder}/program.ts`, PROGRAM);
      for (const [path, content] of Object.entries(files)) {
        await Deno.mkdir(dirname(`${folder}/${path}`), { recursive: true });
        await Deno.writeTextFile(`${folder}/${path}`, JSON.stringify(content));
      }
      const library = new URL("../mod.ts", import.meta.url).href;
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", "program.ts", library, BOX_MODEL.path],
        cwd: folder,
      }).output();
      assertEquals([code, code ? new TextDecoder().decode(stderr) : ""], [0, ""]);
      assertEquals(JSON.parse(new TextDecoder().decode(stdout)), ["Hello", true]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test({
  name: "the library type-checks from a folder of somebody else's",
  // It takes half a minute: `deno task test:program` runs it.
  ignore: !Deno.env.has("QUERN_SWEEP"),
  fn: async () => {
    const folder = await Deno.makeTempDir();
    try {
      const library = new URL("../mod.ts", import.meta.url).href;
      await Deno.writeTextFile(
        `${folder}/program.ts`,
        `import { type Model, loadModel } from "${library}";\n` +
          `export const open: (path: string) => Promise<Model> = loadModel;\n`,
      );
      const { code, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["check", "program.ts"],
        cwd: folder,
      }).output();
      assertEquals([code, code ? new TextDecoder().decode(stderr) : ""], [0, ""]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
