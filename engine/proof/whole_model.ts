// What is proved of a whole model on a device, without the CPU: that it gives the same in steps of one
// number of rows as in one step of all, and chooses tokens as the plain reference does, alone and several
// in one submit.

import {
  BLOCK,
  NO_TOKEN,
  type ResolvedSampling,
  sampleReference,
  type SamplingInput,
} from "../../kernels/mod.ts";
import type { OutputKind } from "../nn/mod.ts";
import { type Chunk, layOut, NO_MEMORY, type Sequence, type WantedRows } from "../run/mod.ts";
import { compare, type Distance } from "./judgement.ts";
import type { DeviceFault } from "../tuning/mod.ts";
import type { ProvedNetwork } from "./twin.ts";
import { proofSequence, tokensOf } from "./script.ts";

/** Rows of steps whose outputs are compared with those of one step of all. */
const ROWS = [1, 2, 3, 4, 5, 8, 9, 17];

/** Tokens before the one that is chosen. */
const PROMPT = 9;

/** Tokens that are decoded in one submit. */
const REPEATS = 4;

/** Within this, in logits or probability, a choice may be another in single precision. */
const THIN = 1e-4;

/** A share of the logits' root mean square that a token which was chosen as the best may lack. */
const NEARLY_BEST = 0.1;

const PLAIN: ResolvedSampling = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repeatPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  repeatLastN: 0,
  seed: 7n,
  masked: false,
};

/**
 * Ways to choose a token by a mask: a draw from few; the best that is not repeated. The best of all is what
 * {@linkcode decodedFault} judges.
 */
const CHOICES: readonly ResolvedSampling[] = [
  { ...PLAIN, temperature: 0.8, topK: 40, topP: 0.95, minP: 0.01, masked: true },
  { ...PLAIN, repeatPenalty: 1.3, presencePenalty: 0.5, repeatLastN: PROMPT, masked: true },
];

/** Runs steps of a model on its device, by sequences in slot 0. */
class Runs {
  readonly #subject: ProvedNetwork;

  constructor(subject: ProvedNetwork) {
    this.#subject = subject;
  }

  /** A new sequence of tokens that depend on a number. */
  begin(count: number, number = 0, after = 0): Sequence {
    const { runner: { memory }, vocabulary } = this.#subject;
    const sequence = proofSequence(tokensOf(number, count, vocabulary));
    sequence.hold({ ...NO_MEMORY, slot: 0 });
    const blocks = Math.ceil((count + after) / BLOCK);
    memory.assignBlocks(0, 0, Array.from({ length: blocks }, (_, i) => blocks - 1 - i));
    return sequence;
  }

  /** The plan of a sequence's next rows. */
  plan(sequence: Sequence, count: number, wanted: WantedRows = "all") {
    const chunk: Chunk = { sequence, count, output: true, draft: [] };
    const plan = layOut([chunk], this.#subject.runner.tileRows, wanted);
    sequence.advance(count);
    return plan;
  }
}

/** The differences between steps of few rows and one step of all, by the rows of a step. */
export async function stepDifferences(
  subject: ProvedNetwork,
  kind: OutputKind,
): Promise<(Distance & { rows: number })[]> {
  const { runner } = subject;
  const { limits } = runner;
  const runs = new Runs(subject);
  const most = Math.min(ROWS.reduce((a, b) => a + b), limits.rows, limits.outputs, limits.context);
  const expected = await runner.evaluate(runs.plan(runs.begin(most), most), kind);
  const columns = expected.length / most;
  const sequence = runs.begin(most);
  const found: (Distance & { rows: number })[] = [];
  for (const rows of ROWS) {
    const first = sequence.submitted;
    if (first + rows > most) break;
    const output = await runner.evaluate(runs.plan(sequence, rows), kind);
    const right = expected.subarray(first * columns, (first + rows) * columns);
    found.push({ rows, ...compare(output, right) });
  }
  return found;
}

/** What is wrong with the choice of tokens. */
export async function choiceFaults(subject: ProvedNetwork): Promise<DeviceFault[]> {
  const { runner, vocabulary } = subject;
  const { limits } = runner;
  const faults: DeviceFault[] = [];
  if (limits.context < PROMPT + REPEATS + 1 || limits.rows < PROMPT) return faults;
  const runs = new Runs(subject);
  for (const [number, options] of CHOICES.entries()) {
    const sequence = runs.begin(PROMPT, number);
    const mask = maskOf(vocabulary);
    runner.assignSlot(0, options);
    const plan = runs.plan(sequence, PROMPT, "last");
    runner.forward(plan);
    const masks = new Map([[0, mask]]);
    const { tokens: [token], logits } = await runner.sample(plan, masks, new Set([0]))();
    const input: SamplingInput = {
      position: PROMPT - 1,
      history: sequence.tokens,
      mask,
    };
    const expected = sampleReference(logits.get(0)!, options, input);
    if (token !== expected.token && !(expected.margin < THIN)) {
      const what = "the choice of a token by a mask";
      faults.push({ what, how: `it is ${nameOf(token!)}, not ${nameOf(expected.token)}` });
    }
  }
  const decoded = await decodedFault(subject, runs);
  return decoded ? [...faults, decoded] : faults;
}

/** What is wrong with tokens that are decoded in one submit, by the logits of a step of all of them. */
async function decodedFault(subject: ProvedNetwork, runs: Runs): Promise<DeviceFault | undefined> {
  const { runner } = subject;
  const sequence = runs.begin(PROMPT, 0, REPEATS + 1);
  runner.assignSlot(0, PLAIN);
  const plan = runs.plan(sequence, PROMPT, "last");
  const first = await runner.submit(plan, 1)();
  sequence.append(...first.tokens);
  sequence.decode();
  const decode = runs.plan(sequence, 1, "last");
  decode.shape.decodeContext += REPEATS - 1;
  const rest = await runner.submit(decode, REPEATS)();
  const tokens = [...first.tokens, ...rest.tokens];
  const what = `${REPEATS} tokens in one submit`;
  const none = tokens.indexOf(NO_TOKEN);
  if (none >= 0) return { what, how: "logits are not finite" };
  const whole = runs.begin(PROMPT, 0, REPEATS + 1);
  whole.append(...tokens.slice(0, -1));
  await runner.evaluate(runs.plan(whole, PROMPT - 1, "none"), "logits");
  const rows: Float32Array[] = [];
  while (rows.length < tokens.length) {
    const count = Math.min(runner.limits.outputs, tokens.length - rows.length);
    const logits = await runner.evaluate(runs.plan(whole, count), "logits");
    const columns = logits.length / count;
    for (let at = 0; at < logits.length; at += columns) {
      rows.push(logits.subarray(at, at + columns));
    }
  }
  for (const [i, token] of tokens.entries()) {
    const row = rows[i]!;
    const best = row.reduce((a, b) => Math.max(a, b));
    const scale = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0) / row.length);
    const lack = best - row[token]!;
    if (!(lack <= NEARLY_BEST * scale)) {
      return { what, how: `token ${token} of them is not the best, by ${lack.toPrecision(3)}` };
    }
  }
}

/** Every 61st token may come. */
function maskOf(vocabulary: number): Uint32Array<ArrayBuffer> {
  const mask = new Uint32Array(Math.ceil(vocabulary / 32));
  for (let token = 5 % vocabulary; token < vocabulary; token += 61) {
    mask[token >>> 5]! |= 1 << (token & 31);
  }
  return mask;
}

function nameOf(token: number): string {
  return token === NO_TOKEN ? "none" : `token ${token}`;
}
