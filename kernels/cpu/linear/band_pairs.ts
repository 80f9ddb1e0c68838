// Loops over two bands at a time, for kernels whose items are pairs of bands, where V8 joins vectors. What is
// read of a token then serves both bands. Sums of a tile are at constant addresses of the thread's memory.

import {
  type Expression,
  f32x4,
  type FunctionBuilder,
  i32,
  type Local,
  type Memory,
  v128,
} from "../wasm/mod.ts";
import { BAND } from "../formats/format.ts";
import { type Arguments, forItems } from "../kernel.ts";
import {
  affineOf,
  finish,
  INPUTS,
  listTokens,
  OUTPUTS,
  type ProductArgument,
  SUM_BYTES,
  SUMS,
  TILE_SUMS,
} from "./bands.ts";
import { type StoredSums } from "./stored_sums.ts";

/** Two bands and the tokens that they are multiplied with. */
export interface BandPair {
  /** Beginnings of the bands; both are the same band where the last one is left alone. */
  readonly begins: readonly Local<"i32">[];
  readonly tokens: Local<"i32">;
  /** Whether tiles write their complete sums to y: those of sixteen neighbouring rows. */
  readonly isWhole: Local<"i32">;
  /** Factors and biases of these rows, vectors of four. */
  readonly factors: readonly Local<"v128">[];
  readonly biases: readonly Local<"v128">[];
}

/**
 * Adds code that loops over items, without experts: all pairs of bands with the first `atOnce` tokens, then
 * with the next ones, so that each core keeps these in its cache. Tokens are read from `panelX`. `multiply`
 * has to set all sums, by tiles of tokens (forPairTiles).
 */
export function forBandPairs(
  f: FunctionBuilder,
  memories: { work: Memory; panel: Memory },
  given: Arguments<ProductArgument>,
  { first, last, blockBytes }: { first: Local<"i32">; last: Local<"i32">; blockBytes: number },
  multiply: (pair: BandPair) => void,
): void {
  const bandBytes = f.let(i32.mul(given.blocks, blockBytes));
  const bands = f.let(i32.shr_u(i32.add(given.rows, BAND - 1), Math.log2(BAND)));
  const pairs = f.let(i32.shr_u(i32.add(bands, 1), 1));
  const none = f.let(i32.const(0));
  forItems(f, first, last, (item) => {
    const next = f.let(i32.mul(i32.div_u(item, pairs), given.atOnce));
    const tokens = f.let(i32.sub(given.tokens, next));
    f.if(i32.lt_u(given.atOnce, tokens), () => f.set(tokens, given.atOnce));
    const band = f.let(i32.mul(i32.rem_u(item, pairs), 2));
    const second = f.let(i32.add(band, 1));
    f.if(i32.ge_u(second, bands), () => f.set(second, band));
    const begins = [band, second].map((of) =>
      f.let(i32.add(given.weights, i32.mul(of, bandBytes)))
    );
    const isWhole = f.let(i32.le_u(i32.mul(i32.add(band, 2), BAND), given.rows));
    const has = i32.and(i32.ne(given.affine, 0), isWhole);
    const [factors, biases] = affineOf(f, memories.work, given, { band, bands: 2, has });
    const list = { pairs: none, isFew: none, next, tokens };
    listTokens(f, memories, given, { band, ...list });
    multiply({ begins, tokens, isWhole, factors, biases });
    f.if(i32.eqz(isWhole), () => {
      finish(f, memories, given, { band, bandOfAll: band, tokens, bands: 2 });
      f.if(i32.ne(second, band), () => {
        listTokens(f, memories, given, { band: second, ...list });
        finish(f, memories, given, { band: second, bandOfAll: second, tokens, bands: 2, of: 1 });
      });
    });
  });
}

/**
 * Adds code that loops over items without experts, for not many tokens: pairs of bands, the second of which
 * are those of the second half of the matrix, so that the CPU reads two long runs ahead. Each pair is
 * multiplied with up to `most` tokens at a time, with about as many each time; they are read from `x`.
 * `multiply` has to set their sums.
 */
export function forBandsApart(
  f: FunctionBuilder,
  memories: { work: Memory; panel: Memory },
  given: Arguments<ProductArgument>,
  { first, last, blockBytes, most, tile }: {
    first: Local<"i32">;
    last: Local<"i32">;
    blockBytes: number;
    most: number;
    /** Tokens are multiplied by this number of them. */
    tile: number;
  },
  multiply: (begins: readonly Local<"i32">[], tokens: Local<"i32">) => void,
): void {
  const bandBytes = f.let(i32.mul(given.blocks, blockBytes));
  const bands = f.let(i32.shr_u(i32.add(given.rows, BAND - 1), Math.log2(BAND)));
  const pairs = f.let(i32.shr_u(i32.add(bands, 1), 1));
  const dividedUp = (a: Expression<"i32">, by: Expression<"i32"> | number) =>
    i32.div_u(i32.sub(i32.add(a, by), 1), by);
  const each = dividedUp(given.tokens, dividedUp(given.tokens, most));
  const atOnce = f.let(i32.mul(dividedUp(each, tile), tile));
  const [none, one] = [f.let(i32.const(0)), f.let(i32.const(1))];
  forItems(f, first, last, (band) => {
    const second = f.let(i32.add(band, pairs));
    f.if(i32.ge_u(second, bands), () => f.set(second, band));
    const begins = [band, second].map((of) =>
      f.let(i32.add(given.weights, i32.mul(of, bandBytes)))
    );
    const next = f.let(i32.const(0));
    f.doWhile(() => {
      const tokens = f.let(i32.sub(given.tokens, next));
      f.if(i32.lt_u(atOnce, tokens), () => f.set(tokens, atOnce));
      const list = { pairs: none, isFew: one, next, tokens };
      listTokens(f, memories, given, { band, ...list });
      multiply(begins, tokens);
      finish(f, memories, given, { band, bandOfAll: band, tokens, bands: 2 });
      f.if(i32.ne(second, band), () => {
        listTokens(f, memories, given, { band: second, ...list });
        finish(f, memories, given, { band: second, bandOfAll: second, tokens, bands: 2, of: 1 });
      });
      f.increase(next, tokens);
    }, i32.lt_u(next, given.tokens));
  });
}

/**
 * Adds tiles of `size` tokens with both bands of a pair. If there are fewer tokens, the last one fills the
 * tile. `body` adds to the sums of each token, which are of the first band and then of the second.
 *
 * Sums are at constant addresses while a tile adds to them (see accumulateInPlace): at one where they are
 * read, and at another where they are written. So those of the next tile are put there early: a CPU that
 * reads 32 bytes which it has just written by 16 waits until these are in its cache.
 *
 * @param isFirst whether there are no sums of earlier columns
 * @param isLast whether sums are complete, and are written to y if the pair is whole
 */
export function forPairTiles(
  f: FunctionBuilder,
  { work, panel }: { work: Memory; panel: Memory },
  given: Arguments<ProductArgument>,
  { tokens, isWhole, factors, biases }: BandPair,
  { offset, size, isFirst, isLast }: Record<"offset" | "isFirst" | "isLast", Local<"i32">> & {
    size: number;
  },
  body: (
    inputs: readonly Local<"i32">[],
    sums: readonly StoredSums[],
    readNext: () => void,
  ) => void,
): void {
  const here = i32.const(0);
  const quads = [0, 1, 2, 3];
  const placeOf = (t: number, quad: number) => TILE_SUMS + 2 * SUM_BYTES * t + 16 * quad;
  const written = 2 * SUM_BYTES * size;
  const list = f.let(i32.const(0));
  const end = f.let(i32.mul(tokens, 4));
  const last = f.let(i32.sub(end, 4));
  const isDirect = f.let(i32.and(isLast, isWhole));
  /** The place of a tile's token in the lists. */
  const listed = (first: Expression<"i32">, t: number) => {
    const place = f.let(last);
    const own = i32.add(first, 4 * t);
    f.if(i32.lt_u(own, last), () => f.set(place, own));
    return place;
  };
  const sumsOf = (place: Local<"i32">) => f.let(i32.mul(place, 2 * SUM_BYTES / 4));
  const read = (first: Expression<"i32">) => {
    for (let t = 0; t < size; t++) {
      const sums = sumsOf(listed(first, t));
      for (const quad of quads) {
        f.do(panel.v128.store(here, panel.v128.load(sums, SUMS + 16 * quad), placeOf(t, quad)));
      }
    }
  };
  const zero = v128.const(new Uint8Array(16));
  f.if(isFirst, () => {
    for (let at = 0; at < written; at += 16) f.do(panel.v128.store(here, zero, TILE_SUMS + at));
  }, () => read(list));
  f.forUpTo(list, end, 4 * size, () => {
    const places = Array.from({ length: size }, (_, t) => listed(list, t));
    const inputs = places.map((place) => f.let(i32.add(panel.i32.load(place, INPUTS), offset)));
    const sums = places.map((_, t): StoredSums => ({
      load: () => quads.map((quad) => f.let(panel.v128.load(here, placeOf(t, quad)))),
      store: (values) =>
        f.do(
          // The higher half of a pair first: else V8 stores the lower one twice.
          ...quads.toReversed().map((quad) =>
            panel.v128.store(here, values[quad]!, placeOf(t, quad) + written)
          ),
        ),
    }));
    body(inputs, sums, () => f.if(i32.eqz(isFirst), () => read(f.let(i32.add(list, 4 * size)))));
    const sum = (t: number, quad: number) => panel.v128.load(here, placeOf(t, quad) + written);
    const writeRows = (accumulates: boolean) =>
      places.forEach((place, t) =>
        f.if(i32.le_u(i32.add(list, 4 * t), last), () => {
          const out = f.let(panel.i32.load(place, OUTPUTS));
          for (const quad of quads) {
            const own = f32x4.add(f32x4.mul(sum(t, quad), factors[quad]!), biases[quad]!);
            const value = accumulates ? f32x4.add(own, work.v128.load(out, 16 * quad)) : own;
            f.do(work.v128.store(out, value, 16 * quad));
          }
        })
      );
    f.if(
      isDirect,
      () => f.if(given.accumulate, () => writeRows(true), () => writeRows(false)),
      () =>
        places.forEach((place, t) => {
          const sums = sumsOf(place);
          for (const quad of quads) {
            f.do(panel.v128.store(sums, sum(t, quad), SUMS + 16 * quad));
          }
        }),
    );
  });
}
