// `deno task bench:masks [--vocab V.gguf] [--only TEXT] [--seeds N] [--json FILE]`: what masks of hard
// schemas take. For each schema, steps of work and milliseconds of processor time of compiling, of the
// first mask, and of the dearest and second-dearest of all others: 16 masks of each of three
// documents, of random tokens that a seed draws, two of which are led to their end. A fixed loop is
// timed before each schema: on a busy machine processor time is longer, because others use the caches,
// and the last column tells by how much.

import { parseArgs } from "node:util";
import { compileSchema, SchemaError } from "../engine/grammar/mod.ts";
import { loadTokenizer } from "../engine/mod.ts";
import type { Tokenizer } from "../tokenizer/mod.ts";
import { threadTime } from "./cpu_time.ts";
import { drawHardSchema, HARD_SCHEMAS, type HardSchema } from "./hard_schemas.ts";
import { load, median, print } from "./report.ts";

const VOCABULARY = new URL("../../shared/data/tokenizers/llama-bpe.gguf", import.meta.url);

/** Number of masks of one document. */
const MASKS = 16;

/** Tokens that a document that is led to its end may take, for each of its shortest end. */
const LED = 1.05;

/** The goal for every mask, in milliseconds. */
const GOAL = 50;

/** The cost of something: processor time in milliseconds, and steps of work. */
interface Cost {
  readonly milliseconds: number;
  readonly steps: number;
}

interface Result {
  readonly name: string;
  readonly compile: Cost;
  readonly first: Cost;
  readonly dearest: Cost;
  readonly second: Cost;
  /** Milliseconds of the fixed loop. */
  readonly loop: number;
  /** A hash of all masks: the same as long as they allow the same tokens. */
  readonly hash: number;
}

/**
 * Takes steps through 4 MiB in an order that no cache foresees, as walks do. Returns milliseconds.
 */
function timeLoop(memory: Int32Array): number {
  const began = threadTime();
  let at = 0;
  for (let count = 0; count < 200_000; count++) at = memory[at]!;
  if (at < 0) throw new Error("Timing a loop: it left its memory");
  return threadTime() - began;
}

/** The memory of these steps: each element is the index of the next. */
function makeLoop(): Int32Array {
  const memory = new Int32Array(1 << 20);
  for (let at = 0; at < memory.length; at++) {
    memory[at] = (Math.imul(at, 1_664_525) + 1_013_904_223) & (memory.length - 1);
  }
  return memory;
}

function measure({ name, schema }: HardSchema, tokenizer: Tokenizer, memory: Int32Array): Result {
  const loop = median([1, 2, 3].map(() => timeLoop(memory)));
  const costs: Cost[] = [];
  let steps = () => 0;
  const timed = <T>(action: () => T): [T, Cost] => {
    const before = steps();
    const began = threadTime();
    const result = action();
    return [result, { milliseconds: threadTime() - began, steps: steps() - before }];
  };
  const [compiled, { milliseconds }] = timed(() => compileSchema(schema, tokenizer));
  const compile = { milliseconds, steps: compiled.steps };
  steps = () => compiled.steps;
  // A matcher of its own looks for the token, because looking for it finds out what masks would
  // have to.
  const shortest = compileSchema(schema, tokenizer).matcher().missing();
  let hash = 0;
  for (let document = 0; document < 3; document++) {
    const matcher = compiled.matcher();
    const led = document > 0 ? Math.ceil(LED * shortest) : Infinity;
    let random = 7919 * (document + 1);
    for (let count = 0; count < MASKS && !matcher.isEnded; count++) {
      const remaining = led - count;
      const options = remaining < Infinity && remaining > 0 ? { remaining } : {};
      const [mask, cost] = timed(() => matcher.mask(options));
      costs.push(cost);
      for (const word of mask) hash = Math.imul(hash ^ word, 0x01000193) ^ hash >>> 15;
      const token = draw(mask, random = Math.imul(random, 1_664_525) + 1_013_904_223 >>> 0);
      if (!matcher.accept(token)) throw new Error(`${name}: token ${token} is not accepted`);
    }
  }
  const [first, ...others] = costs;
  const [dearest, second] = others.sort((a, b) => b.milliseconds - a.milliseconds);
  const none = { milliseconds: 0, steps: 0 };
  return {
    ...{ name, compile, first: first!, loop, hash },
    ...{ dearest: dearest ?? none, second: second ?? none },
  };
}

/** One of the tokens of a mask. */
function draw(mask: Uint32Array, random: number): number {
  const tokens: number[] = [];
  mask.forEach((word, at) => {
    for (let left = word; left !== 0; left &= left - 1) {
      tokens.push(32 * at + 31 - Math.clz32(left & -left));
    }
  });
  return tokens[random % tokens.length]!;
}

function row({ name, compile, first, dearest, second, loop }: Result, quickest: number): string {
  const numbers = [compile, first, dearest, second]
    .map(({ milliseconds, steps }) =>
      milliseconds.toFixed(1).padStart(9) + steps.toFixed(0).padStart(9)
    );
  return name.padEnd(40) + numbers.join("") + (loop / quickest).toFixed(2).padStart(7);
}

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      vocab: { type: "string" },
      only: { type: "string", default: "" },
      seeds: { type: "string", default: "50" },
      json: { type: "string" },
    },
  });
  const tokenizer = await loadTokenizer(values.vocab ?? VOCABULARY);
  compileSchema({}, tokenizer); // sorts the vocabulary
  const drawn = Array.from({ length: Number(values.seeds) }, (_, seed) => drawHardSchema(seed + 1));
  const schemas = [...HARD_SCHEMAS, ...drawn].filter(({ name }) => name.includes(values.only));
  const memory = makeLoop();
  const results: Result[] = [];
  const refused: string[] = [];
  for (const schema of schemas) {
    try {
      results.push(measure(schema, tokenizer, memory));
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error;
      refused.push(schema.name);
    }
  }
  const worst = ({ first, dearest }: Result) => Math.max(first.milliseconds, dearest.milliseconds);
  results.sort((a, b) => worst(b) - worst(a));
  const quickest = Math.min(...results.map(({ loop }) => loop));
  print("Milliseconds of processor time and steps of work; the loop beside the quickest one.");
  print(
    " ".repeat(40) +
      ["compile", "first", "dearest", "second"].map((word) => word.padStart(9).padEnd(18)).join(
        "",
      ) +
      "   loop",
  );
  for (const result of results) print(row(result, quickest));
  const over = results.filter((result) => worst(result) > GOAL).length;
  print(
    `${results.length} schemas at load ${load()}, ${refused.length} refused; masks over ${GOAL} ms ` +
      `of ${over}.`,
  );
  if (refused.length > 0) print(`Refused: ${refused.join(", ")}`);
  if (values.json !== undefined) Deno.writeTextFileSync(values.json, JSON.stringify(results));
}

if (import.meta.main) await main(Deno.args);
