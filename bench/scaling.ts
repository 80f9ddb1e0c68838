// `deno task bench:scaling [--shape 135m] [--type Q4_K] [--threads 1,2,4] [--prompt 256] [--tokens 32]
// [--runs 3] [--out FILE.md]`: how the CPU device's speed grows with its threads, for a model with random weights: prompts
// and answers in tokens per second, their share of as many times one thread, and the microseconds of a
// barrier, at which threads wait for each other between operations. Default: powers of two up to all cores. With --out it is also written into a file, to
// be sent in: nobody here has many cores.

import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { loadModel } from "../engine/model/load_model.ts";
import { probeDotProduct } from "../kernels/cpu/dot_product.ts";
import { joinsVectors } from "../kernels/cpu/engine_features.ts";
import { commonModule } from "../kernels/cpu/modules.ts";
import { ThreadPool } from "../kernels/cpu/pool.ts";
import { describeProcessor, readProcessor } from "./processor.ts";
import { load, median, print } from "./report.ts";
import { SHAPES, writeSyntheticLlama } from "./synthetic_model.ts";
import { temporaryFolder } from "./temporary.ts";

/** Phases of a step that has nothing to do, and such steps. */
const [PHASES, STEPS] = [200, 50];

/** Microseconds of the barrier after a phase without work, the median of steps. */
async function barrierOf(threads: number): Promise<number> {
  const pool = await ThreadPool.open(threads);
  const module = await WebAssembly.compile(commonModule(probeDotProduct(), joinsVectors()));
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
  const { quantize } = pool.load({ module, memories: { work: memory } });
  const times = [];
  for (let step = 0; step < STEPS; step++) {
    for (let phase = 0; phase < PHASES; phase++) {
      pool.add({ kernel: quantize!, record: 0, items: 0 });
      pool.endPhase();
    }
    const started = performance.now();
    pool.run();
    times.push(1000 * (performance.now() - started) / PHASES);
  }
  await pool.close();
  return median(times);
}

/** Tokens per second of prompts and of answers, medians. */
async function speedOf(
  path: string,
  threads: number,
): Promise<{ prefill: number; decode: number }> {
  await using model = await loadModel(path, {
    contextLength: promptTokens + decodeTokens + 1,
    maxSequences: 1,
    device: { kind: "cpu", threads },
  });
  const speeds: { prefill: number[]; decode: number[] } = { prefill: [], decode: [] };
  for (let run = 0; run <= runs; run++) {
    const prompt = Array.from({ length: promptTokens }, (_, i) => 33 + (i * 7919 + run) % 90);
    const request = { prompt, maxTokens: decodeTokens + 1, temperature: 0, ignoreEnd: true };
    const started = performance.now();
    let [first, last] = [0, 0];
    for await (const event of model.generate({ ...request, draftTokens: 0 })) {
      if (event.type !== "text" && event.type !== "done") continue;
      last = performance.now();
      first ||= last;
    }
    if (run === 0) continue; // V8 compiles what runs often.
    speeds.prefill.push(1000 * promptTokens / (first - started));
    speeds.decode.push(1000 * decodeTokens / (last - first));
  }
  return { prefill: median(speeds.prefill), decode: median(speeds.decode) };
}

const cores = navigator.hardwareConcurrency;
const powers = Array.from({ length: Math.ceil(Math.log2(cores)) }, (_, i) => 2 ** i);
const { values: options } = parseArgs({
  options: {
    shape: { type: "string", default: "135m" },
    type: { type: "string", default: "Q4_K" },
    threads: { type: "string", default: [...powers, cores].join() },
    prompt: { type: "string", default: "256" },
    tokens: { type: "string", default: "32" },
    runs: { type: "string", default: "3" },
    out: { type: "string" },
  },
});
const shape = SHAPES[options.shape];
if (!shape) throw new Error(`Cannot measure "${options.shape}": shapes are ${Object.keys(SHAPES)}`);
const [promptTokens, decodeTokens, runs] = [options.prompt, options.tokens, options.runs].map(
  Number,
) as [number, number, number];

const lines: string[] = [];
const tell = (line: string) => {
  print(line);
  lines.push(line);
};
const processor = readProcessor(readText);
tell(
  `${cpus()[0]?.model ?? Deno.build.arch}, ` +
    `${processor ? describeProcessor(processor) : `${cores} threads`}, ${Deno.build.os}, ` +
    `Deno ${Deno.version.deno}, dot products "${probeDotProduct()}", ` +
    `${joinsVectors() ? "joined" : "single"} vectors, load ${load()}`,
);
tell(
  `${options.shape} in ${options.type}, prompts of ${promptTokens}, answers of ${decodeTokens}`,
);
tell("");
tell("| threads | prefill | of ideal | decode | of ideal | barrier, us |");
tell("| ------: | ------: | -------: | -----: | -------: | ----------: |");
using folder = temporaryFolder();
const path = `${folder.path}/model.gguf`;
await writeSyntheticLlama(path, shape, { type: options.type });
let one: { prefill: number; decode: number } | undefined;
for (const threads of options.threads.split(",").map(Number)) {
  const { prefill, decode } = await speedOf(path, threads);
  one ??= { prefill: prefill / threads, decode: decode / threads };
  const cells = [
    [String(threads), 7],
    [prefill.toFixed(1), 7],
    [(prefill / threads / one.prefill).toFixed(2), 8],
    [decode.toFixed(1), 6],
    [(decode / threads / one.decode).toFixed(2), 8],
    [(await barrierOf(threads)).toFixed(1), 11],
  ] as const;
  tell(`| ${cells.map(([cell, width]) => cell.padStart(width)).join(" | ")} |`);
}
if (options.out) await Deno.writeTextFile(options.out, `${lines.join("\n")}\n`);
Deno.exit(0);

function readText(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined;
  }
}
