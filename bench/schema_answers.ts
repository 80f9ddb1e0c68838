// `deno run -A bench/schema_answers.ts MODEL.gguf LLAMA_SERVER [--threads 2] [--tokens 160] [--part 1/2]
// [--faults]`: fifty answers under JSON Schemas of MaskBench, or a part of them, by Quern's server and by
// llama.cpp's in turns, on the CPU: the same file, messages, schemas (`response_format`) and most tokens,
// temperature 0. Prints how many are valid, by ajv, and how many valid ones a second each program gives;
// with --faults also what is wrong with the others. Answers that the limit cuts off are not valid.

import { parseArgs } from "node:util";
import { load, print } from "./report.ts";
import { MODEL_NAME, type RunningServer, startLlamaServer, startQuern } from "./servers.ts";
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
interface Program extends RunningServer {
  milliseconds: number;
  tokens: number;
  valid: number;
  refused: number;
}

const NOTHING = { milliseconds: 0, tokens: 0, valid: 0, refused: 0 };

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

async function ask(program: Program, { name, schema }: Schema): Promise<void> {
  const about = schema.description ?? schema.title ?? name;
  const body = {
    model: MODEL_NAME,
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
  const tell = (fault: string) => {
    if (options.faults) print(`${program.name}, ${name}: ${fault}`);
  };
  if (!answer.ok) {
    program.refused++;
    tell(`refused: ${JSON.stringify(result.error)}`);
    return;
  }
  program.tokens += result.usage.completion_tokens;
  const { message: { content }, finish_reason: reason } = result.choices[0];
  const fault = faultOf(schema, content);
  if (fault === undefined) program.valid++;
  else tell(`${fault}; it ended by ${reason}: ${content}`);
}

/** What is wrong with an answer; undefined: nothing. */
function faultOf(schema: Record<string, unknown>, text: string): string | undefined {
  try {
    // A schema may name a draft that ajv has no rules of, have an `id` as draft 4 does, and escapes in
    // patterns that are errors with the flag u. They forbid nothing.
    const { $schema: _, ...rules } = schema;
    const ajv = new Ajv({ strict: false, logger: false, unicodeRegExp: false });
    ajv.removeKeyword("id");
    return ajv.validate(rules, JSON.parse(text)) ? undefined : ajv.errorsText();
  } catch (error) {
    return (error as Error).message;
  }
}

const { values: options, positionals: [file, server] } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: "string", default: String(navigator.hardwareConcurrency) },
    tokens: { type: "string", default: "160" },
    part: { type: "string", default: "1/1" },
    faults: { type: "boolean", default: false },
  },
});
if (!file || !server) {
  throw new Error("Cannot measure: give a model's file and llama-server's path");
}
using folder = temporaryFolder();
const threads = Number(options.threads);
const programs: Program[] = [
  await startQuern(file, { folder: folder.path, threads }),
  await startLlamaServer(server, file, {
    threads,
    options: ["-c", "4096", "-np", "1"],
  }),
].map((started) => ({ ...started, ...NOTHING }));
const [part, parts] = options.part.split("/").map(Number);
const schemas = (await readSchemas()).filter((_, i) => i % parts! === part! - 1);
// The first answers load the model and compile kernels.
for (const program of programs) {
  await ask(program, { name: "a name", schema: { type: "object" } });
  Object.assign(program, NOTHING);
}
for (const schema of schemas) {
  for (const program of programs) await ask(program, schema);
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
