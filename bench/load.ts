// `deno task bench:load [TYPE...] [--shape 1b] [--threads 2] [--context 2048]`: how long a model with
// random weights takes to load on the CPU from a file that the system has in memory, and how much memory
// the process has taken at most, beside what its weights and its KV cache are. A process per model, since
// the system tells the peak of whole processes.

import process from "node:process";
import { parseArgs } from "node:util";
import { loadModel } from "../engine/model/mod.ts";
import { load, print } from "./report.ts";
import { LLAMA_3_2_1B, SMOLLM2_135M, writeSyntheticLlama } from "./synthetic_model.ts";

const SHAPES = { "135m": SMOLLM2_135M, "1b": LLAMA_3_2_1B };

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shape: { type: "string", default: "1b" },
    threads: { type: "string", default: String(navigator.hardwareConcurrency) },
    context: { type: "string", default: "2048" },
    file: { type: "string" },
  },
});

/** Most bytes of memory that this process has had. */
function peak(): number {
  const status = Deno.readTextFileSync("/proc/self/status");
  return 1024 * Number(/VmHWM:\s+(\d+)/.exec(status)![1]);
}

/** Loads the file, which has just been written or read, and prints what that took. */
async function measure(type: string, file: string): Promise<void> {
  const { size } = await Deno.stat(file);
  const before = process.cpuUsage();
  const started = performance.now();
  await using model = await loadModel(file, {
    contextLength: Number(options.context),
    maxSequences: 1,
    device: { kind: "cpu", threads: Number(options.threads) },
  });
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  const { weights, keyValueCache } = model.memory;
  const request = { prompt: Array.from({ length: 64 }, (_, i) => 300 + 7 * i), maxTokens: 4 };
  for await (const _ of model.generate({ ...request, ignoreEnd: true }));
  const [all, own] = [peak(), weights + keyValueCache].map((bytes) => Math.round(bytes / 1e6));
  const cells = [
    ...[type.padEnd(8), `${(size / 1e9 / seconds).toFixed(2)} GB/s`, `${seconds.toFixed(2)} s`],
    `${((user + system) / 1e6).toFixed(2)} s of processors`,
    `peak ${all} MB, weights and KV cache ${own} MB, ${all! - own!} MB beside them`,
  ];
  print(`${cells.join("  ")}  (load ${load()})`);
}

const [type] = positionals;
if (options.file && type) {
  await measure(type, options.file);
  Deno.exit(0);
}
const shape = SHAPES[options.shape as keyof typeof SHAPES];
if (!shape) throw new Error(`Cannot measure "${options.shape}": shapes are ${Object.keys(SHAPES)}`);
for (const type of positionals.length > 0 ? positionals : ["Q8_0", "Q4_K"]) {
  const file = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await writeSyntheticLlama(file, shape, { type });
    const args = ["run", "-A", "--no-lock", import.meta.filename!, type, "--file", file];
    const given = ["--threads", options.threads, "--context", options.context];
    const { success } = await new Deno.Command(Deno.execPath(), { args: [...args, ...given] })
      .spawn().status;
    if (!success) throw new Error(`Cannot measure ${type}: the process that loads it failed`);
  } finally {
    await Deno.remove(file);
  }
}
