// `deno task maskbench FILE.jsonl.gz... --vocab V.gguf`: runs schemas with known valid and invalid
// documents through the masks of a real vocabulary. Each line of a file is
// { name, schema, tests: [{ valid, data }] }. Prints a table and the same as one line of JSON. With
// `--each FILE` a line of JSON for each schema goes there: its verdicts, and its slowest masks.

import { parseArgs } from "node:util";
import { loadTokenizer } from "../engine/mod.ts";
import { compileSchema, SchemaError } from "../engine/grammar/mod.ts";
import type { Tokenizer } from "../tokenizer/mod.ts";
import { print } from "./report.ts";

interface Case {
  name: string;
  schema: unknown;
  tests: { valid: boolean; data: unknown }[];
}

/** The counts of a file, and of all. */
class Tally {
  schemas = 0;
  compiled = 0;
  right = 0;
  validRejected = 0;
  invalidAccepted = 0;
  readonly refused = new Map<string, number>();
  readonly compileTimes: number[] = [];
  readonly maskTimes: number[] = [];

  add(other: Tally): void {
    this.schemas += other.schemas;
    this.compiled += other.compiled;
    this.right += other.right;
    this.validRejected += other.validRejected;
    this.invalidAccepted += other.invalidAccepted;
    for (const [keyword, count] of other.refused) {
      this.refused.set(keyword, (this.refused.get(keyword) ?? 0) + count);
    }
    for (const time of other.compileTimes) this.compileTimes.push(time);
    for (const time of other.maskTimes) this.maskTimes.push(time);
  }

  summary() {
    const { schemas, compiled, right, validRejected, invalidAccepted } = this;
    const times = (values: number[], scale: number) => {
      const sorted = Float64Array.from(values).sort();
      const at = (share: number) =>
        Number(((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) * scale).toFixed(2));
      return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
    };
    const refused = Object.fromEntries([...this.refused].sort(([, a], [, b]) => b - a));
    return {
      schemas,
      compiled,
      right,
      validRejected,
      invalidAccepted,
      refused,
      compileMs: times(this.compileTimes, 1),
      maskUs: times(this.maskTimes, 1000),
    };
  }
}

async function main(args: readonly string[]): Promise<void> {
  const { values, positionals: files } = parseArgs({
    args: [...args],
    options: { vocab: { type: "string" }, each: { type: "string" } },
    allowPositionals: true,
  });
  if (values.vocab === undefined || files.length === 0) {
    print("Usage: deno task maskbench FILE.jsonl.gz... --vocab VOCABULARY.gguf [--each FILE]");
    Deno.exit(2);
  }
  const tokenizer = await loadTokenizer(values.vocab);
  if (values.each !== undefined) Deno.writeTextFileSync(values.each, "");
  compileSchema({}, tokenizer); // sorts the vocabulary
  const all = new Tally();
  const results: Record<string, unknown> = {};
  print(
    "split                     schemas compiled    right  v.rej  i.acc  compile p50/p99/max ms   mask p50/p95/p99/max us",
  );
  for (const file of files) {
    const tally = new Tally();
    for await (const line of linesOf(file)) {
      const verdict = run(readCase(line), tokenizer, tally);
      if (values.each === undefined) continue;
      Deno.writeTextFileSync(values.each, JSON.stringify(verdict) + "\n", { append: true });
    }
    const name = file.replace(/^.*\//, "").replace(/\.jsonl(\.gz)?$/, "");
    results[name] = tally.summary();
    print(row(name, tally));
    all.add(tally);
  }
  print(row("all", all));
  print(JSON.stringify({ ...results, all: all.summary() }));
}

function row(name: string, tally: Tally): string {
  const { schemas, compiled, right, validRejected, invalidAccepted, compileMs, maskUs } = tally
    .summary();
  const share = (100 * right / schemas).toFixed(1) + "%";
  const numbers = [schemas, compiled, share, validRejected, invalidAccepted];
  const widths = [8, 9, 9, 7, 7];
  return name.padEnd(25) + numbers.map((value, i) => String(value).padStart(widths[i])).join("") +
    `  ${compileMs.p50}/${compileMs.p99}/${compileMs.max}`.padEnd(26) +
    `${maskUs.p50}/${maskUs.p95}/${maskUs.p99}/${maskUs.max}`;
}

/** The part of JSON that TypeScript's type library lacks. */
const { parse, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    revive: (key: string, value: unknown, context: { source: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
};

/** A case that keeps the spelling of numbers, because draft 4 distinguishes 1.0 from 1. */
function readCase(line: string): Case {
  return parse(
    line,
    (_, value, { source }) => typeof value === "number" ? rawJSON(source) : value,
  ) as Case;
}

/** The results of one schema. */
interface Verdict {
  readonly name: string;
  /** The reason of a refusal. */
  readonly refused?: string;
  readonly compileMs: number;
  /** For each document, whether it was accepted. */
  readonly accepted: readonly boolean[];
  readonly masks: number;
  /** The slowest masks, slowest first. */
  readonly slowestMs: readonly number[];
}

function run({ name, schema, tests }: Case, tokenizer: Tokenizer, tally: Tally): Verdict {
  tally.schemas++;
  let refusal: string | undefined;
  const milliseconds = (time: number) => Number(time.toFixed(2));
  const started = performance.now();
  let compiled;
  try {
    compiled = compileSchema(JSON.stringify(schema), tokenizer, {
      whitespace: "free",
      anyOrder: true,
      anyNumbers: true,
      // The documents of MaskBench were judged with these options.
      formats: "standard",
    });
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const keyword = error.keyword || "(none)";
    tally.refused.set(keyword, (tally.refused.get(keyword) ?? 0) + 1);
    refusal = error.message;
  }
  const compileTime = performance.now() - started;
  tally.compileTimes.push(compileTime);
  const compileMs = milliseconds(compileTime);
  if (!compiled) {
    return { name, refused: refusal!, compileMs, accepted: [], masks: 0, slowestMs: [] };
  }
  tally.compiled++;
  const before = tally.maskTimes.length;
  const verdicts: boolean[] = [];
  let isRight = true;
  for (const { valid, data } of tests) {
    const accepted = accepts(
      compiled.matcher(),
      tokenizer.encode(JSON.stringify(data), { special: false }),
      tally,
    );
    verdicts.push(accepted);
    if (accepted === valid) continue;
    isRight = false;
    if (valid) tally.validRejected++;
    else tally.invalidAccepted++;
  }
  if (isRight) tally.right++;
  const times = tally.maskTimes.slice(before).sort((a, b) => b - a);
  const slowestMs = times.slice(0, 3).map(milliseconds);
  return { name, compileMs, accepted: verdicts, masks: times.length, slowestMs };
}

/** Whether the masks accept a document to its end. */
function accepts(
  matcher: ReturnType<ReturnType<typeof compileSchema>["matcher"]>,
  tokens: readonly number[],
  tally: Tally,
): boolean {
  for (const token of tokens) {
    const started = performance.now();
    const mask = matcher.mask();
    tally.maskTimes.push(performance.now() - started);
    if (!(mask[token >> 5] >>> (token & 31) & 1)) return false;
    if (!matcher.accept(token)) throw new Error(`Cannot go on: token ${token} is in the mask only`);
  }
  return matcher.isComplete;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const { readable } = await Deno.open(file);
  const bytes = file.endsWith(".gz")
    ? readable.pipeThrough(new DecompressionStream("gzip"))
    : readable;
  let rest = "";
  for await (const part of bytes.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split("\n");
    rest = lines.pop()!;
    yield* lines.filter((line) => line.trim() !== "");
  }
  if (rest.trim() !== "") yield rest;
}

await main(Deno.args);
