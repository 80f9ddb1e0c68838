// llama.cpp's own benchmark, llama-bench, built for this CPU (GGML_NATIVE) from the source that the npm
// package node-llama-cpp brings. It needs git, cmake and a compiler, and is built once, for minutes.
// Prebuilt libraries lack instructions of newer CPUs, and a binding that is called for every token loses
// speed between tokens: this is llama.cpp at its fastest.

import { cloneLlamaCpp, exists, peersFolder, run } from "./llama_cpp_source.ts";
import type { PeerEngine, PeerOptions, Speeds } from "./peer.ts";
import { median } from "./report.ts";

const OPTIONS = [
  ...["-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON", "-DBUILD_SHARED_LIBS=OFF"],
  ...["-DLLAMA_CURL=OFF", "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF"],
  "-DLLAMA_BUILD_UI=OFF",
];

/** Builds llama-bench, or finds it where it was built. Errors: Error with what cmake says. */
async function buildLlamaBench(): Promise<string> {
  const folder = peersFolder("llama-native");
  const program = `${folder}/build/bin/llama-bench`;
  if (await exists(program)) return program;
  const source = await cloneLlamaCpp(folder);
  await run("llama-bench", "cmake", "-S", source, "-B", `${folder}/build`, ...OPTIONS);
  const jobs = String(navigator.hardwareConcurrency);
  const target = ["--target", "llama-bench", "-j", jobs];
  await run("llama-bench", "cmake", "--build", `${folder}/build`, ...target);
  return program;
}

/** Repetitions of a run, of which the median counts: in a new process the first is some 15 % slower. */
const REPETITIONS = 3;

/** A result of llama-bench, of a prompt or of an answer. */
interface Row {
  readonly build_commit: string;
  readonly n_prompt: number;
  /** Tokens per second of each repetition. */
  readonly samples_ts: readonly number[];
}

/**
 * llama.cpp as a peer: every measurement is a run of llama-bench, which loads the model anew.
 *
 * @param program path of a llama-bench; undefined: it is built
 * Errors: Error with what git, cmake or the program says
 */
export async function openLlamaBench(
  path: string,
  { threads, chunk, decodeTokens }: PeerOptions,
  program?: string,
): Promise<PeerEngine> {
  const bench = program ?? await buildLlamaBench();
  const measure = async (promptTokens: number): Promise<{ speeds: Speeds; commit: string }> => {
    const ask = async (...args: string[]): Promise<Row> => {
      const common = ["-m", path, "-t", String(threads), "-b", String(chunk), "-ub", String(chunk)];
      const output = ["-r", String(REPETITIONS), "-o", "json"];
      const text = await run("llama-bench", bench, ...common, ...args, ...output);
      return JSON.parse(text)[0];
    };
    const prefill = await ask("-p", String(promptTokens), "-n", "0");
    // An answer after a prompt of that length.
    const decode = await ask("-p", "0", "-n", String(decodeTokens), "-d", String(promptTokens));
    return {
      speeds: { prefill: median(prefill.samples_ts), decode: median(decode.samples_ts) },
      commit: prefill.build_commit,
    };
  };
  const { commit } = await measure(2);
  return {
    name: `llama-bench ${commit}`,
    async measure(prompt) {
      return (await measure(prompt.length)).speeds;
    },
    async [Symbol.asyncDispose]() {},
  };
}
