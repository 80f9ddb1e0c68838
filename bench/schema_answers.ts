// `deno run -A bench/schema_answers.ts MODEL.gguf LLAMA_SERVER [--threads 2] [--tokens 160]`: fifty answers
// under JSON Schemas of MaskBench, by Quern's server and by llama.cpp's in turns, on the CPU: the same file,
// messages, schemas (`response_format`) and most tokens, temperature 0. Prints how many are valid, by ajv,
// and how many valid ones a second each program gives. Answers that the limit cuts off are not valid.

import { parseArgs } from "node:util";
import { load, print } from "./report.ts";
import { temporaryFolder } from "./temporary.ts";

const AJV = "npm:ajv@8.20.0";
const { Ajv } = await import(AJV);

const DATA = new URL("../../shared/data/schemas/maskbench/", import.meta.url);
/** Files of MaskBench, and how many schemas are taken of each, evenly. */
const SETS = ["Glaiveai2K", "BFCL", "Github_trivial", "Github_easy", "Github_medium"];
const OF_EACH = 10;

interface Schema {
  readonly name: string;
  readonly schema: Record<string, unknown>;
}

/** A server, and what it has answered. */
interface Program {
  readonly name: string;
  readonly url: string;
  milliseconds: number;
  tokens: number;
  valid: number;
  refused: number;
}

async function readSchemas(): Promise<Schema[]> {
  const read = async (set: string): Promise<Schema[]> => {
    const file = await Deno.open(new URL(`${set}.jsonl.gz`, DATA));
    const text = await new Response(file.readable.pipeThrough(new DecompressionStream("gzip")))
      .text();
    const all: Schema[] = text.trim().split("\n").map((line) => JSON.parse(line));
    return Array.from({ length: OF_EACH }, (_, i) => all[Math.floor(i * all.length / OF_EACH)]!);
  };
  return (await Promise.all(SETS.map(read))).flat();
}

/** Starts a program and waits until it answers. Errors: Error if it does not within a minute. */
async function start(
  name: string,
  command: string,
  args: string[],
  url: string,
  env: Record<string, string> = {},
): Promise<Program> {
  const process = new Deno.Command(command, { args, env, stdout: "null", stderr: "null" }).spawn();
  addEventListener("unload", () => process.kill("SIGTERM"));
  for (let tries = 0; tries < 240; tries++) {
    const answer = await fetch(`${url}/v1/models`).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok) {
      return { name, url, milliseconds: 0, tokens: 0, valid: 0, refused: 0 };
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`Cannot measure ${name}: it has not answered within a minute`);
}

async function ask(program: Program, model: string, { name, schema }: Schema): Promise<void> {
  const about = schema.description ?? schema.title ?? name;
  const body = {
    model,
    messages: [{ role: "user", content: `Give an example as JSON: ${about}`.slice(0, 400) }],
    response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
    max_tokens: Number(options.tokens),
    temperature: 0,
  };
  const started = performance.now();
  const answer = await fetch(`${program.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const result = await answer.json();
  program.milliseconds += performance.now() - started;
  if (!answer.ok) {
    program.refused++;
    return;
  }
  program.tokens += result.usage.completion_tokens;
  if (isValid(schema, result.choices[0].message.content)) program.valid++;
}

function isValid(schema: Record<string, unknown>, text: string): boolean {
  try {
    // A schema may name a draft that ajv has no rules of.
    const { $schema: _, ...rules } = schema;
    return new Ajv({ strict: false, logger: false }).compile(rules)(JSON.parse(text)) === true;
  } catch {
    return false;
  }
}

const { values: options, positionals: [file, server] } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: "string", default: String(navigator.hardwareConcurrency) },
    tokens: { type: "string", default: "160" },
  },
});
if (!file || !server) {
  throw new Error("Cannot measure: give a model's file and llama-server's path");
}
using folder = temporaryFolder();
await Deno.symlink(await Deno.realPath(file), `${folder.path}/measured.gguf`);
const { threads } = options;
const [own, peer] = ["http://127.0.0.1:18071", "http://127.0.0.1:18072"];
const main = new URL("../mod.ts", import.meta.url).href;
const programs = [
  await start("quern", Deno.execPath(), ["run", "-A", "--no-check", main, "serve"], own!, {
    OLLAMA_HOST: own!.slice("http://".length),
    QUERN_MODELS: folder.path,
    QUERN_DEVICE: "cpu",
    QUERN_THREADS: threads,
  }),
  await start("llama-server", server, [
    ...["-m", file, "-t", threads, "-c", "4096", "-np", "1"],
    ...["--port", new URL(peer!).port],
  ], peer!),
];
const schemas = await readSchemas();
// The first answers load the model and compile kernels.
for (const program of programs) {
  await ask(program, "measured", { name: "a name", schema: { type: "object" } });
  Object.assign(program, { milliseconds: 0, tokens: 0, valid: 0, refused: 0 });
}
for (const schema of schemas) {
  for (const program of programs) await ask(program, "measured", schema);
}
for (const { name, milliseconds, tokens, valid, refused } of programs) {
  const seconds = milliseconds / 1000;
  print([
    `${name.padEnd(12)} ${valid} of ${schemas.length} valid, ${refused} refused`,
    `${seconds.toFixed(1)} s, ${(valid / seconds).toFixed(2)} valid answers a second`,
    `${tokens} tokens, ${(tokens / seconds).toFixed(1)} a second (load ${load()})`,
  ].join("; "));
}
Deno.exit(0);
