// What all kernels of a sampler read: its memory, the options of a slot, an output's logits, and a
// vocabulary in chunks, which are divided among threads.

import { LEAST_TEMPERATURE, NO_TOKEN } from "../../ops/sampling/options.ts";
import { SAMPLING, STEP_ROW } from "../../ops/step_records.ts";
import { addKernel, type Arguments, forItems } from "../kernel.ts";
import { NONE } from "./cut.ts";
import { FILTER_BYTES } from "./filters.ts";
import {
  type Expression,
  f32,
  type FunctionBuilder,
  type I32,
  i32,
  type Local,
  type Memory,
  type ModuleBuilder,
} from "../wasm/mod.ts";

/** Tokens of a chunk. */
export const CHUNK = 16384;
/** Bytes of a chunk's survey: (greatest logit, its token, whether a logit is NaN or +infinity). */
export const SURVEY_BYTES = 16;
/** Bytes of a cut: (last token kept of those with the logit of the cut, this logit), then filters. */
export const CUT_BYTES = 8 + FILTER_BYTES;
/** Bytes of a chunk's draw: (score as a double, token). */
export const DRAW_BYTES = 16;

/** What all kernels of a sampler read. */
export const SAMPLER_ARGUMENTS = [
  ...["logits", "vocabulary", "outputs", "outputRows", "rows", "sampling", "history", "context"],
  ...["biases", "mask", "sampled", "slots", "chunks", "surveys", "histograms", "cuts", "draws"],
  ...["counts", "found", "lanes"],
] as const;

/** The arguments, in variables. */
export type Given = Arguments<typeof SAMPLER_ARGUMENTS[number]>;

/** What a kernel of a sampler runs: its items from `first` up to `last`. */
export type Build = (
  f: FunctionBuilder,
  given: Given,
  first: Local<"i32">,
  last: Local<"i32">,
) => void;

export function addSamplerKernel(
  module: ModuleBuilder,
  work: Memory,
  name: string,
  build: Build,
): void {
  addKernel(module, work, { name, takes: SAMPLER_ARGUMENTS }, build);
}

/** The address of a token's logit. */
export function logitAt(logits: Local<"i32">, token: I32): Expression<"i32"> {
  return i32.add(logits, i32.mul(token, 4));
}

/** Code that reads the outputs of a step from the working memory. */
export function outputsIn(work: Memory) {
  /** The row, the slot and the options of an output, and its logits. */
  const outputOf = (f: FunctionBuilder, given: Given, output: Local<"i32">) => {
    const number = work.i32.load(i32.add(given.outputRows, i32.mul(output, 4)));
    const row = f.let(i32.add(given.rows, i32.mul(number, STEP_ROW.bytes)));
    const slot = f.let(work.i32.load(row, STEP_ROW.byte.slot));
    const options = f.let(i32.add(given.sampling, i32.mul(slot, SAMPLING.bytes)));
    const logits = f.let(i32.add(given.logits, i32.mul(i32.mul(output, given.vocabulary), 4)));
    return { row, slot, options, logits };
  };
  const option = (options: Local<"i32">, name: keyof typeof SAMPLING.byte) =>
    work.f32.load(options, SAMPLING.byte[name]);
  const has = (options: Local<"i32">, name: keyof typeof SAMPLING.byte) =>
    work.i32.load(options, SAMPLING.byte[name]);
  const isStochastic = (options: Local<"i32">) =>
    i32.eqz(f32.lt(option(options, "temperature"), LEAST_TEMPERATURE));
  const isCut = (options: Local<"i32">) =>
    i32.or(i32.ne(has(options, "topK"), 0), f32.lt(option(options, "topP"), 1));

  /** Runs `body` for the tokens of a chunk, `first` up to `end`, of an output. */
  const forChunks = (
    f: FunctionBuilder,
    given: Given,
    [first, last]: [Local<"i32">, Local<"i32">],
    body: (
      output: Local<"i32">,
      item: Local<"i32">,
      token: Local<"i32">,
      end: Local<"i32">,
    ) => void,
  ) =>
    forItems(f, first, last, (item) => {
      const output = f.let(i32.div_u(item, given.chunks));
      const token = f.let(i32.mul(i32.rem_u(item, given.chunks), CHUNK));
      const end = f.let(i32.add(token, CHUNK));
      f.if(i32.gt_u(end, given.vocabulary), () => f.set(end, given.vocabulary));
      body(output, item, token, end);
    });
  /** The survey of a whole output: the greatest logit, its first token, and whether all are numbers. */
  const readSurveys = (f: FunctionBuilder, given: Given, output: Local<"i32">) => {
    const greatest = f.let(f32.const(NONE));
    const token = f.let(i32.const(NO_TOKEN));
    const isBroken = f.let(i32.const(0));
    const at = f.let(i32.add(given.surveys, i32.mul(i32.mul(output, given.chunks), SURVEY_BYTES)));
    const end = f.let(i32.add(at, i32.mul(given.chunks, SURVEY_BYTES)));
    f.forUpTo(at, end, SURVEY_BYTES, () => {
      f.set(isBroken, i32.or(isBroken, work.i32.load(at, 8)));
      f.if(f32.gt(work.f32.load(at), greatest), () => {
        f.set(greatest, work.f32.load(at));
        f.set(token, work.i32.load(at, 4));
      });
    });
    const isNone = f.let(i32.or(isBroken, i32.eq(token, NO_TOKEN)));
    return { greatest, token, isNone };
  };

  return { outputOf, option, has, isStochastic, isCut, forChunks, readSurveys };
}
