// `deno task mask:peers [VOCABULARY.gguf]`: times of compiling and of masks beside llguidance, in one
// process, on the same schemas, documents and tokens. Every time is the least of several runs, each
// with a grammar compiled anew. Cold: the first mask at a token of a document. Warm: ours, the same
// in a second document of the grammar; llguidance, which has none, the mask of a token again.

import { fileURLToPath } from "node:url";
import { readGguf } from "../engine/gguf/mod.ts";
import { createTokenizer } from "../tokenizer/mod.ts";
import { type MaskCase, maskCases } from "./mask_cases.ts";
import { type MaskDocument, type MaskEngine, openLlguidance, openOwn } from "./mask_engines.ts";
import { print } from "./report.ts";

const RUNS = 5;

const VOCABULARY = new URL("../../shared/data/tokenizers/llama-bpe.gguf", import.meta.url);

/** Least times of one engine on one case, in milliseconds. */
interface Times {
  compile: number;
  /** By document, by token. */
  readonly cold: number[][];
  readonly warm: number[][];
}

function timed<T>(run: () => T): [result: T, milliseconds: number] {
  const started = performance.now();
  const result = run();
  return [result, performance.now() - started];
}

function note(times: number[], at: number, milliseconds: number): void {
  times[at] = Math.min(times[at] ?? Infinity, milliseconds);
}

/** One run of all documents; false where the schema is refused. */
function run(
  { compile, keepsGrammars }: MaskEngine,
  { schema }: MaskCase,
  documents: readonly (readonly number[])[],
  times: Times,
): boolean {
  try {
    const [compiled, milliseconds] = timed(() => compile(schema));
    let begin = compiled;
    documents.forEach((tokens, which) => {
      if (which > 0 && !keepsGrammars) begin = compile(schema);
      const cold = times.cold[which] ??= [];
      const warm = times.warm[which] ??= [];
      write(begin(), tokens, cold, keepsGrammars ? undefined : warm);
      if (keepsGrammars) write(begin(), tokens, warm);
    });
    times.compile = Math.min(times.compile, milliseconds);
    return true;
  } catch {
    // Some schemas are only refused at the first mask.
    return false;
  }
}

/**
 * Times a document's masks, up to a token that is not allowed; `again` receives the times of the
 * same masks once more.
 */
function write(
  document: MaskDocument,
  tokens: readonly number[],
  times: number[],
  again?: number[],
): void {
  tokens.every((token, at) => {
    const [isAllowed, milliseconds] = timed(() => document.allows(token));
    note(times, at, milliseconds);
    if (again) note(again, at, timed(() => document.allows(token))[1]);
    if (isAllowed) document.accept(token);
    return isAllowed;
  });
}

/** Quantiles in microseconds: p50, p95, p99 and the greatest. */
function quantiles(times: readonly number[]): string {
  const sorted = Float64Array.from(times).sort();
  return [0.5, 0.95, 0.99, 1].map((share) => {
    const time = sorted[Math.ceil(share * sorted.length) - 1] ?? NaN;
    return (1000 * time).toFixed(time < 0.01 ? 1 : 0);
  }).join(" / ");
}

/** The times at tokens that both engines reached. */
function shared(times: readonly number[][], others: readonly number[][]): number[] {
  return times.flatMap((list, which) => list.slice(0, others[which]?.length ?? 0));
}

const path = Deno.args[0] ?? fileURLToPath(VOCABULARY);
const { metadata } = await readGguf(path);
const tokenizer = createTokenizer(metadata);
const [own, tableTime] = timed(() => {
  const engine = openOwn(tokenizer);
  engine.compile({});
  return engine;
});
const peerStarted = performance.now();
const peer = await openLlguidance(metadata, tokenizer);
print(
  `Deno ${Deno.version.deno}, ${navigator.hardwareConcurrency} cores, one thread; ` +
    `${tokenizer.vocabularySize} tokens; set-up once: ${tableTime.toFixed(0)} ms, ` +
    `llguidance ${(performance.now() - peerStarted).toFixed(0)} ms\n`,
);
print("| schema | bytes | tokens | compile ms | it | cold masks us p50 / p95 / p99 / max | it |");
print("|---|---|---|---|---|---|---|");
const all = {
  compile: [[], []] as number[][],
  cold: [[], []] as number[][],
  warm: [[], []] as number[][],
};
for (const one of await maskCases()) {
  const documents = one.documents.map((data) =>
    tokenizer.encode(JSON.stringify(data), { special: false })
  );
  const [ours, its] = [0, 1].map((): Times => ({
    compile: Infinity,
    cold: [],
    warm: [],
  })) as [Times, Times];
  let isOurs = true;
  let isIts = true;
  for (let count = 0; count < RUNS; count++) {
    isOurs &&= run(own, one, documents, ours);
    isIts &&= run(peer, one, documents, its);
  }
  const cold = isOurs && isIts ? shared(ours.cold, its.cold) : ours.cold.flat();
  const itsCold = isIts ? shared(its.cold, ours.cold) : [];
  print(
    `| ${one.name} | ${JSON.stringify(one.schema).length} | ${cold.length} | ` +
      `${isOurs ? ours.compile.toFixed(2) : "refused"} | ` +
      `${isIts ? its.compile.toFixed(2) : "refused"} | ` +
      `${quantiles(cold)} | ${isIts ? quantiles(itsCold) : ""} |`,
  );
  all.compile[0]!.push(ours.compile);
  if (!isOurs || !isIts) continue;
  all.compile[1]!.push(its.compile);
  all.cold[0]!.push(...cold);
  all.cold[1]!.push(...itsCold);
  all.warm[0]!.push(...shared(ours.warm, its.warm));
  all.warm[1]!.push(...shared(its.warm, ours.warm));
}
print("\nAt the tokens of schemas that both take, p50 / p95 / p99 / max in us:\n");
print("| | ours | llguidance |\n|---|---|---|");
for (const [name, [ours, its]] of Object.entries(all)) {
  print(`| ${name} | ${quantiles(ours!)} | ${quantiles(its!)} |`);
}
