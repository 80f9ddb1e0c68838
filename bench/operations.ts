// `deno task bench:operations [NAME...] [--prompt 128] [--tokens 16] [--type Q4_0] [--threads 2]`: what
// each operation takes of a prompt and of the steps that decode, and on a CPU how much of that is spent
// in TypeScript, of models of many kinds. NAME is a shape of model_shapes.ts, or part of a name of the
// conformance data's models, of which `all` names all; default: all shapes. `--summary` prints a line
// per model. `--over 5` prints the operations that spend over 5 % of a phase in TypeScript, the least of
// --rounds 3 profiles, since on a busy machine a pause of the thread looks like work. A model of your
// own is `quern bench MODEL --profile`'s.

import { parseArgs } from "node:util";
import { UnsupportedModelError } from "../engine/errors.ts";
import { loadModel, type PhaseProfile, profileModel } from "../engine/model/mod.ts";
import { CONTEXT, MODEL_SHAPES } from "./model_shapes.ts";
import { percent, print } from "./report.ts";

const DATA = new URL("../../shared/data/models/", import.meta.url);
/** Its folders of models whose vocabulary has the tokens of a profile. */
const FOLDERS = ["architectures", "architectures-more"];

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
    over: { type: "string" },
    rounds: { type: "string", default: "3" },
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
  const profile = async () => {
    const tokens = Number(options.tokens);
    const { prefill, decode } = await profileModel(model, { promptTokens, tokens });
    return { prefill, ...(decode && { decode }) };
  };
  if (options.over !== undefined) {
    const rounds = [];
    while (rounds.length < Number(options.rounds)) rounds.push(await profile());
    return printOver(name, rounds, Number(options.over));
  }
  const phases = await profile();
  const heads = Object.entries(phases).map(([phase, { seconds, steps, operations }]) => {
    const host = operations.values().reduce((sum, { hostSeconds }) => sum + hostSeconds, 0);
    const time = (1000 * seconds / steps).toFixed(1);
    return `${phase} ${time} ms a step, in TypeScript ${percent(host, seconds)}`;
  });
  print(`${name.padEnd(24)} ${heads.join("; ")}`);
  if (!options.summary) printOperations(phases);
}

/**
 * Prints the operations that spend more than a percentage of a phase in TypeScript, in every
 * profile.
 */
function printOver(name: string, rounds: Record<string, PhaseProfile>[], limit: number): void {
  for (const phase of Object.keys(rounds[0]!)) {
    for (const operation of rounds[0]![phase]!.operations.keys()) {
      const shares = rounds.map((profile) => {
        const { seconds, operations } = profile[phase]!;
        const { hostSeconds, calls } = operations.get(operation)!;
        return { share: hostSeconds / seconds, call: 1e6 * hostSeconds / calls };
      });
      const { share, call } = shares.reduce((least, next) =>
        next.share < least.share ? next : least
      );
      if (100 * share <= limit) continue;
      const cells = [name.padEnd(32), phase.padEnd(8), operation.padEnd(28), percent(share, 1)];
      print(`${cells.join(" ")}, ${call.toFixed(1)} µs a call`);
    }
  }
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
    const names = FOLDERS.flatMap((folder) =>
      Array.from(Deno.readDirSync(new URL(folder, DATA)), ({ name }) => `${folder}/${name}`).sort()
    );
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
for (const name of models) {
  try {
    await report(name, new URL(name, DATA), SHORT_PROMPT);
  } catch (error) {
    if (!(error instanceof UnsupportedModelError)) throw error;
    print(`${name.padEnd(32)} not measured: its architecture is not supported`);
  }
}
