// Products of a token alone: some bands at a time, each from a long run of its own, of the whole matrix or
// of each expert that the token has.

import {
  type FunctionBuilder,
  i32,
  type Local,
  type Memory,
  type V128,
  v128,
} from "../wasm/mod.ts";
import { BAND } from "../formats/format.ts";
import type { Arguments } from "../kernel.ts";
import {
  finish,
  inputOf,
  OUTPUTS,
  PAIRS_ENTRY,
  type ProductArgument,
  SUM_BYTES,
  SUMS,
} from "./bands.ts";

/**
 * Adds code that goes through bands `first` to `last`, several at a time, from a long run of bands each. So
 * what is read of a token serves several bands, more of the weights is on its way from memory, and the CPU
 * reads every run ahead, which it does not do for short bands that take turns. What is left goes alone.
 */
function forRuns(
  f: FunctionBuilder,
  { first, last, runs }: { first: Local<"i32">; last: Local<"i32">; runs: number },
  multiply: (bands: readonly Local<"i32">[]) => void,
): void {
  const length = f.let(i32.div_u(i32.sub(last, first), runs));
  const band = f.let(first);
  const end = f.let(i32.add(first, length));
  f.while(i32.lt_u(band, end), () => {
    multiply(Array.from({ length: runs }, (_, i) => f.let(i32.add(band, i32.mul(length, i)))));
    f.increase(band, 1);
  });
  f.set(band, i32.add(first, i32.mul(length, runs)));
  f.while(i32.lt_u(band, last), () => {
    multiply([band]);
    f.increase(band, 1);
  });
}

/** A token, or a pair of a token and an expert, that is multiplied alone. */
interface Lone {
  /** Addresses of its input and of its results. */
  readonly x: Local<"i32">;
  readonly y: Local<"i32">;
  /** The address of the matrix or of the expert, and the number of its first band among all. */
  readonly weights: Local<"i32">;
  readonly firstOfAll: Local<"i32">;
}

/** Writes complete sums of a band to y. */
function finishLone(
  f: FunctionBuilder,
  memories: { work: Memory; panel: Memory },
  given: Arguments<ProductArgument>,
  { y, firstOfAll }: Lone,
  band: Local<"i32">,
  sums: readonly V128[],
): void {
  const { panel } = memories;
  const here = i32.const(0);
  f.do(
    ...sums.map((sum, quad) => panel.v128.store(here, sum, SUMS + 16 * quad)),
    panel.i32.store(here, i32.add(y, i32.mul(band, SUM_BYTES)), OUTPUTS),
  );
  const tokens = f.let(i32.const(1));
  const bandOfAll = f.let(i32.add(firstOfAll, band));
  finish(f, memories, given, { band, bandOfAll, tokens });
}

/**
 * Adds code that runs `body` for the bands of a token, or for those of each pair with an expert, of which
 * an expert has one at most.
 */
function forLones(
  f: FunctionBuilder,
  work: Memory,
  given: Arguments<ProductArgument>,
  { first, last }: { first: Local<"i32">; last: Local<"i32"> },
  body: (lone: Lone, first: Local<"i32">, last: Local<"i32">) => void,
): void {
  const bands = f.let(i32.shr_u(i32.add(given.rows, BAND - 1), Math.log2(BAND)));
  const lone = { x: f.let(given.x), y: f.let(given.y), weights: f.let(given.weights) };
  const firstOfAll = f.let(i32.const(0));
  const item = f.let(first);
  const [begin, end] = [f.let(first), f.let(last)];
  f.while(i32.lt_u(item, last), () => {
    const next = f.let(last);
    f.if(given.pairs, () => {
      const group = f.let(i32.div_u(item, bands));
      f.set(begin, i32.rem_u(item, bands));
      const whole = f.let(i32.add(item, i32.sub(bands, begin)));
      f.if(i32.lt_u(whole, next), () => f.set(next, whole));
      f.set(end, begin);
      f.if(i32.lt_u(group, work.i32.load(given.pairs)), () => {
        f.set(end, i32.add(begin, i32.sub(next, item)));
        const entry = f.let(i32.add(given.pairs, i32.mul(group, PAIRS_ENTRY)));
        const unit = f.let(work.i32.load(entry, 4));
        const pair = f.let(work.i32.load(work.i32.load(entry, 8)));
        f.set(lone.weights, i32.add(given.weights, i32.mul(unit, given.unitBytes)));
        f.set(firstOfAll, i32.mul(unit, bands));
        f.set(lone.x, i32.add(given.x, inputOf(f, given, pair, given)));
        f.set(lone.y, i32.add(given.y, i32.mul(pair, given.stride)));
      });
    });
    body({ ...lone, firstOfAll }, begin, end);
    f.set(item, next);
  });
}

/** A lone token with some bands: `x` is its address, and `end` that of the first band's end. */
export interface LoneBands {
  readonly x: Local<"i32">;
  readonly begins: readonly Local<"i32">[];
  readonly end: Local<"i32">;
  /** The sums, [2 * band + quad]. */
  readonly totals: readonly Local<"v128">[];
}

/**
 * Multiplies one token, with the whole matrix or with its experts, for an item's range of bands: `multiply`
 * adds to the sums.
 */
export function forLoneToken(
  f: FunctionBuilder,
  memories: { work: Memory; panel: Memory },
  given: Arguments<ProductArgument>,
  { blockBytes, runs, ...items }: {
    first: Local<"i32">;
    last: Local<"i32">;
    runs: number;
    blockBytes: number;
  },
  multiply: (bands: LoneBands) => void,
): void {
  const bandBytes = f.let(i32.mul(given.blocks, blockBytes));
  forLones(
    f,
    memories.work,
    given,
    items,
    (lone, first, last) =>
      forRuns(f, { first, last, runs }, (bands) => {
        const begins = bands.map((band) => f.let(i32.add(lone.weights, i32.mul(band, bandBytes))));
        const end = f.let(i32.add(begins[0], bandBytes));
        const totals = bands.flatMap(() => [0, 1].map(() => f.let(v128.const(new Uint8Array(16)))));
        multiply({ x: f.let(lone.x), begins, end, totals });
        bands.forEach((band, i) =>
          finishLone(f, memories, given, lone, band, totals.slice(2 * i, 2 * i + 2))
        );
      }),
  );
}
