// Builds the executable into dist: `deno task compile` for this machine, `deno task compile TARGET...`
// for others, `deno task compile all` for every target. Executables for named targets get the target's
// name, and dist/SHA256SUMS lists them as sha256sum does. With `--dawn` they hold Dawn too, for
// QUERN_DEVICE=dawn: 140 MB more, native code of all systems. Deno downloads the runtime of each target,
// or takes the one that DENORT_BIN names.

import { createHash } from "node:crypto";
import { v8Flags } from "./v8_flags.ts";

const FOLDER = "dist";

/** Names of the executables, by the targets of `deno compile`. */
export const TARGETS: Readonly<Record<string, string>> = {
  "x86_64-unknown-linux-gnu": "quern-linux-x86_64",
  "aarch64-unknown-linux-gnu": "quern-linux-aarch64",
  "x86_64-apple-darwin": "quern-macos-x86_64",
  "aarch64-apple-darwin": "quern-macos-aarch64",
  "x86_64-pc-windows-msvc": "quern-windows-x86_64.exe",
  "aarch64-pc-windows-msvc": "quern-windows-aarch64.exe",
};

/**
 * The content of the executable besides the modules that mod.ts imports: workers, files and
 * folders.
 */
export const INCLUDED = [
  "engine/worker/model_worker.ts",
  "engine/create/file_worker.ts",
  "engine/load/examine_worker.ts",
  "engine/memory/estimate_worker.ts",
  "engine/vision/reader/prepare_worker.ts",
  "kernels/cpu/cpu_worker.ts",
  "engine/box/quern-tiny.gguf",
  "server/http/web/assets",
  // The library for the page, which `deno task build:tab` has made before.
  "dist/library",
  "docs",
];

/** The module that includes Dawn, and the lock that then lists its package. */
const DAWN = { module: `${FOLDER}/dawn.ts`, lock: `${FOLDER}/dawn.lock` };

/** The package that kernels/webgpu/platform.ts imports by a variable, so that nothing includes it. */
export const DAWN_PACKAGE = "npm:webgpu@0.6.2";

/** The targets that arguments name; none for this machine. @throws RangeError for one that is unknown */
export function readTargets(names: readonly string[]): string[] {
  const targets = names.includes("all") ? Object.keys(TARGETS) : [...names];
  const unknown = targets.find((name) => !Object.hasOwn(TARGETS, name));
  if (unknown === undefined) return targets;
  const known = Object.keys(TARGETS).join(", ");
  throw new RangeError(`Cannot compile for "${unknown}": the targets are ${known}, and all`);
}

/** The system that an executable is built for, and its options. */
export interface CompileOptions {
  /** Default: this machine. */
  readonly target?: string | undefined;
  /** Whether Dawn is included. */
  readonly dawn?: boolean;
}

/** The arguments of `deno` that build an executable. */
export function compileArguments(
  output: string,
  { target, dawn = false }: CompileOptions = {},
): string[] {
  const architecture = target?.split("-")[0] ?? Deno.build.arch;
  return [
    "compile",
    "-A",
    `--v8-flags=${v8Flags(architecture)}`,
    ...["--node-modules-dir=none", "--exclude-unused-npm"],
    ...INCLUDED.flatMap((path) => ["--include", path]),
    ...dawn ? ["--include", DAWN.module, `--lock=${DAWN.lock}`] : [],
    ...target ? ["--target", target] : [],
    ...["--output", output],
    "mod.ts",
  ];
}

/** A line of SHA256SUMS. */
async function checksumLine(name: string): Promise<string> {
  const hash = createHash("sha256");
  const file = await Deno.open(`${FOLDER}/${name}`);
  for await (const chunk of file.readable) hash.update(chunk);
  return `${hash.digest("hex")}  ${name}\n`;
}

/** Builds one executable. @throws Error where Deno does not */
async function compile(name: string, options: CompileOptions): Promise<void> {
  const args = compileArguments(`${FOLDER}/${name}`, options);
  const { success } = await new Deno.Command(Deno.execPath(), { args }).spawn().status;
  if (!success) throw new Error(`Cannot compile ${name}: deno compile failed, see above`);
}

async function main(): Promise<void> {
  const dawn = Deno.args.includes("--dawn");
  const targets = readTargets(Deno.args.filter((name) => name !== "--dawn"));
  if (dawn) {
    await Deno.mkdir(FOLDER, { recursive: true });
    await Deno.writeTextFile(DAWN.module, `import "${DAWN_PACKAGE}";\n`);
    await Deno.copyFile("deno.lock", DAWN.lock);
  }
  if (targets.length === 0) return await compile("quern", { dawn });
  const sums: string[] = [];
  for (const target of targets) {
    const name = TARGETS[target]!;
    await compile(name, { target, dawn });
    sums.push(await checksumLine(name));
  }
  await Deno.writeTextFile(`${FOLDER}/SHA256SUMS`, sums.join(""));
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    await Deno.stderr.write(new TextEncoder().encode(`${(error as Error).message}\n`));
    Deno.exitCode = 1;
  }
}
