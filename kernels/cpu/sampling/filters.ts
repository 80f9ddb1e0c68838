// The filters of kernels/ops/filters in WebAssembly, in doubles. What they need of an output is kept
// behind its cut: for each filter whether it is on, then its totals, and at the end the temperature of the
// draw, as doubles.

import type { Arithmetic, Total } from "../../ops/filters/filter.ts";
import { EARLY_FILTERS, FILTERS } from "../../ops/filters/list.ts";
import { SAMPLING, STEP_ROW } from "../../ops/step_records.ts";
import { exponential, logarithm } from "../activate/kernel.ts";
import {
  type Expression,
  f32,
  f32x4,
  f64,
  type FunctionBuilder,
  i32,
  type Local,
  type Memory,
} from "../wasm/mod.ts";
import { GREATEST_LOGIT, type Logits } from "./cut.ts";
import { philox } from "./random.ts";

/** Where the temperature is, after all filters. */
const TEMPERATURE = 8 * FILTERS.reduce((sum, { totals }) => sum + 1 + totals.length, 0);

/** Bytes of an output. */
export const FILTER_BYTES = TEMPERATURE + 8;

/** The bits of the greatest float. */
const GREATEST_BITS = 0x7f7fffff;

/** An output, whose filters begin at `at`. */
interface FilteredOutput {
  readonly at: Local<"i32">;
  readonly row: Local<"i32">;
  readonly options: Local<"i32">;
}

interface BoundFilter {
  readonly m: Arithmetic<Expression<"f64">, Expression<"i32">>;
  readonly offset: number;
}

/** Sets `kept` to 0 if a filter drops a token of a relative logit. */
export type Keeper = (kept: Local<"i32">, relative: Local<"f64">) => void;

/** Code that prepares and runs all filters. */
export function filtersIn(f: FunctionBuilder, work: Memory, output: FilteredOutput) {
  const { at, row, options } = output;
  let end = 0;
  const bound = FILTERS.map(({ totals }, index): BoundFilter => {
    const offset = end;
    end += 8 * (1 + totals.length);
    return { m: arithmetic(f, work, row, options, index), offset };
  });
  const load = (offset: number) => work.f64.load(at, offset);
  const totalsOf = (index: number, count = FILTERS[index]!.totals.length) =>
    Array.from({ length: count }, (_, total) => load(bound[index]!.offset + 8 * (1 + total)));
  const isOn = (index: number) => f64.gt(load(bound[index]!.offset), f64.const(0));

  /** Reads what the first filters need, once for all tokens of an output. */
  const keeper = (count = FILTERS.length): Keeper => {
    const first = FILTERS.slice(0, count).flatMap(({ keeps }, index) => {
      if (!keeps) return [];
      const on = f.let(isOn(index));
      const totals = totalsOf(index).map((total) => f.let(total));
      return [{ on, keeps: (relative: Local<"f64">) => keeps(bound[index]!.m, relative, totals) }];
    });
    return (kept, relative) => {
      for (const { on, keeps } of first) {
        f.if(i32.and(kept, on), () => f.set(kept, keeps(relative)));
      }
    };
  };

  /** Finds what some filters need, of the tokens that `isIn` a cut, which are listed at `found`. */
  const prepare = (
    { logits, greatest, vocabulary, found }: Logits & { found: Local<"i32"> },
    isIn: (logit: Local<"f32">, token: Local<"i32">) => Expression<"i32">,
    first: number,
    end: number,
  ) => {
    const peak = f.let(f64.promote_f32(greatest));
    const relativeOf = (logit: Local<"f32">) => f.let(f64.sub(f64.promote_f32(logit), peak));
    const visit = f.local("f32");
    /** Runs `body` for every token that may come. */
    const eachAllowed = (
      body: (relative: Local<"f64">, token: Local<"i32">) => void,
      condition: typeof isIn = () => i32.const(1),
    ) => {
      const token = f.let(i32.const(0));
      f.forUpTo(token, vocabulary, 1, () => {
        f.set(visit, work.f32.load(i32.add(logits, i32.mul(token, 4))));
        f.if(
          i32.and(f32.gt(visit, -GREATEST_LOGIT), condition(visit, token)),
          () => body(relativeOf(visit), token),
        );
      });
    };
    const indices = Array.from({ length: end - first }, (_, index) => first + index);
    const anyOn = f.let(i32.const(0));
    for (const index of indices) {
      const { m, offset } = bound[index]!;
      f.do(work.f64.store(at, f64.convert_i32_u(FILTERS[index]!.isOn(m)), offset));
      if (needsTokens(FILTERS[index]!.totals)) f.set(anyOn, i32.or(anyOn, isOn(index)));
    }
    const listEnd = f.let(found);
    f.if(anyOn, () =>
      eachAllowed((relative) => {
        f.do(work.f64.store(listEnd, relative));
        f.increase(listEnd, 8);
      }, isIn));
    for (const index of indices) {
      const { totals, temperature } = FILTERS[index]!;
      const { m, offset } = bound[index]!;
      f.if(isOn(index), () => {
        for (const [number, total] of totals.entries()) {
          const value = totalIn(f, m, total, totalsOf(index, number), {
            eachAllowed,
            eachLeft: (body) => {
              const keep = keeper(index);
              const place = f.let(found);
              f.forUpTo(place, listEnd, 8, () => {
                const relative = f.let(work.f64.load(place));
                const kept = f.let(i32.const(1));
                keep(kept, relative);
                f.if(kept, () => body(relative));
              });
            },
          });
          f.do(work.f64.store(at, value, offset + 8 * (1 + number)));
        }
        if (temperature) f.do(work.f64.store(at, temperature(m, totalsOf(index)), TEMPERATURE));
      });
    }
  };

  type Prepare = (of: Parameters<typeof prepare>[0], isIn: Parameters<typeof prepare>[1]) => void;
  /** Finds what the filters before top_p need. */
  const prepareEarly: Prepare = (of, isIn) => {
    const temperature = work.f32.load(options, SAMPLING.byte.temperature);
    f.do(work.f64.store(at, f64.promote_f32(temperature), TEMPERATURE));
    prepare(of, isIn, 0, EARLY_FILTERS);
  };
  /** Finds what the others need. */
  const prepareLate: Prepare = (of, isIn) => prepare(of, isIn, EARLY_FILTERS, FILTERS.length);
  /** Whether a filter before top_p is on. */
  const isEarlyOn = () =>
    Array.from({ length: EARLY_FILTERS }, (_, index) => isOn(index))
      .reduce((any, one) => i32.or(any, one), i32.const(0));
  const temperature = () => load(TEMPERATURE);
  return { prepareEarly, prepareLate, isEarlyOn, keeper, temperature };
}

/** Whether a number of the tokens is needed. */
function needsTokens(totals: readonly Total[]): boolean {
  return totals.some((total) => total.kind !== "value" && !(total.kind === "sum" && total.ofAll));
}

/** Code that finds a total. */
function totalIn(
  f: FunctionBuilder,
  m: BoundFilter["m"],
  total: Total,
  before: readonly Expression<"f64">[],
  { eachAllowed, eachLeft }: Record<
    "eachAllowed" | "eachLeft",
    (body: (relative: Local<"f64">) => void) => void
  >,
): Expression<"f64"> {
  switch (total.kind) {
    case "value":
      return total.of(m, before);
    case "sum": {
      const sum = f.let(f64.const(0));
      const each = total.ofAll ? eachAllowed : eachLeft;
      each((relative) => f.set(sum, f64.add(sum, total.of(m, relative, before))));
      return sum;
    }
    case "least": {
      const least = f.let(f64.const(0));
      eachLeft((relative) =>
        f.if(total.of(m, relative, before), () => f.set(least, f64.min(least, relative)))
      );
      return least;
    }
    case "reach": {
      // Floats of 0 and above have the order of their bits.
      const bitsOf = (relative: Local<"f64">) =>
        i32.reinterpret_f32(f32.demote_f64(total.of(m, relative, before)));
      const goal = f.let(total.goal(m, before));
      const [low, high] = [f.let(i32.const(0)), f.let(i32.const(GREATEST_BITS))];
      const sum = f.local("f64");
      f.while(i32.lt_u(low, high), () => {
        const middle = f.let(i32.add(low, i32.shr_u(i32.sub(high, low), 1)));
        f.set(sum, f64.const(0));
        eachLeft((relative) =>
          f.if(i32.le_u(bitsOf(relative), middle), () => f.set(sum, f64.add(sum, m.exp(relative))))
        );
        f.if(
          f64.ge(sum, goal),
          () => f.set(high, middle),
          () => f.set(low, i32.add(middle, 1)),
        );
      });
      // The greatest number that becomes this float.
      const reached = f.let(f64.const(0));
      eachLeft((relative) =>
        f.if(
          i32.le_u(bitsOf(relative), high),
          () => f.set(reached, f64.max(reached, total.of(m, relative, before))),
        )
      );
      return reached;
    }
  }
}

function arithmetic(
  f: FunctionBuilder,
  work: Memory,
  row: Local<"i32">,
  options: Local<"i32">,
  filter: number,
): BoundFilter["m"] {
  return {
    constant: (value) => f64.const(value),
    option: (name) =>
      f64.promote_f32(work.f32.load(options, SAMPLING.byte[name as keyof typeof SAMPLING.byte])),
    random: () => {
      const words = [0, 1, 2, 3].map(() => f.local("i32"));
      const position = f.let(work.i32.load(row, STEP_ROW.byte.position));
      const low = f.let(work.i32.load(options, SAMPLING.byte.seed));
      const high = f.let(work.i32.load(options, SAMPLING.byte.seed + 4));
      const number = f.let(i32.const(0));
      philox(f, { position, number, low, high }, words, [1, filter]);
      return f64.mul(f64.convert_i32_u(words[0]!), f64.const(2 ** -32));
    },
    add: (a, b) => f64.add(a, b),
    subtract: (a, b) => f64.sub(a, b),
    multiply: (a, b) => f64.mul(a, b),
    divide: (a, b) => f64.div(a, b),
    greatest: (a, b) => f64.max(a, b),
    choose: (condition, yes, no) => {
      const chosen = f.let(no);
      f.if(condition, () => f.set(chosen, yes));
      return chosen;
    },
    exp: (value) => {
      const powers = exponential(f, f.let(f32x4.splat(f32.demote_f64(value))));
      return f64.promote_f32(f32x4.extract_lane(powers, 0));
    },
    ln: (value) => logarithm(f, value),
    atLeast: (a, b) => f64.ge(a, b),
    not: (condition) => i32.eqz(condition),
  };
}
