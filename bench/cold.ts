// `deno task bench:cold FILE.gguf [--llama-server PATH] [--runs 5] [--threads 2] [--prompt TEXT]`: how long
// it takes from the start of a server's process to the first text of an answer over HTTP, on the CPU, of a
// file that the system has in memory: Quern's, and llama-server's in turns with it. Both get the same
// prompt as soon as they listen. Prints seconds of each run and the most memory that the process took (on
// Linux). The first turn is not counted: a virtual machine may have to find the memory first.

import { parseArgs } from "node:util";
import { load, median, print } from "./report.ts";
import { llamaProgram, MODEL_NAME, quernProgram, type ServerProgram } from "./servers.ts";
import { temporaryFolder } from "./temporary.ts";

/** Milliseconds between two attempts to ask. */
const INTERVAL = 5;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "llama-server": { type: "string" },
    runs: { type: "string", default: "5" },
    threads: { type: "string", default: String(navigator.hardwareConcurrency) },
    prompt: { type: "string", default: "The capital of France is the city of Paris, and that of" },
  },
});

interface Start {
  /** Seconds from the start of the process to the first text. */
  readonly first: number;
  /** Bytes; NaN where the system does not tell. */
  readonly peak: number;
}

/** Starts a server, asks it once and ends it. */
async function startCold({ url, command, args, env }: ServerProgram): Promise<Start> {
  const began = performance.now();
  const since = () => (performance.now() - began) / 1000;
  const output = { stdout: "null", stderr: "null" } as const;
  const process = new Deno.Command(command, { args: [...args], env, ...output }).spawn();
  let hasEnded = false;
  const ended = process.status.then(() => hasEnded = true);
  try {
    while (!hasEnded) {
      const response = await ask(url).catch(() => undefined);
      if (response?.ok) {
        await response.body!.getReader().read();
        return { first: since(), peak: await peakOf(process.pid) };
      }
      await response?.body?.cancel(); // such as 503 while it loads
      await new Promise((resolve) => setTimeout(resolve, INTERVAL));
    }
    throw new Error(`Cannot measure ${command}: it has ended`);
  } finally {
    if (!hasEnded) process.kill("SIGKILL");
    await ended;
  }
}

function ask(url: string): Promise<Response> {
  return fetch(`${url}/v1/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      model: MODEL_NAME,
      prompt: options.prompt,
      max_tokens: 4,
      temperature: 0,
      stream: true,
    }),
  });
}

/** The most memory that a process had. */
async function peakOf(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  return 1024 * Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]);
}

const [file] = positionals;
if (!file) throw new Error("Cannot measure: the file of a model is missing");
const threads = Number(options.threads);
using folder = temporaryFolder();
const programs = [await quernProgram(file, { folder: folder.path, threads })];
const peer = options["llama-server"];
if (peer) programs.push(llamaProgram(peer, file, { threads, options: ["-c", "2048", "-np", "1"] }));
const starts = new Map(programs.map((program) => [program, [] as Start[]]));

print(`${file}, ${threads} threads, load ${load()}: seconds to the first text of each start`);
for (let run = 0; run <= Number(options.runs); run++) {
  for (const program of programs) {
    const start = await startCold(program);
    if (run > 0) starts.get(program)!.push(start);
  }
}
const { size } = await Deno.stat(file);
for (const [{ name }, runs] of starts) {
  const middle = (of: (start: Start) => number) => median(runs.map(of));
  const all = runs.map(({ first }) => first.toFixed(2)).join(", ");
  const [first, most] = [middle(({ first }) => first), middle(({ peak }) => peak / size)];
  print(
    `${name.padEnd(13)} ${all}; median ${first.toFixed(2)}, most memory ${
      most.toFixed(2)
    } of the file`,
  );
}
Deno.exit(0);
