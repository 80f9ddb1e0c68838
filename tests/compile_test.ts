// Builds the executable with the flags of the task `compile`, looks for its parts within and runs it.
// The runtime that belongs into it comes from the network. Where DENORT_BIN names one, the executable
// itself is run; else this Deno stands in for it. Such a file holds every module and package as the
// real one does and only cannot start them: what lies within is written to a folder and run from there,
// with no other file, package or network at hand.

import { Buffer } from "node:buffer";
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import {
  compileArguments,
  DAWN_PACKAGE,
  INCLUDED,
  readTargets,
  TARGETS,
} from "../server/cli/setup/compile.ts";
import { v8Flags } from "../server/cli/setup/v8_flags.ts";
import { extractFiles, PACKAGES, REGISTRY } from "./embedded_files.ts";
import { listSourceFiles, PROJECT_ROOT, readSource } from "./source_files.ts";
import { writeTinyLlama } from "./tiny_model.ts";

const runtime = Deno.env.get("DENORT_BIN");

async function compile(
  outputPath: string,
  checkout: string | URL = PROJECT_ROOT,
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: compileArguments(outputPath).toSpliced(1, 0, "--no-check"),
    cwd: checkout,
    env: { DENORT_BIN: runtime ?? Deno.execPath(), NO_COLOR: "1" },
  }).output();
  const report = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert(success, report);
  return report;
}

/** A file as a string with one character per byte, which is the fastest to search in. */
async function readBytes(path: string | URL): Promise<string> {
  return Buffer.from(await Deno.readFile(path)).toString("latin1");
}

Deno.test("deno task compile builds for this machine, for named targets or for all", () => {
  assertEquals(readTargets([]), []);
  assertEquals(readTargets(["aarch64-apple-darwin"]), ["aarch64-apple-darwin"]);
  assertEquals(readTargets(["all"]), Object.keys(TARGETS));
  assertThrows(() => readTargets(["linux"]), RangeError, "x86_64-unknown-linux-gnu");
  const systems = Object.keys(TARGETS).map((target) => target.split("-")[1]);
  assertEquals(systems.toSorted(), ["apple", "apple", "pc", "pc", "unknown", "unknown"]);
});

Deno.test("an executable has the flags of V8 that its own architecture has, and holds what is there", () => {
  for (const target of Object.keys(TARGETS)) {
    const args = compileArguments("quern", { target });
    assertEquals(args[args.indexOf("--target") + 1], target);
    const hasVectors = args.some((one) => one.includes("revectorize"));
    assertEquals(hasVectors, target.startsWith("x86_64"));
  }
  assert(compileArguments("quern").includes(`--v8-flags=${v8Flags(Deno.build.arch)}`));
  // What is built before the executable is, its test looks for within.
  const sources = INCLUDED.filter((path) => !path.startsWith("dist/"));
  for (const path of sources) Deno.statSync(new URL(path, PROJECT_ROOT));
});

Deno.test("an executable holds Dawn only if asked, and then the package that Dawn is loaded from", () => {
  assert(!compileArguments("quern").join().includes("dawn"));
  assert(compileArguments("quern", { dawn: true }).join().includes("--include,dist/dawn.ts"));
  assertStringIncludes(readSource("kernels/webgpu/platform.ts"), `"${DAWN_PACKAGE}"`);
});

Deno.test("the container is built by the version of Deno that the tests run on", () => {
  const [, version] = /^readonly VERSION=(.+)$/m.exec(readSource(".ci/run"))!;
  assertStringIncludes(readSource("Dockerfile"), `FROM denoland/deno:${version} AS build\n`);
});

/** It takes seconds of all cores: `deno task test:program` runs it. */
const ignore = !Deno.env.has("QUERN_SWEEP");

Deno.test({
  name: "deno task compile embeds the workers, every shader and the packages",
  ignore,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    try {
      const report = await compile(`${folder}/quern`, await copyCheckout(folder));
      for (const name of ["hono/", "ajv/", "commander/"]) {
        assertStringIncludes(report, name);
      }
      for (const name of ["@webgpu/", " ollama/"]) {
        assert(!report.includes(name), `${name} is for the tests only`);
      }

      // The printed list folds large folders: the file itself tells whether a source is in it.
      const executable = await readBytes(`${folder}/quern`);
      const workers = [
        "worker/model_worker",
        "create/file_worker",
        "memory/estimate_worker",
        "vision/reader/prepare_worker",
      ]
        .map((name) => `engine/${name}.ts`);
      const parts = ["mod.ts", "server/cli/main.ts", ...workers, ...listSourceFiles([".wgsl"])];
      const missing: string[] = [];
      for (const path of parts) {
        if (!executable.includes(await readBytes(new URL(path, PROJECT_ROOT)))) missing.push(path);
      }
      assertEquals(missing, []);
      // What trains the model in the box has no place in what serves it.
      const trainer = await readBytes(new URL("bench/box/bpe_trainer.ts", PROJECT_ROOT));
      assert(!executable.includes(trainer));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test({
  name: "executables for named targets come with checksums",
  ignore,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    try {
      const checkout = await copyCheckout(folder);
      // Deno takes a runtime of its own kind of file alone.
      const target = "aarch64-unknown-linux-gnu";
      const { success, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["task", "compile", target],
        cwd: checkout,
        env: { DENORT_BIN: runtime ?? Deno.execPath(), NO_COLOR: "1" },
      }).output();
      assert(success, new TextDecoder().decode(stderr));
      const { code, stdout } = await new Deno.Command("sha256sum", {
        args: ["--check", "SHA256SUMS"],
        cwd: `${checkout}/dist`,
      }).output();
      assertEquals([code, new TextDecoder().decode(stdout)], [0, `${TARGETS[target]}: OK\n`]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

/** A program and what stands before its arguments. */
interface Program {
  path: string;
  args: string[];
  env: Record<string, string>;
}

/** A copy of what an executable is made of, as a container has it, with the library for the page built. */
async function copyCheckout(folder: string): Promise<string> {
  const checkout = `${folder}/checkout`;
  await Deno.mkdir(checkout);
  const parts = [
    "mod.ts",
    "deno.json",
    "deno.lock",
    "docs",
    "engine",
    "host",
    "kernels",
    "library",
    "server",
    "tokenizer",
    "web",
  ];
  const sources = parts.map((name) => new URL(name, PROJECT_ROOT).pathname);
  const copy = new Deno.Command("cp", { args: ["-r", ...sources, checkout] });
  assert((await copy.output()).success);
  // All of tests/ that .dockerignore lets in.
  await Deno.mkdir(`${checkout}/tests`);
  await Deno.copyFile(new URL("tests/deno.lock", PROJECT_ROOT), `${checkout}/tests/deno.lock`);
  const build = new Deno.Command(Deno.execPath(), {
    args: ["task", "build:tab"],
    cwd: checkout,
    env: { NO_COLOR: "1" },
  });
  const { success, stderr } = await build.output();
  assert(success, new TextDecoder().decode(stderr));
  return checkout;
}

/** The executable of a checkout that is gone, as it can be run here. */
async function buildElsewhere(folder: string): Promise<Program> {
  const checkout = await copyCheckout(folder);
  const path = `${folder}/quern`;
  await compile(path, checkout);
  const lock = JSON.parse(await Deno.readTextFile(`${checkout}/deno.lock`));
  await Deno.remove(checkout, { recursive: true });
  return runtime ? { path, args: [], env: {} } : await standIn(path, lock, folder);
}

interface Lock {
  specifiers: Record<string, string>;
  npm: Record<string, unknown>;
  workspace?: unknown;
}

/** This Deno over the files within the executable: its packages are all that its cache has. */
async function standIn(executable: string, lock: Lock, folder: string): Promise<Program> {
  const root = `${folder}/deno-compile-quern`;
  await Deno.mkdir(root);
  const files = await extractFiles(executable, root);
  const isWithin = (name: string, version: string) =>
    files.some((path) => path.startsWith(`${PACKAGES}/localhost/${name}/${version}/`));
  const keep = (key: string) =>
    isWithin(...key.match(/^(@?[^@]+)@([^_]+)/)!.slice(1) as [string, string]);
  delete lock.workspace;
  lock.npm = Object.fromEntries(Object.entries(lock.npm).filter(([key]) => keep(key)));
  lock.specifiers = Object.fromEntries(
    Object.entries(lock.specifiers).filter(([specifier, version]) =>
      isWithin(specifier.replace(/^npm:(@?[^@]+)@.*$/, "$1"), version.replace(/_.*$/, ""))
    ),
  );
  await Deno.writeTextFile(`${folder}/lock.json`, JSON.stringify(lock));
  await Deno.mkdir(`${folder}/cache`);
  await Deno.symlink(`${root}/${PACKAGES}`, `${folder}/cache/npm`);
  const { unstable } = JSON.parse(await Deno.readTextFile(`${root}/deno.json`));
  const flags = ["--cached-only", "--no-config", "--frozen", `--lock=${folder}/lock.json`];
  return {
    path: Deno.execPath(),
    args: [
      "run",
      "-A",
      ...flags,
      ...unstable.map((name: string) => `--unstable-${name}`),
      `${root}/mod.ts`,
    ],
    env: { DENO_DIR: `${folder}/cache`, NPM_CONFIG_REGISTRY: REGISTRY },
  };
}

Deno.test({
  name:
    "the executable runs by itself: its version, a server, README's first request, a model made",
  ignore,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    try {
      const { path, args, env } = await buildElsewhere(folder);
      const home = `${folder}/home`;
      await Deno.mkdir(home);
      const settings = { QUERN_MODELS: `${home}/models`, OLLAMA_HOST: "127.0.0.1:0" };
      const start = (...more: string[]) =>
        new Deno.Command(path, {
          args: [...args, ...more],
          cwd: home,
          env: { ...env, ...settings, NO_COLOR: "1" },
          stdout: "piped",
          stderr: "piped",
        });
      const run = async (...more: string[]) => {
        const { code, stdout, stderr } = await start(...more).output();
        const [output, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
        assertEquals(code, 0, errors);
        return output!;
      };
      assertEquals(
        await run("--version"),
        `quern version is ${JSON.parse(readSource("deno.json")).version}\n`,
      );

      const server = start("serve").spawn();
      void server.stdout.cancel();
      let log = "";
      for await (const text of server.stderr.pipeThrough(new TextDecoderStream())) {
        log += text;
        if (log.includes("listening on")) break;
      }
      settings.OLLAMA_HOST = /listening on http:\/\/([^,\s]+)/.exec(log)![1]!;
      const curl = /^curl http:.*?\n\}'$/ms.exec(readSource("README.md"))![0];
      const asked = await new Deno.Command("sh", {
        args: ["-c", curl.replace("127.0.0.1:11434", settings.OLLAMA_HOST)],
        cwd: home,
      }).output();
      const { message, done } = JSON.parse(new TextDecoder().decode(asked.stdout));
      assert(done && message.content.length > 10, JSON.stringify(message));
      const guide = await fetch(`http://${settings.OLLAMA_HOST}/docs/guide/getting-started`);
      assertStringIncludes(await guide.text(), "Getting started</h1>");
      // What the page loads to run a model in the tab.
      const library = `http://${settings.OLLAMA_HOST}/web/library`;
      assertEquals(await (await fetch(library)).json(), { built: true });
      for (const name of ["index.js", "model_worker.js", "cpu_worker.js"]) {
        assertMatch(await (await fetch(`${library}/${name}`)).text(), /^(?:import|export)\b/);
      }
      // Quantizing has a worker of its own.
      await writeTinyLlama(`${home}/tiny.gguf`);
      await Deno.writeTextFile(`${home}/Modelfile`, "FROM ./tiny.gguf\n");
      await run("create", "small", "-q", "q8_0");
      assertStringIncludes(await run("show", "small"), "Q8_0");
      server.kill("SIGINT");
      assertEquals((await server.status).code, 0);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
