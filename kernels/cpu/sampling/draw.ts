// The draw of a token, in chunks of the vocabulary: the greatest logit / temperature + Gumbel
// variate (in doubles) among the tokens that the cut keeps. A variate is only computed if the
// random word can be large enough.

import { NO_TOKEN } from "../../ops/sampling/options.ts";
import { SAMPLING, STEP_ROW } from "../../ops/step_records.ts";
import { exponential } from "../activate/kernel.ts";
import { lanes } from "../formats/scales.ts";
import { loadLogits } from "./cut.ts";
import { filtersIn } from "./filters.ts";
import { addSamplerKernel, CUT_BYTES, DRAW_BYTES, outputsIn } from "./outputs.ts";
import { gumbel, philox } from "./random.ts";
import {
  type Expression,
  f32,
  f32x4,
  f64,
  type FunctionBuilder,
  type I32,
  i32,
  type Local,
  type Memory,
  type ModuleBuilder,
  v128,
} from "../wasm/mod.ts";

/** Adds `draw`, over chunks of outputs. */
export function addDraw(module: ModuleBuilder, work: Memory): void {
  const { outputOf, isStochastic, forChunks, readSurveys } = outputsIn(work);

  addSamplerKernel(
    module,
    work,
    "draw",
    (f, given, first, last) =>
      forChunks(f, given, [first, last], (output, item, begin, end) => {
        const { row, options, logits } = outputOf(f, given, output);
        f.if(isStochastic(options), () => {
          const { greatest, token: best } = readSurveys(f, given, output);
          const cut = f.let(i32.add(given.cuts, i32.mul(output, CUT_BYTES)));
          const lastToken = f.let(work.i32.load(cut));
          const cutLogit = f.let(work.f32.load(cut, 4));
          const filters = { at: f.let(i32.add(cut, 8)), row, options };
          const filter = filtersIn(f, work, filters);
          const keep = filter.keeper();
          const temperature = f.let(f32.demote_f64(filter.temperature()));
          const random = {
            position: f.let(work.i32.load(row, STEP_ROW.byte.position)),
            low: f.let(work.i32.load(options, SAMPLING.byte.seed)),
            high: f.let(work.i32.load(options, SAMPLING.byte.seed + 4)),
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
          // Where the best token is kept, no other wins without a better score. It is considered here for
          // that alone, and counts where it stands.
          const isBestKept = f.let(i32.const(1));
          keep(isBestKept, f.let(f64.const(0)));
          f.if(isBestKept, () => {
            draw(i32.shr_u(best, 2));
            for (let lane = 0; lane < 4; lane++) {
              f.if(i32.eq(i32.and(best, 3), lane), () => consider(best, greatest, words[lane]));
            }
          });
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
              // A word is at most 2^32 - 1, which gives a number half a step below one.
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
                    const kept = f.let(isIn);
                    keep(kept, f.let(f64.sub(f64.promote_f32(logit), peak)));
                    f.if(kept, () => {
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
}

/**
 * A bit less than e to the power of a score: a word w has a variate of more than g only where
 * (2^32 - w) / 2^32 is at most e to the power of -g.
 */
function boundOf(f: FunctionBuilder, score: Local<"f64">): Expression<"f32"> {
  const power = exponential(f, f.let(f32x4.splat(f32.demote_f64(score))));
  return f32.mul(f32x4.extract_lane(power, 0), 1 - 1e-4);
}
