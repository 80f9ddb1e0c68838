// The programs that translate kernels and judge the translations: naga, which Deno carries within it,
// SPIR-V's validator, and Microsoft's compiler of HLSL. What is not there is told of.

import { join } from "node:path";

/** The version of naga in Deno 2.9.6. */
const NAGA_VERSION = "29.0.3";

/** Writes a line to the standard output. */
export const print = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text + "\n"));

/** A program that can be run. */
export interface Tool {
  /** Runs it. Resolves with what it has to say if it fails, else with undefined. */
  run(...args: string[]): Promise<string | undefined>;
}

/** The programs that are there. */
export interface Tools {
  readonly naga?: Tool;
  readonly spirvVal?: Tool;
  readonly dxc?: Tool;
  /** A sentence about each that is missing. */
  readonly missing: readonly string[];
}

/** Finds the programs, and installs naga by cargo where there is one. */
export async function findTools(): Promise<Tools> {
  const naga = await find("naga") ?? await installNaga();
  const [spirvVal, dxc] = [await find("spirv-val"), await find("dxc")];
  const missing = [
    ...(naga ? [] : [
      `naga is missing, and cargo, by which it is installed: nothing is translated ` +
      `(cargo install naga-cli --version ${NAGA_VERSION})`,
    ]),
    ...(spirvVal ? [] : [
      "spirv-val is missing: SPIR-V is written but not validated (Debian's package spirv-tools)",
    ]),
    ...(dxc ? [] : ["dxc is missing: HLSL is written but not compiled"]),
  ];
  return {
    ...(naga && { naga }),
    ...(spirvVal && { spirvVal }),
    ...(dxc && { dxc }),
    missing,
  };
}

async function find(program: string): Promise<Tool | undefined> {
  const tool = toolOf(program);
  // Each of them knows this option, and ends by itself.
  return await tool.run("--version") === undefined ? tool : undefined;
}

function toolOf(program: string): Tool {
  return {
    async run(...args) {
      try {
        const command = new Deno.Command(program, { args, stdout: "piped", stderr: "piped" });
        const { success, stdout, stderr } = await command.output();
        if (success) return undefined;
        const said = [stderr, stdout].map((bytes) => new TextDecoder().decode(bytes)).join("\n");
        return said.trim() || "it failed and said nothing";
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
  };
}

/** Installs naga into a folder of caches, once. */
async function installNaga(): Promise<Tool | undefined> {
  const home = Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE") ?? ".";
  const root = join(home, ".cache", "quern", "naga", NAGA_VERSION);
  const known = await find(join(root, "bin", "naga"));
  if (known) return known;
  const cargo = await find("cargo");
  if (!cargo) return undefined;
  print(`Installing naga ${NAGA_VERSION} by cargo, which takes a minute.`);
  const fault = await cargo.run("install", "naga-cli", "--version", NAGA_VERSION, "--root", root);
  if (fault) print(`cargo could not install naga: ${fault}`);
  return await find(join(root, "bin", "naga"));
}
