// llama.cpp through node-llama-cpp and the builds that its package brings. The package is named where
// users' installs do not see it; its first run fetches 700 MB, builds for GPUs included.

/** The newest version of which every platform's build is in the registry, as Deno wants them. */
export const LLAMA_CPP_VERSION = "3.21.1";

/** llama.cpp on the CPU, with at most so many threads; the package's own object, to be disposed of. */
// deno-lint-ignore no-explicit-any -- The package's types would be installed with it.
export async function openLlamaCpp(maxThreads: number): Promise<any> {
  const { getLlama } = await import(`npm:node-llama-cpp@${LLAMA_CPP_VERSION}`);
  return await getLlama({ gpu: false, build: "never", maxThreads });
}
