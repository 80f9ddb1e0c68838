// `deno task bench:load [TYPE...] [--shape 1b] [--runs 5] [--threads 2] [--context 2048] [--worker]`:
// how long a model with random weights takes to load on the CPU from a file that the system has in
// memory, until it is ready for a first prompt, and how much memory the process has taken at most
// beside its weights and its KV cache. With --worker in a worker, as servers do. A process per load,
// since the system tells the peak of whole processes. The first is not counted: a virtual machine gets
// memory from its host when it is first used, which takes longer than all else.

import process from "node:process";
import { parseArgs } from "node:util";
import { loadModel } from "../engine/model/mod.ts";
import { openModelInWorker } from "../engine/worker/mod.ts";
import { load, median, print } from "./report.ts";
import { LLAMA_3_2_1B, SMOLLM2_135M, writeSyntheticLlama } from "./synthetic_model.ts";

const SHAPES = { "135m": SMOLLM2_135M, "1b": LLAMA_3_2_1B };

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shape: { type: "string", default: "1b" },
    runs: { type: "string", default: "5" },
    threads: { type: "string" },
    context: { type: "string", default: "2048" },
    worker: { type: "boolean", default: false },
    file: { type: "string" },
  },
});

/** What a load took: seconds, and bytes. */
interface Load {
  readonly seconds: number;
  /** Before the first weights were there, and after the last. */
  readonly before: number;
  readonly after: number;
  /** Of processors, in the program and in the system. */
  readonly user: number;
  readonly system: number;
  readonly peak: number;
  /** Weights and KV cache. */
  readonly own: number;
}

/** Most bytes of memory that this process has had. */
function peak(): number {
  const status = Deno.readTextFileSync("/proc/self/status");
  return 1024 * Number(/VmHWM:\s+(\d+)/.exec(status)![1]);
}

/** Loads a file and answers a prompt. */
async function measure(file: string): Promise<Load> {
  const used = process.cpuUsage();
  const started = performance.now();
  let [first, last] = [0, 0];
  const given = {
    contextLength: Number(options.context),
    maxSequences: 1,
    onProgress() {
      last = performance.now();
      first ||= last;
    },
  };
  await using model = options.worker
    ? await openModelInWorker(file, given)
    : await loadModel(file, { ...given, device: { kind: "cpu" } });
  const ended = performance.now();
  const { user, system } = process.cpuUsage(used);
  const request = { prompt: Array.from({ length: 64 }, (_, i) => 300 + 7 * i), maxTokens: 4 };
  for await (const _ of model.generate({ ...request, ignoreEnd: true }));
  const [seconds, before, after] = [ended - started, first - started, ended - last]
    .map((milliseconds) => milliseconds / 1000) as [number, number, number];
  const own = model.memory.weights + model.memory.keyValueCache;
  return { seconds, before, after, user: user / 1e6, system: system / 1e6, peak: peak(), own };
}

/** Loads a file in a process of its own. */
async function measureApart(file: string): Promise<Load> {
  const args = ["run", "-A", "--no-lock", import.meta.filename!, "--file", file];
  args.push("--context", options.context, ...options.worker ? ["--worker"] : []);
  const env = {
    QUERN_DEVICE: "cpu",
    ...(options.threads !== undefined && { QUERN_THREADS: options.threads }),
  };
  const command = new Deno.Command(Deno.execPath(), { args, env, stderr: "inherit" });
  const { success, stdout } = await command.output();
  if (!success) throw new Error(`Cannot measure ${file}: the process that loads it failed`);
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** Waits until the file is on the disk, so that no load shares the machine with writing it. */
function settle(file: string): void {
  using written = Deno.openSync(file, { read: true, write: true });
  written.syncSync();
}

async function compare(type: string, file: string): Promise<void> {
  settle(file);
  const { size } = await Deno.stat(file);
  await measureApart(file);
  const loads: Load[] = [];
  while (loads.length < Number(options.runs)) loads.push(await measureApart(file));
  const middle = (of: (load: Load) => number) => median(loads.map(of));
  const least = Math.min(...loads.map(({ seconds }) => seconds));
  const rate = (seconds: number) => (size / 1e9 / seconds).toFixed(2);
  const [most, own] = [Math.max(...loads.map((one) => one.peak)), loads[0]!.own];
  const megabytes = (bytes: number) => Math.round(bytes / 1e6);
  print([
    `${type.padEnd(8)}  ${rate(middle(({ seconds }) => seconds))} GB/s (best ${rate(least)})`,
    `${middle(({ seconds }) => seconds).toFixed(2)} s, of which ` +
    `${middle(({ before }) => before).toFixed(2)} before the first weights, ` +
    `${middle(({ after }) => after).toFixed(2)} after the last`,
    `${middle(({ user }) => user).toFixed(2)} s of processors and ` +
    `${middle(({ system }) => system).toFixed(2)} in the system`,
    `peak ${megabytes(most)} MB, ${megabytes(most - own)} beside weights and KV cache`,
    `(load ${load()})`,
  ].join("; "));
}

if (options.file) {
  print(JSON.stringify(await measure(options.file)));
  Deno.exit(0);
}
const shape = SHAPES[options.shape as keyof typeof SHAPES];
if (!shape) throw new Error(`Cannot measure "${options.shape}": shapes are ${Object.keys(SHAPES)}`);
for (const type of positionals.length > 0 ? positionals : ["Q8_0", "Q4_K"]) {
  const file = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await writeSyntheticLlama(file, shape, { type });
    await compare(type, file);
  } finally {
    await Deno.remove(file);
  }
}
