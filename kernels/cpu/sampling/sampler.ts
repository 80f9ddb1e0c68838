// Sampling: the memory of a sampler on the host's side, and its kernels in WebAssembly one after
// the other, as kernels/ops/sampling/reference.ts has them: penalties, biases, a survey of the logits, the
// cut (cut.ts), the draw (draw.ts), and the choice among its chunks.

import type { Allocator, Buffer } from "../../operation.ts";
import type { SamplerOptions, SamplingNeeds } from "../../ops/sampling/mod.ts";
import { BIAS_WORDS, NO_TOKEN } from "../../ops/sampling/options.ts";
import { SLOT_TOKEN, STEP_ROW } from "../../ops/step_records.ts";
import type { CpuCore } from "../core.ts";
import { keepCalls } from "../kept_calls.ts";
import { lanes } from "../formats/scales.ts";
import { forItems, inOrder } from "../kernel.ts";
import { cpu } from "../memory.ts";
import { workModule } from "../modules.ts";
import {
  f32,
  f32x4,
  f64,
  i32,
  i32x4,
  type Local,
  type Memory,
  type ModuleBuilder,
  v128,
} from "../wasm/mod.ts";
import {
  addHistograms,
  countLogits,
  findCut,
  GREATEST_LOGIT,
  HISTOGRAM_BYTES,
  isCandidate,
  type IsLeft,
  lanesOf,
  NONE,
  sumOfWeights,
} from "./cut.ts";
import { addDraw } from "./draw.ts";
import { EARLY_FILTERS } from "../../ops/filters/list.ts";
import { filtersIn } from "./filters.ts";
import {
  addSamplerKernel,
  type Build,
  CHUNK,
  CUT_BYTES,
  DRAW_BYTES,
  logitAt,
  outputsIn,
  SAMPLER_ARGUMENTS,
  SURVEY_BYTES,
} from "./outputs.ts";

/** Cuts that are computed at the same time: each lists candidates in memory of its own. */
const MOST_LANES = 4;

/** A sampler: `run` chooses a token for each of the first outputs; `buffers` are its own memory. */
export function createSampler(
  core: CpuCore,
  allocator: Allocator,
  { buffers, vocabulary, context, outputs: mostOutputs }: SamplerOptions,
): { run(outputs: number, needs: SamplingNeeds): void; buffers: Buffer[] } {
  const chunks = Math.ceil(vocabulary / CHUNK);
  const mostLanes = Math.min(mostOutputs, MOST_LANES);
  const allocate = (name: string, bytes: number) =>
    allocator.buffer(`sampler ${name}`, bytes, "scratch");
  const own = {
    surveys: allocate("surveys", mostOutputs * chunks * SURVEY_BYTES),
    histograms: allocate("histograms", mostOutputs * chunks * HISTOGRAM_BYTES),
    cuts: allocate("cuts", mostOutputs * CUT_BYTES),
    draws: allocate("draws", mostOutputs * chunks * DRAW_BYTES),
    counts: allocate("counts", vocabulary * 4),
    found: allocate("found", mostLanes * vocabulary * 8),
  };
  const { outputs: outputRows, ...others } = buffers;
  const addresses = Object.fromEntries(
    Object.entries({ ...others, outputRows, ...own }).map(([name, buffer]) =>
      [name, cpu(buffer).address] as const
    ),
  ) as Record<keyof typeof others | keyof typeof own | "outputRows", number>;
  const kernels = core.kernels("sampling", () => workModule(addSampling));
  const run = keepCalls(core, (outputs: number, ...needs: [number, number, number]) => {
    const [penalties, biases, stochastic] = needs;
    const lanes = Math.min(outputs, mostLanes);
    const words = inOrder(SAMPLER_ARGUMENTS, {
      ...addresses,
      ...{ vocabulary, outputs, context, chunks, lanes },
    });
    const phase = (name: string, items: number) => [{ kernels, name, arguments: words, items }];
    return [
      ...penalties ? [phase("penalize", 1)] : [],
      ...biases ? [phase("bias", outputs)] : [],
      phase("survey", outputs * chunks),
      ...stochastic
        ? [
          phase("count", outputs * chunks),
          phase("cut", lanes),
          phase("draw", outputs * chunks),
        ]
        : [],
      phase("choose", outputs),
    ];
  });
  return {
    buffers: Object.values(own),
    run: (outputs, { penalties, biases, stochastic }) =>
      run(outputs, Number(penalties), Number(biases), Number(stochastic)),
  };
}

/** Adds `penalize` (one item), `bias`, `survey`, `count`, `cut`, `draw` and `choose`, all over outputs. */
function addSampling(module: ModuleBuilder, work: Memory): void {
  const { outputOf, option, has, isStochastic, isCut, forChunks, readSurveys } = outputsIn(work);
  const add = (name: string, build: Build) => addSamplerKernel(module, work, name, build);

  add("penalize", (f, given) => {
    const output = f.let(i32.const(0));
    f.forUpTo(output, given.outputs, 1, () => {
      const { row, slot, options, logits } = outputOf(f, given, output);
      const position = f.let(i32.add(work.i32.load(row, STEP_ROW.byte.position), 1));
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
          const address = f.let(logitAt(logits, token));
          const before = f.let(work.f32.load(address));
          // NaN and infinity stay what they are.
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
            f.do(work.f32.store(address, f32.demote_f64(bounded)));
          });
        });
      });
    });
  });

  add("bias", (f, given, first, last) =>
    forItems(f, first, last, (output) => {
      const { slot, logits } = outputOf(f, given, output);
      const list = f.let(i32.add(given.biases, i32.mul(slot, 4 * BIAS_WORDS)));
      const at = f.let(i32.add(list, 8));
      const end = f.let(i32.add(at, i32.mul(work.i32.load(list), 8)));
      f.forUpTo(at, end, 8, () => {
        const token = f.let(work.i32.load(at));
        f.if(i32.lt_u(token, given.vocabulary), () => {
          const address = f.let(logitAt(logits, token));
          f.do(work.f32.store(address, f32.add(work.f32.load(address), work.f32.load(at, 4))));
        });
      });
    }));

  add(
    "survey",
    (f, given, first, last) =>
      forChunks(f, given, [first, last], (output, item, begin, end) => {
        const { options, logits } = outputOf(f, given, output);
        const masked = f.let(has(options, "masked"));
        const words = i32.shr_u(i32.add(given.vocabulary, 31), 5);
        const mask = f.let(i32.add(given.mask, i32.mul(i32.mul(output, words), 4)));
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
        // Four tokens at a time: nearly always none of them is better than the best one so far.
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
        const { row, options, logits } = outputOf(f, given, output);
        const cut = f.let(i32.add(given.cuts, i32.mul(output, CUT_BYTES)));
        const { greatest, isNone } = readSurveys(f, given, output);
        f.do(work.i32.store(cut, NO_TOKEN), work.f32.store(cut, -GREATEST_LOGIT, 4));
        const bytes = f.let(i32.mul(given.chunks, HISTOGRAM_BYTES));
        const counts = f.let(i32.add(given.histograms, i32.mul(output, bytes)));
        const bins = { counts, greatest, logits, found, vocabulary: given.vocabulary };
        const total = f.let(f64.const(0));
        const isBounded = f.let(i32.const(0));
        const applies = i32.and(isStochastic(options), i32.and(isCut(options), i32.eqz(isNone)));
        f.if(applies, () => {
          addHistograms(f, work, counts, f.let(i32.add(counts, bytes)));
          const topK = f.let(has(options, "topK"));
          f.if(topK, () => {
            const goal = f.let(f64.convert_i32_u(topK));
            f.set(isBounded, findCut(f, work, bins, { kind: "count", goal, total, cut }));
          });
          f.if(i32.eqz(isBounded), () => f.set(total, sumOfWeights(f, work, counts)));
        });
        f.if(i32.and(isStochastic(options), i32.eqz(isNone)), () => {
          const { vocabulary } = given;
          const at = f.let(i32.add(cut, 8));
          const filters = filtersIn(f, work, { at, row, options });
          const of = { logits, greatest, vocabulary, found };
          const lastToken = f.local("i32");
          const cutLogit = f.local("f32");
          const readCut = () => {
            f.set(lastToken, work.i32.load(cut));
            f.set(cutLogit, work.f32.load(cut, 4));
          };
          const isIn = (logit: Local<"f32">, token: Local<"i32">) =>
            i32.or(
              f32.gt(logit, cutLogit),
              i32.and(f32.eq(logit, cutLogit), i32.le_u(token, lastToken)),
            );
          readCut();
          filters.prepareEarly(of, isIn);
          const topP = f.let(option(options, "topP"));
          // top_p is a share of the probability that is left.
          f.if(f32.lt(topP, 1), () => {
            const cutAt = (isLeft: IsLeft) => {
              const goal = f.let(f64.mul(f64.promote_f32(topP), total));
              findCut(f, work, bins, { kind: "weight", goal, total, cut, isLeft });
            };
            f.if(filters.isEarlyOn(), () => {
              const keep = filters.keeper(EARLY_FILTERS);
              const kept = f.local("i32");
              const isLeft: IsLeft = (logit, token) => {
                f.set(kept, i32.and(f32.gt(logit, -GREATEST_LOGIT), isIn(logit, token())));
                keep(kept, f.let(f64.sub(f64.promote_f32(logit), f64.promote_f32(greatest))));
                return kept;
              };
              const begin = f.let(i32.const(0));
              countLogits(f, work, of, { begin, end: vocabulary, counts }, isLeft);
              f.set(total, sumOfWeights(f, work, counts));
              cutAt(isLeft);
            }, () => cutAt(isCandidate));
          });
          readCut();
          filters.prepareLate(of, isIn);
        });
        f.increase(output, given.lanes);
      });
    }));

  addDraw(module, work);

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
          // Of equal scores the lower token wins; several chunks may report the best token.
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
      const to = f.let(i32.add(given.slots, i32.mul(slot, SLOT_TOKEN.bytes)));
      const position = i32.add(work.i32.load(row, STEP_ROW.byte.position), 1);
      f.do(
        work.i32.store(to, token, SLOT_TOKEN.byte.token),
        work.i32.store(to, position, SLOT_TOKEN.byte.position),
      );
    }));
}
