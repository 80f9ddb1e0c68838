// Builds the npm package, dist/npm: `deno task build:npm`; and of that the JavaScript for the server's
// page, dist/library, compressed as its other files are: `deno task build:tab`. The JavaScript is the library as it is, bundled
// so that the engine is one file which threads and pages share, and translated for engines of 2024;
// recent_javascript.ts has what those lack. It has no code of its own: what differs between Deno, Node,
// Bun and browsers is in host/. Deno itself imports mod.ts.

import { transform } from "esbuild";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Engines for which newer syntax is translated. */
const TARGETS = ["node22", "chrome125", "firefox128", "safari18"];

/** What programs import, and the module that it is. A new one needs no more than a line. */
const ENTRIES: Readonly<Record<string, string>> = {
  index: "library/entry.ts",
  ai: "library/ai/mod.ts",
};

/** The threads that the library starts, which are files of their own. */
const WORKERS = [
  "engine/load/examine_worker.ts",
  "engine/vision/reader/prepare_worker.ts",
  "engine/worker/model_worker.ts",
  "kernels/cpu/cpu_worker.ts",
];

/** Threads and files that only Deno uses, of which the package has none. */
const ONLY_DENO = /^\.\/(?:estimate_worker|file_worker|model_process)\.ts$/;

const BOX_MODEL = "engine/box/quern-tiny.gguf";

/** Makes a folder the npm package. @param withTypes whether it has the types, which take a minute */
export async function buildPackage(folder: string, { withTypes = true } = {}): Promise<void> {
  await makeEmpty(folder);
  for (const [name, text] of await buildFiles()) {
    await Deno.writeTextFile(`${folder}/${name}`, text);
  }
  if (withTypes) {
    for (const [name, text] of await bundleTypes()) {
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
  }
  for (const name of [BOX_MODEL, "LICENSE", "CHANGELOG.md", "library/README.md"]) {
    await Deno.copyFile(`${ROOT}${name}`, `${folder}/${name.split("/").at(-1)}`);
  }
  const description = JSON.stringify(await describe(), null, 2);
  await Deno.writeTextFile(`${folder}/package.json`, `${description}\n`);
}

/** Makes a folder the library as the server gives it to its page. */
export async function buildForPage(folder: string): Promise<void> {
  await makeEmpty(folder);
  for (const [name, text] of await buildFiles()) {
    const content = brotliCompressSync(text, {
      // Nearly as small as it gets, in a tenth of the time.
      params: { [constants.BROTLI_PARAM_QUALITY]: 9 },
    });
    await Deno.writeFile(`${folder}/${name}.br`, content);
  }
}

async function makeEmpty(folder: string): Promise<void> {
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(folder, { recursive: true });
}

/** The library's files of JavaScript. */
async function buildFiles(): Promise<[name: string, text: string][]> {
  const files = await bundle();
  const names = new Set(files.keys());
  return await Promise.all(
    [...files].map(async ([name, text]) =>
      [name, await translate(placeFiles(text, names))] as [string, string]
    ),
  );
}

/** The content of package.json. */
async function describe(): Promise<Record<string, unknown>> {
  const { name, version, license } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const entries = Object.keys(ENTRIES).map((entry) => {
    const path = entry === "index" ? "." : `./${entry}`;
    return [path, { types: `./${entry}.d.ts`, default: `./${entry}.js` }];
  });
  const model = `./${BOX_MODEL.split("/").at(-1)}`;
  return {
    name,
    version,
    license,
    description:
      "Run language models from GGUF files in TypeScript: in Deno, Node, Bun and browsers, on WebGPU or the CPU",
    keywords: ["gguf", "llm", "webgpu", "inference", "structured-output", "embeddings"],
    type: "module",
    sideEffects: true,
    engines: { node: ">=22" },
    // Of which ./ai has types alone.
    peerDependencies: { "@ai-sdk/provider": "^4.0.0" },
    peerDependenciesMeta: { "@ai-sdk/provider": { optional: true } },
    exports: { ...Object.fromEntries(entries), [model]: model, "./package.json": "./package.json" },
  };
}

/** All modules in as few files as may be, by their names. What several files need is in chunks. */
async function bundle(): Promise<Map<string, string>> {
  const folder = await Deno.makeTempDir();
  try {
    // Each file imports one module, so that all files lie in one folder.
    const workers = WORKERS.map((path) => [path.split("/").at(-1)!.slice(0, -3), path]);
    const stubs = [...Object.entries(ENTRIES), ...workers].map(async ([name, module]) => {
      const from = JSON.stringify(new URL(`../${module}`, import.meta.url).href);
      const recent = JSON.stringify(new URL("./recent_javascript.ts", import.meta.url).href);
      const stub = `${folder}/${name}.ts`;
      await Deno.writeTextFile(stub, `import ${recent};\nexport * from ${from};\n`);
      return stub;
    });
    const args = [
      ...["bundle", "--quiet", "--platform", "browser", "--code-splitting"],
      ...["--config", `${ROOT}deno.json`, "--lock", `${ROOT}tests/deno.lock`, "--frozen"],
      // The command line, which mod.ts runs as a program: that goes in `translate`.
      ...["--external", "./server/mod.ts", "--outdir", `${folder}/out`],
      ...await Promise.all(stubs),
    ];
    const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT })
      .output();
    if (!success) throw new Error(`Cannot bundle: ${new TextDecoder().decode(stderr)}`);
    const files = new Map<string, string>();
    for await (const { name } of Deno.readDir(`${folder}/out`)) {
      files.set(name, await Deno.readTextFile(`${folder}/out/${name}`));
    }
    return files;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The addresses of threads, beside the file that starts them. */
function placeFiles(text: string, names: ReadonlySet<string>): string {
  return text.replaceAll(/new URL\("([^"]+)", import\.meta\.url\)/g, (whole, path: string) => {
    const file = path.replace(/\.ts$/, ".js").replace(/^\.\//, "");
    if (names.has(file)) return `new URL("./${file}", import.meta.url)`;
    if (ONLY_DENO.test(path) || path.endsWith(".gguf")) return whole;
    throw new Error(`Cannot bundle: there is no file for ${whole}`);
  });
}

async function translate(text: string): Promise<string> {
  // A package of Opus's decoder names the Worker of browsers when it is loaded, and uses it for nothing
  // here. Node has none.
  const named = text.replaceAll(
    "module.exports = Worker;",
    "module.exports = globalThis.Worker ?? class {};",
  );
  const { code } = await transform(named, {
    format: "esm",
    target: TARGETS,
    // What mod.ts does as a program goes.
    define: { "import.meta.main": "false" },
    minifySyntax: true,
    treeShaking: true,
    minifyWhitespace: true,
    legalComments: "none",
  });
  return code;
}

/** The types that programs can name, and nothing else, by the names of their files. */
async function bundleTypes(): Promise<[name: string, text: string][]> {
  const modules = Object.entries(ENTRIES).map(([name, module]) => [name, `${ROOT}${module}`]);
  const bundle = await rollup({
    input: Object.fromEntries(modules),
    external: [/^n(?:ode|pm):/],
    plugins: [dts({
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        allowImportingTsExtensions: true,
        target: 99, // ESNext
        module: 99, // ESNext
        moduleResolution: 100, // Bundler
        lib: ["lib.esnext.d.ts", "lib.dom.d.ts"],
        types: [],
      },
    })],
    onwarn() {},
  });
  const names = { entryFileNames: "[name].d.ts", chunkFileNames: "types-[hash].d.ts" };
  const { output } = await bundle.generate({ format: "es", ...names });
  await bundle.close();
  // Elsewhere packages have no version in their names.
  return output.filter((file) => file.type === "chunk").map((
    { fileName, code },
  ) => [fileName, code.replaceAll(/(["'])npm:(@?[^@"']+)@[^"']+\1/g, "$1$2$1")]);
}

if (import.meta.main) {
  if (Deno.args.includes("--tab")) await buildForPage(`${ROOT}dist/library`);
  else await buildPackage(`${ROOT}dist/npm`, { withTypes: !Deno.args.includes("--no-types") });
}
