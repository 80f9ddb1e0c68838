// Loops over two bands at a time, for kernels whose items are pairs of bands, where V8 joins vectors. What is
// read of a token then serves both bands. Sums of a tile are at constant addresses of the thread's memory.

import { type FunctionBuilder, i32, type Local, type Memory, v128 } from "../wasm/mod.ts";
import { BAND } from "../formats/format.ts";
import { type Arguments, forItems } from "../kernel.ts";
import {
  finish,
  INPUTS,
  listTokens,
  MOST_TOKENS,
  type ProductArgument,
  SECOND_SUMS,
  type StoredSums,
  SUM_BYTES,
  SUMS,
  TILE_SUMS,
} from "./bands.ts";

/** Two bands and the tokens that they are multiplied with. */
interface BandPair {
  /** Beginnings of the bands; both are the same band where the last one is left alone. */
  readonly begins: readonly Local<"i32">[];
  readonly tokens: Local<"i32">;
}

/**
 * Adds code that loops over items, which are pairs of bands, without experts. Tokens are read from `panelX`.
 * `multiply` has to set all sums, by tiles of tokens (forPairTiles).
 *
 * @param isApart whether the second bands are those of the second half of the matrix, which with few tokens
 *   has the CPU read both halves ahead; else they are neighbours, whose results share cache lines
 */
export function forBandPairs(
  f: FunctionBuilder,
  memories: { work: Memory; panel: Memory },
  given: Arguments<ProductArgument>,
  { first, last, blockBytes, isApart = false }: {
    first: Local<"i32">;
    last: Local<"i32">;
    blockBytes: number;
    isApart?: boolean;
  },
  multiply: (pair: BandPair) => void,
): void {
  const bandBytes = f.let(i32.mul(given.blocks, blockBytes));
  const bands = f.let(i32.shr_u(i32.add(given.rows, BAND - 1), Math.log2(BAND)));
  const pairs = f.let(i32.shr_u(i32.add(bands, 1), 1));
  const none = f.let(i32.const(0));
  forItems(f, first, last, (item) => {
    const band = f.let(isApart ? item : i32.mul(item, 2));
    const second = f.let(i32.add(band, isApart ? pairs : 1));
    f.if(i32.ge_u(second, bands), () => f.set(second, band));
    const begins = [band, second].map((of) =>
      f.let(i32.add(given.weights, i32.mul(of, bandBytes)))
    );
    const next = f.let(i32.const(0));
    const rest = f.let(given.tokens);
    f.while(rest, () => {
      const tokens = f.let(i32.const(MOST_TOKENS));
      f.if(i32.lt_u(rest, tokens), () => f.set(tokens, rest));
      const list = { pairs: none, isFew: none, next, tokens };
      listTokens(f, memories, given, { band, ...list });
      multiply({ begins, tokens });
      finish(f, memories, given, { band, bandOfAll: band, tokens });
      f.if(i32.ne(second, band), () => {
        listTokens(f, memories, given, { band: second, ...list });
        const bandOfAll = second;
        finish(f, memories, given, { band: second, bandOfAll, tokens, offset: SECOND_SUMS });
      });
      f.increase(next, tokens);
      f.set(rest, i32.sub(rest, tokens));
    });
  });
}

/**
 * Adds tiles of `size` tokens with both bands of a pair, whose sums are at constant addresses from their
 * first load to their last store (see accumulateInPlace). If there are fewer tokens, the last one fills the
 * tile. `body` adds to the sums of each token, which are of the first band and then of the second.
 */
export function forPairTiles(
  f: FunctionBuilder,
  panel: Memory,
  { tokens, offset, size, isFirst }: Record<"tokens" | "offset" | "isFirst", Local<"i32">> & {
    size: number;
  },
  body: (inputs: readonly Local<"i32">[], sums: readonly StoredSums[]) => void,
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
    const inputs = places.map((place) => f.let(i32.add(panel.i32.load(place, INPUTS), offset)));
    const sums = places.map((_, t): StoredSums => {
      const at = [0, 1, 2, 3].map((i) => TILE_SUMS + 2 * SUM_BYTES * t + 16 * i);
      return {
        load: () => at.map((place) => f.let(panel.v128.load(here, place))),
        store: (values) => f.do(...at.map((place, i) => panel.v128.store(here, values[i]!, place))),
      };
    });
    body(inputs, sums);
    each((sums, offset, at) => f.do(panel.v128.store(sums, panel.v128.load(here, at), offset)));
  });
}
