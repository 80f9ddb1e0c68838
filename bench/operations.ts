// `deno task bench:operations [NAME...] [--prompt 128] [--tokens 16] [--type Q4_0] [--threads 2]`: what
// each operation takes of a prompt and of the steps that decode, and on a CPU how much of that is spent
// in TypeScript, of models of many kinds. NAME is a shape of model_shapes.ts, or part of a name of the
// conformance data's models; default: all shapes. `--summary` prints a line per model. A model of your
// own is `quern bench MODEL --profile`'s.

import { parseArgs } from "node:util";
import { loadModel, type PhaseProfile, profileModel } from "../engine/model/mod.ts";
import { CONTEXT, MODEL_SHAPES } from "./model_shapes.ts";
import { percent, print } from "./report.ts";

const DATA = new URL("../../shared/data/models/architectures/", import.meta.url);

/** Tokens of prompts for the conformance data's models, whose windows are small. */
const SHORT_PROMPT = 48;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: "string" },
    prompt: { type: "string", default: "128" },
    tokens: { type: "string", default: "16" },
    type: { type: "string", default: "Q4_0" },
    summary: { type: "boolean", default: false },
  },
});

async function report(name: string, path: string | URL, promptTokens: number): Promise<void> {
  const { threads } = options;
  await using model = await loadModel(path, {
    contextLength: CONTEXT,
    maxSequences: 1,
    prefillChunk: promptTokens,
    device: threads === undefined ? {} : { threads: Number(threads) },
  });
  const tokens = Number(options.tokens);
  const { prefill, decode } = await profileModel(model, { promptTokens, tokens });
  const phases = { prefill, ...(decode && { decode }) };
  const heads = Object.entries(phases).map(([phase, { seconds, steps, operations }]) => {
    const host = operations.values().reduce((sum, { hostSeconds }) => sum + hostSeconds, 0);
    const time = (1000 * seconds / steps).toFixed(1);
    return `${phase} ${time} ms a step, in TypeScript ${percent(host, seconds)}`;
  });
  print(`${name.padEnd(24)} ${heads.join("; ")}`);
  if (!options.summary) printOperations(phases);
}

function printOperations(phases: Record<string, PhaseProfile>): void {
  const names = new Set(Object.values(phases).flatMap(({ operations }) => [...operations.keys()]));
  const head = Object.keys(phases).map((phase) => `${phase.padStart(8)}  of it TS`);
  print(`  ${"operation".padEnd(28)} ${head.join(" ")}`);
  for (const name of names) {
    const cells = Object.values(phases).map(({ seconds: all, operations }) => {
      const { seconds = 0, hostSeconds = 0 } = operations.get(name) ?? {};
      return `${percent(seconds, all).padStart(8)}  ${percent(hostSeconds, all).padStart(8)}`;
    });
    print(`  ${name.padEnd(28)} ${cells.join(" ")}`);
  }
}

/** The conformance data's models that words name. @throws {Error} if there are none, before anything is measured */
function conformanceModels(words: string[]): string[] {
  if (words.length === 0) return [];
  const state = `${words.join(", ")}: no shape has such a name (${
    Object.keys(MODEL_SHAPES).join(", ")
  })`;
  try {
    const names = Array.from(Deno.readDirSync(DATA), ({ name }) => name).sort();
    const wanted = names.filter((name) =>
      name.endsWith(".gguf") && words.some((word) => word === "all" || name.includes(word))
    );
    if (wanted.length > 0) return wanted;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error(`Cannot measure ${state}, and there is no conformance data in ../shared`);
  }
  throw new Error(`Cannot measure ${state}, and no model of the conformance data does`);
}

const wanted = positionals.length > 0 ? positionals : Object.keys(MODEL_SHAPES);
const models = conformanceModels(wanted.filter((name) => !MODEL_SHAPES[name]));
for (const [name, write] of Object.entries(MODEL_SHAPES)) {
  if (!wanted.includes(name)) continue;
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await write(path, options.type);
    await report(name, path, Number(options.prompt));
  } finally {
    await Deno.remove(path);
  }
}
for (const name of models) await report(name, new URL(name, DATA), SHORT_PROMPT);
