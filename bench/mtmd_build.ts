// llama.cpp's program for pictures, llama-mtmd-cli, which no package has ready: the npm package
// node-llama-cpp brings llama.cpp's source of its version, and its libraries for the CPU. So the program
// alone is compiled, and computes with the same kernels as the other comparisons. It needs git and g++.

import { LLAMA_CPP_VERSION } from "./llama_cpp.ts";
import { cloneLlamaCpp, exists, peersFolder, run } from "./llama_cpp_source.ts";
import { npmPackageFolder } from "./npm_package.ts";

const PROGRAM = "llama-mtmd-cli";
/** Folders of the source that it includes. */
const INCLUDED = [
  "include",
  "ggml/include",
  "common",
  "vendor",
  "vendor/hash",
  "tools/mtmd",
  "src",
];
/** The libraries that it is linked with. Those for kinds of CPUs are loaded when it starts. */
const LINKED = /^lib(ggml|ggml-base|llama|llama-common)(\.v[\d.]+)?\.so$/;

/**
 * Builds the program, or finds it where it was built: `quern-peers` in the folder for caches.
 * @returns its path
 * Errors: Error on a system other than Linux, or with what a compiler says
 */
export async function buildMtmdCli(): Promise<string> {
  if (Deno.build.os !== "linux") {
    throw new Error(`Cannot build ${PROGRAM} on ${Deno.build.os}: name one with --llama-cpp PATH`);
  }
  const folder = peersFolder("llama-mtmd");
  const program = `${folder}/${PROGRAM}`;
  if (await exists(program)) return program;
  const source = await cloneLlamaCpp(folder);
  const libraries = await linkLibraries(folder);
  const objects = await compile(await sourcesOf(source), source, folder);
  await run(
    PROGRAM,
    "g++",
    "-o",
    program,
    ...objects,
    ...libraries,
    "-lpthread",
    "-Wl,-rpath,$ORIGIN",
  );
  return program;
}

/** Links to the libraries beside the program, where it looks for those of kinds of CPUs. */
async function linkLibraries(folder: string): Promise<string[]> {
  const platform = `linux-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}`;
  const files = await npmPackageFolder(`npm:@node-llama-cpp/${platform}@${LLAMA_CPP_VERSION}`);
  const libraries: string[] = [];
  for await (const { name } of Deno.readDir(`${files}/bins/${platform}`)) {
    if (!name.endsWith(".so")) continue;
    const link = `${folder}/${name}`;
    if (!await exists(link)) await Deno.symlink(`${files}/bins/${platform}/${name}`, link);
    if (LINKED.test(name)) libraries.push(link);
  }
  return libraries;
}

/** The source files of the program, and of what the libraries lack. */
async function sourcesOf(source: string): Promise<string[]> {
  const files = ["hash.cpp", "sha256/sha256.c", "xxhash/xxhash.c"].map((name) =>
    `${source}/vendor/hash/${name}`
  );
  for (const folder of [`${source}/tools/mtmd`, `${source}/tools/mtmd/models`]) {
    for await (const { name } of Deno.readDir(folder)) {
      if (name.endsWith(".cpp") && name !== "deprecation-warning.cpp") {
        files.push(`${folder}/${name}`);
      }
    }
  }
  return files;
}

/** Compiles files, on all cores. It takes minutes. */
async function compile(files: string[], source: string, folder: string): Promise<string[]> {
  const included = INCLUDED.flatMap((name) => ["-I", `${source}/${name}`]);
  const waiting = [...files];
  const objects: string[] = [];
  const compileNext = async () => {
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      const object = `${folder}/${file.slice(source.length + 1).replaceAll("/", "-")}.o`;
      objects.push(object);
      if (await exists(object)) continue; // of a build that was interrupted
      const [compiler, ...standard] = file.endsWith(".c") ? ["gcc"] : ["g++", "-std=c++17"];
      const options = ["-w", "-O2", "-DNDEBUG", ...standard, ...included];
      await run(PROGRAM, compiler!, "-c", file, "-o", `${object}.part`, ...options);
      await Deno.rename(`${object}.part`, object);
    }
  };
  await Promise.all(Array.from({ length: navigator.hardwareConcurrency }, compileNext));
  return objects;
}
