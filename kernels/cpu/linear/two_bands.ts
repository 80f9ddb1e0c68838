// Products of float weights with many tokens, two bands at a time, where V8 joins vectors. A product of one
// band has as many sums as four tokens, too few: an addition takes four cycles, in which two more could
// begin in each. Experts and few tokens are multiplied by float_kernel.ts.

import {
  f32x4,
  type FunctionBuilder,
  i32,
  type Local,
  type Memory,
  shuffleLanes,
  v128,
} from "../wasm/mod.ts";
import { type FloatFormat, floatGroupBytes } from "../formats/floats.ts";
import { GROUP } from "../formats/format.ts";
import type { Arguments } from "../kernel.ts";
import {
  finish,
  INPUTS,
  listTokens,
  MOST_TOKENS,
  type ProductArgument,
  SECOND_SUMS,
  SUM_BYTES,
  SUMS,
  TILE_SUMS,
  type Totals,
} from "./bands.ts";
import type { ProductMemories } from "./tile.ts";

/** Tokens of a tile with two bands: registers hold 12 sums, a column's weights and one of its inputs. */
const TILE = 6;
/** Groups of the panel of two bands: with more, the code would not fit a first-level cache. */
const GROUPS = [4, 2, 1];

/**
 * Multiplies many tokens with two bands at a time. Weights are at constant addresses of the panel, so that
 * V8 joins the vectors of a band; six tokens with two bands have as many sums as additions are on their way
 * at once.
 */
export function multiplyManyTokens(
  f: FunctionBuilder,
  { work, weights, panel }: ProductMemories,
  format: FloatFormat,
  given: Arguments<ProductArgument>,
  { first, last }: { first: Local<"i32">; last: Local<"i32"> },
  hasMadd: boolean,
): void {
  const here = i32.const(0);
  const blockBytes = floatGroupBytes(format);
  const at = (group: number, column: number, i: number) => 64 * (GROUP * group + column) + 16 * i;
  forBandPairs(f, { work, panel }, given, { first, last, blockBytes }, ({ begins, tokens }) => {
    const from = begins.map((begin) => f.let(begin));
    const offset = f.let(i32.const(0));
    const isFirst = f.let(i32.const(1));
    const rest = f.let(given.blocks);
    for (const groups of GROUPS) {
      f.while(i32.ge_u(rest, groups), () => {
        const to = f.let(i32.const(0));
        f.forUpTo(to, at(groups, 0, 0), at(1, 0, 0), () => {
          from.forEach((address, band) => {
            for (let column = 0; column < GROUP; column++) {
              format.load(f, { memory: weights, address }, column).forEach((quad, q) =>
                f.do(panel.v128.store(to, quad, at(0, column, 2 * band + q)))
              );
            }
            f.increase(address, blockBytes);
          });
        });
        forPairTiles(f, panel, { tokens, offset, isFirst, size: TILE }, (inputs, totals) => {
          for (let group = 0; group < groups; group++) {
            for (let column = 0; column < GROUP; column += 4) {
              const values = inputs.map((x) =>
                f.let(work.v128.load(x, 4 * (GROUP * group + column)))
              );
              for (let lane = 0; lane < 4; lane++) {
                const columns = [0, 1, 2, 3].map((i) =>
                  f.let(panel.v128.load(here, at(group, column + lane, i)))
                );
                values.forEach((four, t) => {
                  const value = f.let(shuffleLanes(four, four, new Array(4).fill(lane)));
                  totals[t].forEach((total, i) =>
                    f.set(
                      total,
                      hasMadd
                        ? f32x4.relaxed_madd(columns[i], value, total)
                        : f32x4.add(total, f32x4.mul(columns[i], value)),
                    )
                  );
                });
              }
            }
          }
        });
        f.increase(offset, 4 * GROUP * groups);
        f.set(rest, i32.sub(rest, groups));
        f.set(isFirst, 0);
      });
    }
  });
}

/** Two bands and the tokens that they are multiplied with. */
interface BandPair {
  /** Beginnings of the bands; both are the same band where the last one is left alone. */
  readonly begins: readonly Local<"i32">[];
  readonly tokens: Local<"i32">;
}

/**
 * Adds code that loops over two bands at a time, without experts. `multiply` has to set all sums, by tiles
 * of tokens (forPairTiles).
 */
function forBandPairs(
  f: FunctionBuilder,
  memories: { work: Memory; panel: Memory },
  given: Arguments<ProductArgument>,
  { first, last, blockBytes }: { first: Local<"i32">; last: Local<"i32">; blockBytes: number },
  multiply: (share: BandPair) => void,
): void {
  const bandBytes = f.let(i32.mul(given.blocks, blockBytes));
  const none = f.let(i32.const(0));
  const band = f.let(first);
  f.forUpTo(band, last, 2, () => {
    const second = f.let(i32.add(band, 1));
    f.if(i32.ge_u(second, last), () => f.set(second, band));
    const begins = [band, second].map((of) =>
      f.let(i32.add(given.weights, i32.mul(of, bandBytes)))
    );
    const next = f.let(i32.const(0));
    const rest = f.let(given.tokens);
    f.while(rest, () => {
      const tokens = f.let(i32.const(MOST_TOKENS));
      f.if(i32.lt_u(rest, tokens), () => f.set(tokens, rest));
      const list = { pairs: none, next, tokens, isFew: tokens };
      listTokens(f, memories, given, { band, ...list });
      multiply({ begins, tokens });
      finish(f, memories, given, { band, bandOfAll: band, tokens });
      f.if(i32.ne(second, band), () => {
        listTokens(f, memories, given, { band: second, ...list });
        finish(f, memories, given, {
          band: second,
          bandOfAll: second,
          tokens,
          offset: SECOND_SUMS,
        });
      });
      f.increase(next, tokens);
      f.set(rest, i32.sub(rest, tokens));
    });
  });
}

/**
 * Adds tiles of `size` tokens with both bands of a pair, whose sums are at constant addresses from their
 * first load to their last store (see accumulateInPlace). If there are fewer tokens, the last one fills the
 * tile. `body` adds to the sums, [token][2 * band + quad].
 */
function forPairTiles(
  f: FunctionBuilder,
  panel: Memory,
  { tokens, offset, size, isFirst }: Record<"tokens" | "offset" | "isFirst", Local<"i32">> & {
    size: number;
  },
  body: (inputs: readonly Local<"i32">[], totals: Totals) => void,
): void {
  const here = i32.const(0);
  const list = f.let(i32.const(0));
  const end = f.let(i32.mul(tokens, 4));
  const last = f.let(i32.sub(end, 4));
  f.forUpTo(list, end, 4 * size, () => {
    const places = Array.from({ length: size }, (_, t) => {
      const place = f.let(last);
      if (t === 0) f.set(place, list);
      else f.if(i32.lt_u(i32.add(list, 4 * t), last), () => f.set(place, i32.add(list, 4 * t)));
      return place;
    });
    const each = (action: (sums: Local<"i32">, offset: number, here: number) => void) =>
      places.forEach((place, t) => {
        const sums = f.let(i32.mul(place, SUM_BYTES / 4));
        for (let i = 0; i < 4; i++) {
          const offset = SUMS + (i < 2 ? 0 : SECOND_SUMS) + 16 * (i % 2);
          action(sums, offset, TILE_SUMS + 2 * SUM_BYTES * t + 16 * i);
        }
      });
    const zero = v128.const(new Uint8Array(16));
    f.if(
      isFirst,
      () => each((_sums, _offset, at) => f.do(panel.v128.store(here, zero, at))),
      () =>
        each((sums, offset, at) => f.do(panel.v128.store(here, panel.v128.load(sums, offset), at))),
    );
    const address = (t: number, i: number) => TILE_SUMS + 2 * SUM_BYTES * t + 16 * i;
    const totals = places.map((_, t) =>
      [0, 1, 2, 3].map((i) => f.let(panel.v128.load(here, address(t, i))))
    );
    const inputs = places.map((place) => f.let(i32.add(panel.i32.load(place, INPUTS), offset)));
    body(inputs, totals);
    totals.forEach((of, t) =>
      of.forEach((total, i) => f.do(panel.v128.store(here, total, address(t, i))))
    );
    each((sums, offset, at) => f.do(panel.v128.store(sums, panel.v128.load(here, at), offset)));
  });
}
