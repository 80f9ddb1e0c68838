// Bundles the library into one file, dist/quern.js, that Node, browsers and other bundlers can import:
// `deno task library`. Deno imports mod.ts as it is.

import { transform } from "esbuild";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Engines for which newer syntax is translated; recent_javascript.ts provides what else they lack. */
const TARGETS = ["node22", "chrome125", "firefox128", "safari18"];

/** Writes the bundle to a file. */
export async function buildLibrary(file: string): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const bundle = `${folder}/bundle.js`;
    await run([
      ...["bundle", "--quiet", "--platform", "browser", "--lock", `${ROOT}tests/deno.lock`],
      ...[
        "--frozen",
        "--external",
        "./server/mod.ts",
        "--output",
        bundle,
        `${ROOT}library/entry.ts`,
      ],
    ]);
    const { code } = await transform(await Deno.readTextFile(bundle), {
      format: "esm",
      target: TARGETS,
      // What mod.ts does as a program goes.
      define: { "import.meta.main": "false" },
      minifySyntax: true,
    });
    await Deno.writeTextFile(file, code);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function run(args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).output();
  if (!success) throw new Error(`Cannot bundle: ${new TextDecoder().decode(stderr)}`);
}

if (import.meta.main) {
  await Deno.mkdir(`${ROOT}dist`, { recursive: true });
  await buildLibrary(`${ROOT}dist/quern.js`);
}
