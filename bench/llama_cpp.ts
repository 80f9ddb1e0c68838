// llama.cpp through node-llama-cpp and the builds in its package. The package is named here, so
// that users do not install it; its first run downloads 700 MB, builds for GPUs included.

/** The newest version whose builds are in the registry for every platform, as Deno requires. */
export const LLAMA_CPP_VERSION = "3.21.1";

/** llama.cpp on the CPU, with at most so many threads; the package's own object, to be disposed of. */
// deno-lint-ignore no-explicit-any -- The package's types would be installed with it.
export async function openLlamaCpp(maxThreads: number): Promise<any> {
  const { getLlama } = await import(`npm:node-llama-cpp@${LLAMA_CPP_VERSION}`);
  return await getLlama({ gpu: false, build: "never", maxThreads });
}
