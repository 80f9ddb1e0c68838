// Builds the executable with the flags of the task `compile` and looks for its parts within.
// The runtime that belongs into it comes from the network, so this Deno stands in for it:
// such a file holds every module and package as the real one does, and only cannot start them.

import { Buffer } from "node:buffer";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { listSourceFiles, PROJECT_ROOT, readSource } from "./source_files.ts";

/** The arguments of `deno` in the task, with another output file and without the type check. */
function compileArguments(outputPath: string): string[] {
  const { tasks } = JSON.parse(readSource("deno.json"));
  const [program, subcommand, ...args] = (tasks.compile.command as string).split(" ");
  assertEquals([program, subcommand], ["deno", "compile"]);
  const output = args.indexOf("--output");
  assert(output >= 0, "the task names its output file");
  return ["compile", "--no-check", ...args.with(output + 1, outputPath)];
}

async function compile(outputPath: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: compileArguments(outputPath),
    cwd: PROJECT_ROOT,
    env: { DENORT_BIN: Deno.execPath(), NO_COLOR: "1" },
  }).output();
  const report = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert(success, report);
  return report;
}

/** A file as a string with one character per byte, which is the fastest to search in. */
async function readBytes(path: string | URL): Promise<string> {
  return Buffer.from(await Deno.readFile(path)).toString("latin1");
}

Deno.test("deno task compile embeds the workers, every shader and the packages", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const report = await compile(`${folder}/quern`);
    for (const name of ["hono/", "ajv/", "commander/", "jinja/"]) {
      assertStringIncludes(report, name);
    }
    for (const name of ["webgpu/", "ollama/"]) {
      assert(!report.includes(name), `${name} is for the tests only`);
    }

    // The printed list folds large folders: the file itself tells whether a source is in it.
    const executable = await readBytes(`${folder}/quern`);
    const workers = [
      "worker",
      "create/file_worker",
      "memory/estimate_worker",
      "vision/prepare_worker",
    ]
      .map((name) => `engine/${name}.ts`);
    const parts = ["mod.ts", "server/cli.ts", ...workers, ...listSourceFiles([".wgsl"])];
    const missing: string[] = [];
    for (const path of parts) {
      if (!executable.includes(await readBytes(new URL(path, PROJECT_ROOT)))) missing.push(path);
    }
    assertEquals(missing, []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
