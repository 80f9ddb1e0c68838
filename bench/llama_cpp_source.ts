// The source of llama.cpp, from which benchmarks build its programs: the npm package node-llama-cpp brings
// that of its version.

import { LLAMA_CPP_VERSION } from "./llama_cpp.ts";
import { npmPackageFolder } from "./npm_package.ts";

/** The folder of a program that is built, in the folder for caches. */
export function peersFolder(name: string): string {
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`;
  return `${cache}/quern-peers/${name}-${LLAMA_CPP_VERSION}`;
}

/** Clones the source into a folder, unless it is there. @returns its path */
export async function cloneLlamaCpp(folder: string): Promise<string> {
  const source = `${folder}/source`;
  if (await exists(source)) return source;
  await Deno.mkdir(folder, { recursive: true });
  const bundle = `${await npmPackageFolder(`npm:node-llama-cpp@${LLAMA_CPP_VERSION}`)}/llama`;
  await run(
    "llama.cpp",
    "git",
    "clone",
    "--quiet",
    `${bundle}/gitRelease.bundle`,
    `${source}.part`,
  );
  await mendTileConfiguration(`${source}.part`);
  await Deno.rename(`${source}.part`, source);
  return source;
}

/**
 * Has compilers write the whole configuration of AMX's tiles before it is loaded. GCC 12 takes only its
 * first eight bytes for read and leaves the other stores out, with which the program ends at its first prompt.
 */
async function mendTileConfiguration(source: string): Promise<void> {
  const path = `${source}/ggml/src/ggml-cpu/amx/mmq.cpp`;
  const text = await Deno.readTextFile(path);
  const call = "_tile_loadconfig(&tc);";
  if (!text.includes(call)) throw new Error(`Cannot build llama.cpp: ${path} lacks ${call}`);
  await Deno.writeTextFile(path, text.replace(call, `asm volatile("" ::: "memory"); ${call}`));
}

/** Whether a path leads to something. */
export async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

/** What a program prints. @param of what it is run for. Errors: Error with what it says last */
export async function run(of: string, program: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args }).output();
  const [output, faults] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (success) return output!;
  const said = faults!.trim().slice(-2000);
  throw new Error(`Cannot build or run ${of}: ${program} failed and said last:\n${said}`);
}
