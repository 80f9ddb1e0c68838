// The layers of the project and who may import whom: kernels and tokenizer stand on host alone, engine
// on all three, server stands on engine, and mod.ts is the only way into the server.

import { assert, assertEquals } from "@std/assert";
import { findCycle, findFolderCycle, type Import, readImports } from "./import_graph.ts";
import { listSourceFiles, readSource } from "./source_files.ts";

/** Which layers each part may import, besides itself; bench and tests may look inside them. */
const REACH: Record<string, string[]> = {
  host: [],
  kernels: ["host"],
  tokenizer: ["host"],
  engine: ["host", "kernels", "tokenizer"],
  server: ["engine"],
  bench: ["kernels", "tokenizer", "engine"],
  "mod.ts": ["engine", "server"],
};

const LAYERS = ["host", "kernels", "tokenizer", "engine", "server"];

/** Files that may lie in the folder of a layer itself, beside its rooms. */
const MOST_LOOSE = 8;

/** The one file of the server that mod.ts may import before it is known that the server is wanted. */
const RESTART = "server/cli/setup/restart.ts";

/** Where each package may be imported. */
const PACKAGE_HOMES: Record<string, string[]> = {
  "@ai-sdk/openai": ["tests/server/"],
  "@ai-sdk/provider": ["library/ai/dependencies.ts"],
  "@anthropic-ai/sdk": ["tests/server/"],
  "@huggingface/gguf": ["tests/engine/gguf/"],
  "@huggingface/jinja": ["tests/tokenizer/"],
  "@preact/signals": ["web/"],
  "@langchain/core": ["tests/server/"],
  "@langchain/ollama": ["tests/server/"],
  "@redocly/openapi-core": ["tests/server/"],
  "@seriousme/openapi-schema-validator": ["tests/server/"],
  "@std/assert": ["tests/"],
  ai: ["tests/server/", "tests/library/"],
  "ai-sdk-ollama": ["tests/server/"],
  ajv: [
    "engine/dependencies.ts",
    "tests/server/",
    "tests/engine/grammar/",
  ],
  "ajv-formats": ["tests/engine/grammar/"],
  "axe-core": ["tests/web/"],
  esbuild: ["library/"],
  rollup: ["library/"],
  "rollup-plugin-dts": ["library/"],
  commander: ["server/dependencies.ts"],
  "highlight.js": ["web/markdown/"],
  hono: ["server/dependencies.ts"],
  katex: ["web/markdown/"],
  marked: ["server/dependencies.ts", "web/markdown/"],
  ollama: ["tests/server/"],
  "ollama-ai-provider-v2": ["tests/server/"],
  openai: ["tests/server/"],
  "openapi-fetch": ["tests/server/"],
  "openapi-typescript": ["tests/server/"],
  "opus-decoder": ["engine/dependencies.ts"],
  "pdfjs-dist": ["web/"],
  preact: ["web/"],
  "prom-client": ["tests/server/"],
  "puppeteer-core": ["tests/web/"],
  "string-width": ["server/dependencies.ts"],
  webgpu: ["tests/"],
  zod: ["tests/"],
};

/** What is wrong with an import, or undefined. */
function faultOf({ from, to, isDynamic }: Import): string | undefined {
  const isFile = /\.\w+$/.test(to) && !to.startsWith("npm:");
  if (to.startsWith("node:")) return undefined;
  if (!isFile || !to.includes("/")) return isFile ? undefined : packageFaultOf(from, to);

  const [source = "", target = ""] = [from, to].map((path) => path.split("/")[0]);
  if (source === target || source === "tests") return undefined;
  if (target === "tests") return "only tests import tests";
  if (target === "bench") return "only bench and tests import bench";
  if (!LAYERS.includes(target)) return undefined;
  if (from === "mod.ts" && to === RESTART) return undefined;
  if (!REACH[source]?.includes(target)) return `${source} does not reach ${target}`;
  if (target === "server" && !isDynamic) return "the server is imported dynamically";
  if (source !== "bench" && to !== `${target}/mod.ts`) {
    return `${target} is imported through its mod.ts`;
  }
  return undefined;
}

/** What others import, whose packages are named so that they resolve without our import map. */
const SHIPPED = ["host", "kernels", "tokenizer", "engine", "server"];

function packageFaultOf(from: string, imported: string): string | undefined {
  if (SHIPPED.includes(from.split("/")[0]!) && !imported.startsWith("npm:")) {
    return "packages are named with npm: and their version, in the dependencies.ts of the layer";
  }
  const specifier = imported.replace(/^npm:(@?[^@]+)@[^/]*/, "$1");
  const name = specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
  const homes = PACKAGE_HOMES[name];
  if (!homes) return `the package ${name} has no home in PACKAGE_HOMES`;
  return homes.some((home) => from.startsWith(home))
    ? undefined
    : `the package ${name} belongs to ${homes.join(" and ")}`;
}

function faultsOf(imports: Import[]): string[] {
  return imports.flatMap((one) => {
    const fault = faultOf(one);
    return fault ? [`${one.from} imports ${one.to}: ${fault}`] : [];
  });
}

const imports = listSourceFiles([".ts", ".tsx"]).flatMap((path) =>
  readImports(path, readSource(path))
);

Deno.test("every import stays within its layer and the layers below", () => {
  assertEquals(faultsOf(imports), []);
});

Deno.test("what starts the program again brings nothing of the server but V8's flags", () => {
  const brought = imports.filter(({ from }) => from === RESTART).map(({ to }) => to);
  assertEquals(brought, ["server/cli/setup/v8_flags.ts"]);
  assertEquals(imports.filter(({ from }) => from === brought[0]), []);
  const program = codeOf("mod.ts");
  const steps = ["restartWithFlags(", "startWorkerAhead(", 'import("./server/mod.ts")'];
  const places = steps.map((step) => program.indexOf(step));
  assertEquals(
    places,
    places.toSorted((a, b) => a - b),
    "the order of what mod.ts does as a program",
  );
  assert(places[0]! > 0);
});

Deno.test("a package has one version, whether deno.json or the library names it", () => {
  const named = JSON.parse(readSource("deno.json")).scopes["./tests/"];
  const specifiers = imports.map(({ to }) => to).filter((to) => to.startsWith("npm:"));
  assertEquals(specifiers.length > 0, true);
  for (const specifier of specifiers) {
    const name = specifier.replace(/^npm:(@?[^@]+)@.*/, "$1");
    assertEquals(named[name] ?? specifier, specifier);
  }
});

Deno.test("starting the server downloads the packages of the layers, and none of the tests", () => {
  const { imports: named } = JSON.parse(readSource("deno.json"));
  assertEquals(Object.keys(named), ["@std/assert"]);
  const shipped = imports
    .filter(({ from, to }) => SHIPPED.includes(from.split("/")[0]!) && to.startsWith("npm:"))
    .map(({ to }) => /^npm:@?[^@]+@[^/]+/.exec(to)![0]);
  const { specifiers } = JSON.parse(readSource("deno.lock"));
  assertEquals(Object.keys(specifiers).sort(), [...new Set(shipped)].sort());
});

/** The text of a file without its comments. */
function codeOf(path: string): string {
  return readSource(path).replaceAll(/\/\/.*|\/\*[^]*?\*\//g, "");
}

/** Who may name what WebGPU is made of: its device, and the script that looks for a driver. */
const KNOW_WEBGPU = ["kernels/webgpu/", "server/cli/setup/probe.ts"];

/** A type of WebGPU, or its global object. */
const OF_WEBGPU = /\bGPU[A-Z]\w+|(?:[:<|]|\bas) *GPU\b *[;,)>=|]|navigator\??\.gpu/;

Deno.test("no file but those of its device names a type of WebGPU", () => {
  const shipped = listSourceFiles([".ts"]).filter((path) =>
    SHIPPED.includes(path.split("/")[0]!) && !KNOW_WEBGPU.some((known) => path.startsWith(known))
  );
  const named = shipped.filter((path) => OF_WEBGPU.test(codeOf(path)));
  assertEquals(named, []);
  for (const code of ["gpu?: GPU;", "x as GPU | undefined", "navigator?.gpu", "GPUBuffer"]) {
    assertEquals(OF_WEBGPU.test(code), true, code);
  }
});

/** Deno, or a module of Node. */
const RUNTIME = /\bDeno\b|["']node:/;

Deno.test("nothing below the server but host names Deno or Node, so a browser could run it", () => {
  const above = listSourceFiles([".ts"]).filter((path) =>
    ["kernels", "tokenizer", "engine"].includes(path.split("/")[0]!)
  );
  const naming = above.filter((path) => RUNTIME.test(codeOf(path)));
  assertEquals(naming, []);
  for (const code of ["Deno.stat(path)", "globalThis.Deno?.build", 'from "node:path"']) {
    assertEquals(RUNTIME.test(code), true, code);
  }
});

Deno.test("no files import each other in a cycle", () => {
  assertEquals(findCycle(imports), undefined);
});

/** The layers whose folders are ordered: none needs, by whatever way, one that needs it. */
const ORDERED = LAYERS;

for (const layer of ORDERED) {
  Deno.test(`no folders of ${layer} import each other in a cycle`, () => {
    assertEquals(findFolderCycle(imports, layer), undefined);
  });
}

/** The doors between the two programs of the server: who may enter, and by which file. */
const DOORS: Record<string, string[]> = {
  "server/http/mod.ts": [
    "server/mod.ts",
    "server/cli/client/",
    "server/cli/commands/serve.ts",
    "server/cli/dependencies.ts",
  ],
  "server/cli/main.ts": ["server/mod.ts"],
  "server/cli/dependencies.ts": ["server/mod.ts"],
};

/** Imports across the border of a program of the server that do not go through a door. */
function trespassesOf(imports: readonly Import[]): string[] {
  return ["server/http/", "server/cli/"].flatMap((program) =>
    imports
      .filter(({ from, to }) =>
        from.startsWith("server/") && to.startsWith(program) && !from.startsWith(program) &&
        !DOORS[to]?.some((guest) => from.startsWith(guest))
      )
      .map(({ from, to }) => `${from} imports ${to}`)
  );
}

Deno.test("the command line and the HTTP server meet only at their doors", () => {
  assertEquals(trespassesOf(imports), []);
});

Deno.test("trespassesOf() finds who enters elsewhere", () => {
  const link = (from: string, to: string) => ({ from, to, isDynamic: false });
  const found = trespassesOf([
    link("server/http/app.ts", "server/cli/terminal/mod.ts"),
    link("server/cli/repl/repl.ts", "server/http/errors.ts"),
    link("server/cli/repl/repl.ts", "server/http/mod.ts"),
    link("server/cli/client/connect.ts", "server/http/mod.ts"),
    link("server/cli/repl/repl.ts", "server/cli/client/mod.ts"),
  ]);
  assertEquals(found.length, 3);
});

/** The files that a module brings, types aside. */
function broughtBy(path: string, brought = new Set<string>()): Set<string> {
  if (brought.has(path)) return brought;
  brought.add(path);
  for (const statement of codeOf(path).split(/;\s*\n/)) {
    if (/^\s*(?:import|export) type\b/.test(statement)) continue;
    for (const { to, isDynamic } of readImports(path, `${statement};`)) {
      if (!isDynamic && to.endsWith(".ts")) broughtBy(to, brought);
    }
  }
  return brought;
}

Deno.test("a thread of the CPU brings what runs kernels, and nothing that makes them", () => {
  const brought = [...broughtBy("kernels/cpu/cpu_worker.ts")];
  for (const needed of ["kernels/cpu/share.ts", "kernels/cpu/instances.ts", "host/threads.ts"]) {
    assert(brought.includes(needed), needed);
  }
  const makers = brought.filter((path) =>
    /modules\.ts$|\/(?:linear|quantize|attention)\//.test(path)
  );
  assertEquals(makers, []);
  assert(brought.length <= 20, `${brought.length} files`);
  assert(broughtBy("kernels/cpu/core.ts").has("kernels/cpu/linear/kernel.ts"));
});

/** How a program writes to the terminal that it was started from. */
const CONSOLE =
  /\bconsole\.|\b(?:Deno|processes\(\))\.(?:stdout|stderr)\b|(?<![.#])\bprocess\.(?:stdout|stderr)\b/;

/** Who may: the command line, and a model's process, whose standard output is its way to its parent. */
const WRITES = /^server\/cli\/|(?:^|\/)model_process\.ts$/;

Deno.test("nobody but the command line writes to the console", () => {
  const writers = listSourceFiles([".ts"]).filter((path) =>
    [...SHIPPED, "mod.ts"].includes(path.split("/")[0]!) && !WRITES.test(path) &&
    CONSOLE.test(codeOf(path))
  );
  assertEquals(writers, []);
});

for (const layer of ["engine", "server"]) {
  Deno.test(`few files lie loose in ${layer}/`, () => {
    const loose = listSourceFiles([".ts"]).filter((path) => path.split("/", 2)[0] === layer)
      .filter((path) => path.split("/").length === 2);
    assertEquals(loose.length <= MOST_LOOSE, true, loose.join(", "));
  });
}

Deno.test("readImports() finds every form of import and skips comments", () => {
  const text = [
    'import { a } from "./a.ts";',
    "import {",
    "  type B,",
    '} from "../tokenizer/mod.ts";',
    'import type { C } from "hono";',
    'import source from "./d.wgsl" with { type: "text" };',
    'export { e } from "./e.ts";',
    'import "./f.ts";',
    '// import { x } from "./x.ts";',
    ' * await import("./x.ts");',
    "export function load() {",
    '  return import("./g/h.ts");',
    "}",
  ].join("\n");
  const found = readImports("engine/x.ts", text);
  assertEquals(found.map(({ to, isDynamic }) => isDynamic ? `import ${to}` : to), [
    "engine/a.ts",
    "tokenizer/mod.ts",
    "hono",
    "engine/d.wgsl",
    "engine/e.ts",
    "engine/f.ts",
    "import engine/g/h.ts",
  ]);
});

const WRONG: [from: string, specifier: string, isDynamic?: true][] = [
  ["kernels/linear.ts", "../engine/mod.ts"],
  ["kernels/quants/simple.ts", "../../tokenizer/mod.ts"],
  ["kernels/choice.ts", "../host/files.ts"],
  ["host/files.ts", "../engine/mod.ts"],
  ["server/http/app.ts", "../../host/mod.ts"],
  ["tokenizer/bpe.ts", "../engine/mod.ts"],
  ["engine/models/llama.ts", "../../kernels/linear.ts"],
  ["engine/mod.ts", "../server/mod.ts", true],
  ["engine/mod.ts", "../tests/tiny_model.ts"],
  ["engine/mod.ts", "../bench/box/evaluate.ts"],
  ["server/http/app.ts", "../../kernels/mod.ts"],
  ["server/http/app.ts", "../../tokenizer/mod.ts"],
  ["server/http/app.ts", "../../engine/store.ts"],
  ["mod.ts", "./server/mod.ts"],
  ["mod.ts", "./server/cli/mod.ts", true],
  ["bench/mod.ts", "../server/mod.ts"],
  ["engine/mod.ts", "hono/streaming"],
  ["kernels/mod.ts", "npm:ajv@8.20.0"],
  ["engine/dependencies.ts", "ajv"],
  ["engine/dependencies.ts", "npm:hono@4.13.19/streaming"],
  ["server/http/app.ts", "no-such-package"],
];

for (const [from, specifier, isDynamic] of WRONG) {
  Deno.test(`the layering refuses ${specifier} in ${from}`, () => {
    const text = isDynamic ? `await import("${specifier}");` : `import { x } from "${specifier}";`;
    assertEquals(faultsOf(readImports(from, text)).length, 1);
  });
}

Deno.test("findCycle() names the files of a cycle", () => {
  const chain = ["a.ts", "b.ts", "c.ts", "b.ts"];
  const links = chain.slice(1).map((to, index) => ({ from: chain[index]!, to, isDynamic: false }));
  assertEquals(findCycle(links), ["b.ts", "c.ts", "b.ts"]);
  assertEquals(findCycle(links.slice(0, 2)), undefined);
});

Deno.test("findFolderCycle() takes a folder for one thing, at every depth", () => {
  const links = (...pairs: [from: string, to: string][]) =>
    pairs.map(([from, to]) => ({ from, to, isDynamic: false }));
  const circle = links(["l/x/a/one.ts", "l/x/b/two.ts"], ["l/x/b/three.ts", "l/x/a/four.ts"]);
  assertEquals(findFolderCycle(circle, "l"), ["l/x", "a", "b", "a"]);
  assertEquals(findFolderCycle(circle, "other"), undefined);
  const loose = links(["l/mod.ts", "l/x/a.ts"], ["l/x/a.ts", "l/errors.ts"]);
  assertEquals(findFolderCycle(loose, "l"), undefined);
  assertEquals(findFolderCycle([...loose, ...links(["l/errors.ts", "l/x/b.ts"])], "l"), [
    "l",
    "x",
    "errors.ts",
    "x",
  ]);
});
