// The choice of tokens in WebAssembly, as kernels/ops/sampling/reference.ts has it. A vocabulary is
// looked at in chunks, which threads share out; sampling_cut.ts finds what is kept. The draw takes the greatest of logit / temperature + Gumbel variate (in
// doubles) and computes the variate only where the random word can be enough for it.

import { LEAST_TEMPERATURE, NO_TOKEN, SAMPLING_BYTES } from "../ops/sampling/options.ts";
import { exponential } from "./elementwise.ts";
import { lanes } from "./formats/scales.ts";
import { addKernel, type Arguments, forItems } from "./kernel.ts";
import { gumbel, logarithm, philox } from "./random.ts";
import {
  addHistograms,
  countLogits,
  findCut,
  GREATEST_LOGIT,
  HISTOGRAM_BYTES,
  lanesOf,
  loadLogits,
  NONE,
  sumOfWeights,
} from "./sampling_cut.ts";
import {
  type Expression,
  f32,
  f32x4,
  f64,
  type FunctionBuilder,
  type I32,
  i32,
  i32x4,
  type Local,
  type Memory,
  type ModuleBuilder,
  v128,
} from "./wasm/mod.ts";

/** Tokens of a chunk. */
export const CHUNK = 16384;
/** Bytes of what is known of a chunk: (greatest logit, its token, whether there is one that is none). */
export const SURVEY_BYTES = 16;
/** Bytes of a cut: (least logit kept as a double, last token kept of those with the cut's, the cut). */
export const CUT_BYTES = 16;
/** Bytes of a chunk's draw: (score as a double, token). */
export const DRAW_BYTES = 16;

/** What all kernels of a sampler read. */
export const SAMPLER_ARGUMENTS = [
  ...["logits", "vocabulary", "outputs", "outputRows", "rows", "sampling", "history", "context"],
  ...["mask", "sampled", "slots", "chunks", "surveys", "histograms", "cuts", "draws"],
  ...["counts", "found", "lanes"],
] as const;

type Given = Arguments<typeof SAMPLER_ARGUMENTS[number]>;

/** Where the options of a slot are, see packSampling(). */
const OPTION = {
  temperature: 0,
  topK: 4,
  topP: 8,
  minP: 12,
  repeatPenalty: 16,
  presencePenalty: 20,
  frequencyPenalty: 24,
  repeatLastN: 28,
  seed: 32,
  masked: 40,
} as const;

/** Adds `penalize` (one item), `survey`, `count`, `cut`, `draw` and `choose`, all over outputs. */
export function addSampling(module: ModuleBuilder, work: Memory): void {
  const add = (
    name: string,
    build: (f: FunctionBuilder, given: Given, first: Local<"i32">, last: Local<"i32">) => void,
  ) => addKernel(module, work, { name, takes: SAMPLER_ARGUMENTS }, build);

  /** The row, the slot and the options of an output, and its logits. */
  const outputOf = (f: FunctionBuilder, given: Given, output: Local<"i32">) => {
    const number = work.i32.load(i32.add(given.outputRows, i32.mul(output, 4)));
    const row = f.let(i32.add(given.rows, i32.mul(number, 16)));
    const slot = f.let(work.i32.load(row, 8));
    const options = f.let(i32.add(given.sampling, i32.mul(slot, SAMPLING_BYTES)));
    const logits = f.let(i32.add(given.logits, i32.mul(i32.mul(output, given.vocabulary), 4)));
    return { row, slot, options, logits };
  };
  const option = (options: Local<"i32">, name: keyof typeof OPTION) =>
    work.f32.load(options, OPTION[name]);
  const has = (options: Local<"i32">, name: keyof typeof OPTION) =>
    work.i32.load(options, OPTION[name]);
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
  const logitAt = (logits: Local<"i32">, token: I32) => i32.add(logits, i32.mul(token, 4));

  /** What the chunks of an output tell together: the greatest logit, its first token, whether all are numbers. */
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

  add("penalize", (f, given) => {
    const output = f.let(i32.const(0));
    f.forUpTo(output, given.outputs, 1, () => {
      const { row, slot, options, logits } = outputOf(f, given, output);
      const position = f.let(i32.add(work.i32.load(row, 4), 1));
      const count = f.let(has(options, "repeatLastN"));
      f.if(i32.gt_u(count, position), () => f.set(count, position));
      const history = f.let(i32.add(given.history, i32.mul(i32.mul(slot, given.context), 4)));
      const end = f.let(i32.add(history, i32.mul(position, 4)));
      const begin = f.let(i32.sub(end, i32.mul(count, 4)));
      const at = f.local("i32");
      const eachRecent = (body: (counter: Local<"i32">, token: Local<"i32">) => void) => {
        f.set(at, begin);
        f.forUpTo(at, end, 4, () => {
          const token = f.let(work.i32.load(at));
          f.if(i32.lt_u(token, given.vocabulary), () => {
            body(f.let(i32.add(given.counts, i32.mul(token, 4))), token);
          });
        });
      };
      eachRecent((counter) => f.do(work.i32.store(counter, i32.add(work.i32.load(counter), 1))));
      eachRecent((counter, token) => {
        const times = f.let(work.i32.load(counter));
        f.if(times, () => {
          f.do(work.i32.store(counter, 0));
          const place = f.let(logitAt(logits, token));
          const before = f.let(work.f32.load(place));
          // What is no number, or infinite, stays that.
          f.if(f32.lt(before, Infinity), () => {
            const logit = f.let(f64.promote_f32(before));
            const penalty = f.let(f64.promote_f32(option(options, "repeatPenalty")));
            f.if(
              f32.gt(before, 0),
              () => f.set(logit, f64.div(logit, penalty)),
              () => f.set(logit, f64.mul(logit, penalty)),
            );
            const frequency = f64.promote_f32(option(options, "frequencyPenalty"));
            const presence = f64.promote_f32(option(options, "presencePenalty"));
            const less = f64.add(f64.mul(frequency, f64.convert_i32_u(times)), presence);
            const bounded = f64.max(
              f64.min(f64.sub(logit, less), f64.const(GREATEST_LOGIT)),
              f64.const(-2 * GREATEST_LOGIT),
            );
            f.do(work.f32.store(place, f32.demote_f64(bounded)));
          });
        });
      });
    });
  });

  add(
    "survey",
    (f, given, first, last) =>
      forChunks(f, given, [first, last], (output, item, begin, end) => {
        const { slot, options, logits } = outputOf(f, given, output);
        const masked = f.let(has(options, "masked"));
        const words = i32.shr_u(i32.add(given.vocabulary, 31), 5);
        const mask = f.let(i32.add(given.mask, i32.mul(i32.mul(slot, words), 4)));
        const at = f.let(logitAt(logits, begin));
        const token = f.let(begin);
        const greatest = f.let(f32.const(NONE));
        const best = f.let(i32.const(NO_TOKEN));
        const isBroken = f.let(i32.const(0));
        const visit = (logit: Local<"f32">) => {
          f.if(i32.eqz(f32.lt(logit, Infinity)), () => f.set(isBroken, 1));
          const allowed = f.let(f32.gt(logit, -GREATEST_LOGIT));
          f.if(masked, () => {
            const word = work.i32.load(i32.add(mask, i32.mul(i32.shr_u(token, 5), 4)));
            f.set(allowed, i32.and(allowed, i32.and(i32.shr_u(word, i32.and(token, 31)), 1)));
          });
          f.if(
            allowed,
            () => f.set(logit, f32.min(logit, GREATEST_LOGIT)),
            () => f.set(logit, NONE),
          );
          f.do(work.f32.store(at, logit));
          f.if(f32.gt(logit, greatest), () => {
            f.set(greatest, logit);
            f.set(best, token);
          });
          f.increase(at, 4);
          f.increase(token, 1);
        };
        const scalars = (until: Local<"i32">) =>
          f.while(i32.lt_u(token, until), () => visit(f.let(work.f32.load(at))));
        // Four tokens at a time, of which nearly always none is better than those before.
        const bits = lanesOf(f, [1, 2, 4, 8]);
        const candidates = f.local("v128");
        f.while(i32.le_u(i32.add(token, 4), end), () => {
          const values = f.let(work.v128.load(at));
          f.set(candidates, values);
          f.if(masked, () => {
            const word = work.i32.load(i32.add(mask, i32.mul(i32.shr_u(token, 5), 4)));
            const four = i32x4.splat(i32.shr_u(word, i32.and(token, 31)));
            const allowed = i32x4.eq(v128.and(four, bits), bits);
            f.set(candidates, v128.bitselect(values, lanes(f, Float32Array.of(NONE)), allowed));
          });
          const tooGreat = v128.not(f32x4.lt(values, lanes(f, Float32Array.of(GREATEST_LOGIT))));
          const isBetter = f32x4.gt(candidates, f32x4.splat(greatest));
          const tooSmall = v128.not(f32x4.gt(values, lanes(f, Float32Array.of(-GREATEST_LOGIT))));
          f.if(v128.any_true(v128.or(v128.or(tooGreat, tooSmall), isBetter)), () => {
            const until = f.let(i32.add(token, 4));
            scalars(until);
          }, () => {
            f.if(masked, () => f.do(work.v128.store(at, candidates)));
            f.increase(at, 16);
            f.increase(token, 4);
          });
        });
        scalars(end);
        const survey = f.let(i32.add(given.surveys, i32.mul(item, SURVEY_BYTES)));
        f.do(
          work.f32.store(survey, greatest),
          work.i32.store(survey, best, 4),
          work.i32.store(survey, isBroken, 8),
        );
      }),
  );

  add(
    "count",
    (f, given, first, last) =>
      forChunks(f, given, [first, last], (output, item, begin, end) => {
        const { options, logits } = outputOf(f, given, output);
        f.if(i32.and(isStochastic(options), isCut(options)), () => {
          const { greatest } = readSurveys(f, given, output);
          const counts = f.let(i32.add(given.histograms, i32.mul(item, HISTOGRAM_BYTES)));
          countLogits(f, work, { logits, greatest }, { begin, end, counts });
        });
      }),
  );

  add("cut", (f, given, first, last) =>
    forItems(f, first, last, (lane) => {
      const output = f.let(lane);
      const found = f.let(i32.add(given.found, i32.mul(i32.mul(lane, given.vocabulary), 8)));
      f.while(i32.lt_u(output, given.outputs), () => {
        const { options, logits } = outputOf(f, given, output);
        const cut = f.let(i32.add(given.cuts, i32.mul(output, CUT_BYTES)));
        const { greatest, isNone } = readSurveys(f, given, output);
        const least = f.let(f64.const(-Infinity));
        const minP = f.let(option(options, "minP"));
        f.if(f32.gt(minP, 0), () => {
          f.set(least, f64.add(f64.promote_f32(greatest), logarithm(f, f64.promote_f32(minP))));
        });
        f.do(
          work.f64.store(cut, least),
          work.i32.store(cut, NO_TOKEN, 8),
          work.f32.store(cut, -GREATEST_LOGIT, 12),
        );
        const applies = i32.and(isStochastic(options), i32.and(isCut(options), i32.eqz(isNone)));
        f.if(applies, () => {
          const bytes = f.let(i32.mul(given.chunks, HISTOGRAM_BYTES));
          const counts = f.let(i32.add(given.histograms, i32.mul(output, bytes)));
          addHistograms(f, work, counts, f.let(i32.add(counts, bytes)));
          const { vocabulary } = given;
          const bins = { counts, greatest, logits, found, vocabulary };
          // The share of the probability is one of what top_k has left.
          const total = f.let(f64.const(0));
          const topK = f.let(has(options, "topK"));
          const isBounded = f.let(i32.const(0));
          f.if(topK, () => {
            const goal = f.let(f64.convert_i32_u(topK));
            f.set(isBounded, findCut(f, work, bins, { kind: "count", goal, total, cut }));
          });
          f.if(i32.eqz(isBounded), () => f.set(total, sumOfWeights(f, work, counts)));
          const topP = f.let(option(options, "topP"));
          f.if(f32.lt(topP, 1), () => {
            const goal = f.let(f64.mul(f64.promote_f32(topP), total));
            findCut(f, work, bins, { kind: "weight", goal, total, cut });
          });
        });
        f.increase(output, given.lanes);
      });
    }));

  add(
    "draw",
    (f, given, first, last) =>
      forChunks(f, given, [first, last], (output, item, begin, end) => {
        const { row, options, logits } = outputOf(f, given, output);
        f.if(isStochastic(options), () => {
          const { greatest, token: best } = readSurveys(f, given, output);
          const cut = f.let(i32.add(given.cuts, i32.mul(output, CUT_BYTES)));
          const [minimum, lastToken] = [
            f.let(work.f64.load(cut)),
            f.let(work.i32.load(cut, 8)),
          ];
          const cutLogit = f.let(work.f32.load(cut, 12));
          const temperature = f.let(option(options, "temperature"));
          const random = {
            position: f.let(work.i32.load(row, 4)),
            low: f.let(work.i32.load(options, OPTION.seed)),
            high: f.let(work.i32.load(options, OPTION.seed + 4)),
          };
          const chosen = f.let(i32.const(NO_TOKEN));
          const score = f.let(f64.const(-Infinity));
          const peak = f.let(f64.promote_f32(greatest));
          const slope = f.let(f64.promote_f32(temperature));
          const words = [0, 1, 2, 3].map(() => f.local("i32"));
          const counter = f.let(i32.const(-1));
          /** Looks at a token whose random word is known. */
          const consider = (token: I32, logit: Local<"f32">, word: Expression<"i32">) => {
            const scaled = f64.div(f64.sub(f64.promote_f32(logit), peak), slope);
            const own = f.let(f64.add(scaled, gumbel(f, word)));
            f.if(f64.gt(own, score), () => {
              f.set(score, own);
              f.set(chosen, token);
            });
          };
          const draw = (number: Expression<"i32">) => {
            f.set(counter, number);
            philox(f, { ...random, number: counter }, words);
          };
          // The best token is always kept: no other wins without a better score. It is considered here
          // for that alone, and counts where it stands.
          draw(i32.shr_u(best, 2));
          for (let lane = 0; lane < 4; lane++) {
            f.if(i32.eq(i32.and(best, 3), lane), () => consider(best, greatest, words[lane]));
          }
          const bound = f.let(f32.const(0));
          const setBound = () => f.set(bound, boundOf(f, score));
          setBound();
          const token = f.let(begin);
          f.forUpTo(token, end, 4, () => {
            const values = f.let(loadLogits(work, f, logits, token, end));
            const isKept = f32x4.ge(values, f32x4.splat(cutLogit));
            f.if(v128.any_true(isKept), () => {
              const difference = f32x4.sub(values, f32x4.splat(greatest));
              const chances = f.let(
                exponential(f, f.let(f32x4.div(difference, f32x4.splat(temperature)))),
              );
              // A word is at most 2^32 - 1: half a step below one.
              const least = f32x4.mul(f32x4.splat(bound), lanes(f, Float32Array.of(2 ** -33)));
              f.if(v128.any_true(v128.and(f32x4.ge(chances, least), isKept)), () => {
                draw(i32.shr_u(token, 2));
                for (let lane = 0; lane < 4; lane++) {
                  const rest = f64.sub(f64.const(2 ** 32 - 0.5), f64.convert_i32_u(words[lane]));
                  const needed = f64.mul(
                    f64.mul(rest, f64.const(2 ** -32)),
                    f64.promote_f32(bound),
                  );
                  const chance = f64.promote_f32(f32x4.extract_lane(chances, lane));
                  f.if(f64.ge(chance, needed), () => {
                    const logit = f.let(f32x4.extract_lane(values, lane));
                    const own = f.let(i32.add(token, lane));
                    const isLast = i32.and(f32.eq(logit, cutLogit), i32.le_u(own, lastToken));
                    const isIn = i32.or(f32.gt(logit, cutLogit), isLast);
                    const isLikely = i32.or(
                      f64.ge(f64.promote_f32(logit), minimum),
                      f32.eq(logit, greatest),
                    );
                    f.if(i32.and(isIn, isLikely), () => {
                      consider(own, logit, words[lane]);
                      setBound();
                    });
                  });
                }
              });
            });
          });
          const to = f.let(i32.add(given.draws, i32.mul(item, DRAW_BYTES)));
          f.do(work.f64.store(to, score), work.i32.store(to, chosen, 8));
        });
      }),
  );

  add("choose", (f, given, first, last) =>
    forItems(f, first, last, (output) => {
      const { row, slot, options } = outputOf(f, given, output);
      const { token, isNone } = readSurveys(f, given, output);
      f.if(isStochastic(options), () => {
        const score = f.let(f64.const(-Infinity));
        const at = f.let(i32.add(given.draws, i32.mul(i32.mul(output, given.chunks), DRAW_BYTES)));
        const end = f.let(i32.add(at, i32.mul(given.chunks, DRAW_BYTES)));
        f.forUpTo(at, end, DRAW_BYTES, () => {
          const own = f.let(work.f64.load(at));
          const drawn = f.let(work.i32.load(at, 8));
          // Of equal scores that of the lower token; chunks repeat the best token's.
          const isBetter = i32.or(
            f64.gt(own, score),
            i32.and(f64.eq(own, score), i32.lt_u(drawn, token)),
          );
          f.if(isBetter, () => {
            f.set(score, own);
            f.set(token, drawn);
          });
        });
      });
      f.if(isNone, () => f.set(token, NO_TOKEN));
      f.do(work.i32.store(i32.add(given.sampled, i32.mul(output, 4)), token));
      f.if(isNone, () => f.set(token, 0));
      const to = f.let(i32.add(given.slots, i32.mul(slot, 8)));
      f.do(work.i32.store(to, token), work.i32.store(to, i32.add(work.i32.load(row, 4), 1), 4));
    }));
}

/**
 * A bit less than e to the power of a score: a word w has a variate of more than g only where
 * (2^32 - w) / 2^32 is at most e to the power of -g.
 */
function boundOf(f: FunctionBuilder, score: Local<"f64">): Expression<"f32"> {
  const power = exponential(f, f.let(f32x4.splat(f32.demote_f64(score))));
  return f32.mul(f32x4.extract_lane(power, 0), 1 - 1e-4);
}
