// The filters of kernels/ops/filters in WebAssembly, in doubles. What they need of an output is kept
// behind its cut: for each filter whether it is on, then its totals, as doubles.

import type { Arithmetic } from "../../ops/filters/filter.ts";
import { FILTERS } from "../../ops/filters/list.ts";
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
import { GREATEST_LOGIT } from "./cut.ts";
import { philox } from "./random.ts";

/** Bytes of an output. */
export const FILTER_BYTES = 8 * FILTERS.reduce((sum, { totals }) => sum + 1 + totals.length, 0);

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

  /**
   * Reads what the first filters need, once for all tokens of an output. The result sets `kept` to 0 if
   * one of them drops a token of a relative logit.
   */
  const keeper = (count = FILTERS.length) => {
    const first = FILTERS.slice(0, count).map(({ keeps }, index) => {
      const on = f.let(isOn(index));
      const totals = totalsOf(index).map((total) => f.let(total));
      return { on, keeps: (relative: Local<"f64">) => keeps(bound[index]!.m, relative, totals) };
    });
    return (kept: Local<"i32">, relative: Local<"f64">) => {
      for (const { on, keeps } of first) {
        f.if(i32.and(kept, on), () => f.set(kept, keeps(relative)));
      }
    };
  };

  /** Finds what the filters need, of the tokens that `isIn` a cut. */
  const prepare = (
    { logits, greatest, vocabulary }: {
      logits: Local<"i32">;
      greatest: Local<"f32">;
      vocabulary: Local<"i32">;
    },
    isIn: (logit: Local<"f32">, token: Local<"i32">) => Expression<"i32">,
  ) => {
    for (const [index, filter] of FILTERS.entries()) {
      const { m, offset } = bound[index]!;
      f.do(work.f64.store(at, f64.convert_i32_u(filter.isOn(m)), offset));
      if (filter.totals.length === 0) continue;
      f.if(isOn(index), () => {
        for (const [number, total] of filter.totals.entries()) {
          const before = totalsOf(index, number);
          const to = offset + 8 * (1 + number);
          if (total.kind === "value") {
            f.do(work.f64.store(at, total.of(m, before), to));
            continue;
          }
          const keep = keeper(index);
          const sum = f.let(f64.const(0));
          const token = f.let(i32.const(0));
          f.forUpTo(token, vocabulary, 1, () => {
            const logit = f.let(work.f32.load(i32.add(logits, i32.mul(token, 4))));
            const kept = f.let(i32.and(f32.gt(logit, -GREATEST_LOGIT), isIn(logit, token)));
            const relative = f.let(f64.sub(f64.promote_f32(logit), f64.promote_f32(greatest)));
            keep(kept, relative);
            f.if(kept, () => f.set(kept, total.of(m, relative, before)));
            f.if(kept, () => {
              if (total.kind === "least") return f.set(sum, f64.min(sum, relative));
              const powers = exponential(f, f.let(f32x4.splat(f32.demote_f64(relative))));
              f.set(sum, f64.add(sum, f64.promote_f32(f32x4.extract_lane(powers, 0))));
            });
          });
          f.do(work.f64.store(at, sum, to));
        }
      });
    }
  };
  return { prepare, keeper };
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
    multiply: (a, b) => f64.mul(a, b),
    ln: (value) => logarithm(f, value),
    atLeast: (a, b) => f64.ge(a, b),
    not: (condition) => i32.eqz(condition),
  };
}
