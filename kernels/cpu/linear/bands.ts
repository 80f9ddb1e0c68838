// What products with int8 and with float activations share. An item of a product is a band of eight
// rows, of the whole matrix or of an expert. Its sums for some tokens at a time are in the thread's
// own memory; when complete, each row's scale and bias are applied, and the results are written to
// y.

import {
  f32x4,
  type FunctionBuilder,
  type I32,
  i32,
  type Local,
  type Memory,
  v128,
} from "../wasm/mod.ts";
import { BAND } from "../formats/format.ts";
import { type Arguments, forItems } from "../kernel.ts";
import { forWholeAndPart, type StorePart } from "../vectors.ts";

/**
 * The arguments of a product, as words in memory; strides are in bytes.
 *
 * - `x`: tokens are `tokenBytes` apart, and the `vectors` of a token, which lie side by side,
 *   `vectorBytes`; int8 groups are [groups, `all` tokens]. Many tokens are read from `panelX`, likewise
 * - `y`: f32, `tokens` rows that are `stride` apart; with `accumulate` 1 (not 0) y += the product
 * - `rows` of the matrix, or of an expert, in `blocks` blocks each
 * - `affine`: factors and biases (affineBytes), or 0
 * - `pairs`: pairs of a token and an expert (expert_pairs.ts), or 0. Experts are `unitBytes` apart, and
 *   `share` pairs read the same vector of x.
 * - `atOnce`: tokens of an item of two bands, at most MOST_TOKENS
 */
export const PRODUCT_ARGUMENTS = [
  ...["weights", "x", "y", "blocks", "tokens", "stride", "accumulate", "all"] as const,
  ...["rows", "tokenBytes", "affine", "pairs", "unitBytes"] as const,
  ...["share", "vectors", "vectorBytes"] as const,
  ...["panelX", "panelTokenBytes", "panelVectorBytes", "atOnce"] as const,
] as const;

/** Arguments of a product. */
export type ProductArgument = (typeof PRODUCT_ARGUMENTS)[number];

/**
 * Tokens that are multiplied at a time. Their sums fit a first-level cache, together with the
 * expanded part of a band.
 */
export const MOST_TOKENS = 256;

/**
 * Bytes of floats that a core's second-level cache keeps while all bands are multiplied with them: every pair
 * of bands reads them again. Integers are a third, and read ahead from the next level in time; with fewer at
 * once, bands would be expanded again.
 */
const CACHED_BYTES = 768 * 1024;
/** Fewer tokens would not be worth expanding a band for them. */
const LEAST_AT_ONCE = 60;
/** Tiles have four or six tokens. */
const WHOLE_TILES = 12;

/** Tokens of an item of two bands, if there are so many tokens; of floats, of so many bytes each. */
export function tokensAtOnce(tokens: number, floatBytes = 0): number {
  const fitting = Math.max(LEAST_AT_ONCE, Math.floor(CACHED_BYTES / floatBytes));
  const items = Math.ceil(tokens / Math.min(MOST_TOKENS, fitting));
  return Math.min(MOST_TOKENS, WHOLE_TILES * Math.ceil(tokens / items / WHOLE_TILES));
}

/** Number of items of a product: of single bands with all tokens, or of two bands with `atOnce` of them. */
export function productItems(
  bands: number,
  { ofItem, tokens, atOnce }: { ofItem: 1 | 2; tokens: number; atOnce: number },
): number {
  return ofItem === 1 ? bands : Math.ceil(bands / 2) * Math.ceil(tokens / atOnce);
}

/** Default values of these arguments. */
export const PLAIN_PRODUCT = {
  ...{ accumulate: 0, affine: 0, pairs: 0, unitBytes: 0 },
  ...{ share: 1, vectors: 1, vectorBytes: 0 },
  ...{ panelX: 0, panelTokenBytes: 0, panelVectorBytes: 0, atOnce: MOST_TOKENS },
};

/** Bytes of a token's sums. */
export const SUM_BYTES = 4 * BAND;

/** Offset of the sums in a thread's memory. The expanded part of a band begins at 0. */
export const SUMS = 32768;
/** Offset of the addresses of the tokens in x. A token may have the sums of two bands. */
export const INPUTS = SUMS + 2 * SUM_BYTES * MOST_TOKENS;
/** Offset of the addresses of their results. */
export const OUTPUTS = INPUTS + 4 * MOST_TOKENS;

/** Offset of a decoded group of eight rows: before the sums, after the expanded part. */
export const DECODED = SUMS - 2048;
/**
 * Offset of the sums of a tile while its groups are read at constant addresses: before the decoded
 * group.
 */
export const TILE_SUMS = DECODED - 1024;

/** Bytes of the scales and biases of a number of bands: eight of each, band after band. */
export function affineBytes(bands: number): number {
  return 2 * SUM_BYTES * bands;
}

/** A band and the tokens that it is multiplied with. */
export interface BandShare {
  /** Beginning and end of the band's blocks. */
  readonly begin: Local<"i32">;
  readonly end: Local<"i32">;
  /** Number of tokens. */
  readonly tokens: Local<"i32">;
  /** Whether there are so few tokens that they are read from `x` instead of `panelX`. */
  readonly isFew: Local<"i32">;
}

/** Adds code that loops over items. `multiply` has to set all sums, by tiles of tokens. */
export function forBands(
  f: FunctionBuilder,
  { work, panel }: { work: Memory; panel: Memory },
  given: Arguments<ProductArgument>,
  { first, last, blockBytes, few }: {
    first: Local<"i32">;
    last: Local<"i32">;
    blockBytes: number;
    /** Most tokens that are read from `x`. Default: any number. */
    few?: number;
  },
  multiply: (share: BandShare) => void,
): void {
  const bandBytes = f.let(i32.mul(given.blocks, blockBytes));
  const bands = f.let(i32.shr_u(i32.add(given.rows, BAND - 1), Math.log2(BAND)));
  forItems(f, first, last, (item) => {
    const band = f.let(item);
    const unit = f.let(i32.const(0));
    const pairs = f.let(i32.const(0));
    const rest = f.let(given.tokens);
    f.if(given.pairs, () => {
      const group = f.let(i32.div_u(item, bands));
      f.set(band, i32.rem_u(item, bands));
      f.set(rest, 0);
      f.if(i32.lt_u(group, work.i32.load(given.pairs)), () => {
        const entry = f.let(i32.add(given.pairs, i32.mul(group, PAIRS_ENTRY)));
        f.set(unit, work.i32.load(entry, 4));
        f.set(pairs, work.i32.load(entry, 8));
        f.set(rest, work.i32.load(entry, 12));
      });
    });
    const begin = i32.add(i32.mul(unit, given.unitBytes), i32.mul(band, bandBytes));
    const place = { begin: f.let(i32.add(given.weights, begin)), end: f.local("i32") };
    f.set(place.end, i32.add(place.begin, bandBytes));
    const bandOfAll = f.let(i32.add(i32.mul(unit, bands), band));
    const next = f.let(i32.const(0));
    f.while(rest, () => {
      const tokens = f.let(i32.const(MOST_TOKENS));
      f.if(i32.lt_u(rest, tokens), () => f.set(tokens, rest));
      const isFew = f.let(few === undefined ? i32.const(1) : i32.le_u(tokens, few));
      listTokens(f, { work, panel }, given, { band, pairs, next, tokens, isFew });
      multiply({ ...place, tokens, isFew });
      finish(f, { work, panel }, given, { band, bandOfAll, tokens });
      f.increase(next, tokens);
      f.set(rest, i32.sub(rest, tokens));
    });
  });
}

/**
 * Bytes of an expert in the list of pairs: its number, the address of its pairs, and their count.
 */
export const PAIRS_ENTRY = 12;

/** Writes the addresses of x and y for the tokens from `next` on. */
export function listTokens(
  f: FunctionBuilder,
  { work, panel }: { work: Memory; panel: Memory },
  given: Arguments<ProductArgument>,
  { band, pairs, next, tokens, isFew }: Record<
    "band" | "pairs" | "next" | "tokens" | "isFew",
    Local<"i32">
  >,
): void {
  const [base, tokenBytes, vectorBytes] = [
    [given.x, given.panelX],
    [given.tokenBytes, given.panelTokenBytes],
    [given.vectorBytes, given.panelVectorBytes],
  ].map(([few, many]) => {
    const chosen = f.let(many);
    f.if(isFew, () => f.set(chosen, few));
    return chosen;
  });
  const y = f.let(i32.add(given.y, i32.mul(band, SUM_BYTES)));
  const list = f.let(i32.const(0));
  const end = f.let(i32.mul(tokens, 4));
  f.forUpTo(list, end, 4, () => {
    const token = f.let(i32.add(next, i32.shr_u(list, 2)));
    const x = f.let(i32.add(base, i32.mul(token, tokenBytes)));
    f.if(pairs, () => {
      f.set(token, work.i32.load(i32.add(pairs, i32.mul(token, 4))));
      f.set(x, i32.add(base, inputOf(f, given, token, { tokenBytes, vectorBytes })));
    });
    f.do(
      panel.i32.store(list, x, INPUTS),
      panel.i32.store(list, i32.add(y, i32.mul(token, given.stride)), OUTPUTS),
    );
  });
}

/** Offset in bytes of what a pair of a token and an expert reads of x. */
export function inputOf(
  f: FunctionBuilder,
  { share, vectors }: Arguments<ProductArgument>,
  pair: Local<"i32">,
  { tokenBytes, vectorBytes }: Record<"tokenBytes" | "vectorBytes", Local<"i32">>,
): I32 {
  const read = f.let(i32.div_u(pair, share));
  return i32.add(
    i32.mul(i32.div_u(read, vectors), tokenBytes),
    i32.mul(i32.rem_u(read, vectors), vectorBytes),
  );
}

/** Factors and biases of bands from one on: vectors of four rows; 1 and 0 unless the matrix `has` some. */
export function affineOf(
  f: FunctionBuilder,
  work: Memory,
  given: Arguments<ProductArgument>,
  { band, bands = 1, has = given.affine }: { band: Local<"i32">; bands?: number; has?: I32 },
): [factors: Local<"v128">[], biases: Local<"v128">[]] {
  const ones = v128.const(new Uint8Array(new Float32Array(4).fill(1).buffer));
  const quads = Array.from({ length: 2 * bands }, (_, quad) => quad);
  const factors = quads.map(() => f.let(ones));
  const biases = quads.map(() => f.let(v128.const(new Uint8Array(16))));
  f.if(i32.ne(has, 0), () => {
    const affine = f.let(i32.add(given.affine, i32.mul(band, affineBytes(1))));
    quads.forEach((quad) => {
      const at = affineBytes(quad >> 1) + 16 * (quad % 2);
      f.set(factors[quad]!, work.v128.load(affine, at));
      f.set(biases[quad]!, work.v128.load(affine, at + SUM_BYTES));
    });
  });
  return [factors, biases];
}

/**
 * Writes complete sums to y.
 *
 * @param bands number of bands of which each token has sums @param of which of them is written
 */
export function finish(
  f: FunctionBuilder,
  { work, panel }: { work: Memory; panel: Memory },
  given: Arguments<ProductArgument>,
  { band, bandOfAll, tokens, bands = 1, of = 0 }:
    & Record<"band" | "bandOfAll" | "tokens", Local<"i32">>
    & { bands?: 1 | 2; of?: 0 | 1 },
): void {
  const [factors, biases] = affineOf(f, work, given, { band: bandOfAll });
  const left = f.let(i32.sub(given.rows, i32.mul(band, BAND)));
  const end = f.let(i32.mul(tokens, 4));
  const writeRows = (store: StorePart, accumulates: boolean) => {
    const list = f.let(i32.const(0));
    f.forUpTo(list, end, 4, () => {
      const sums = f.let(i32.mul(list, bands * SUM_BYTES / 4));
      const out = f.let(panel.i32.load(list, OUTPUTS));
      const values = [0, 1].map((quad) => {
        const sum = panel.v128.load(sums, SUMS + SUM_BYTES * of + 16 * quad);
        const own = f32x4.add(f32x4.mul(sum, factors[quad]), biases[quad]);
        return f.let(accumulates ? f32x4.add(own, work.v128.load(out, 16 * quad)) : own);
      });
      store(work, out, values);
    });
  };
  // Rows of y are far from each other, so that reading them without need would wait for memory.
  forWholeAndPart(f, left, BAND, (store) => {
    f.if(given.accumulate, () => writeRows(store, true), () => writeRows(store, false));
  });
}

/** The tokens of a tile: their addresses in x, and the addresses of their sums. */
export interface TileAddresses {
  readonly inputs: readonly Local<"i32">[];
  /** The sums of the first token in the thread's memory. */
  readonly sums: Local<"i32">;
}

/** Adds a tile of every size, the largest first. Each takes as many tokens as it can. */
export function forTiles(
  f: FunctionBuilder,
  panel: Memory,
  { tokens, offset, sizes }: {
    tokens: Local<"i32">;
    /** Offset in bytes from the beginning of each token in x. */
    offset: Local<"i32">;
    sizes: readonly number[];
  },
  body: (tile: TileAddresses) => void,
): void {
  const list = f.let(i32.const(0));
  const end = f.let(i32.mul(tokens, 4));
  for (const size of sizes) {
    f.while(i32.le_u(i32.add(list, 4 * size), end), () => {
      const inputs = Array.from(
        { length: size },
        (_, t) => f.let(i32.add(panel.i32.load(list, INPUTS + 4 * t), offset)),
      );
      body({ inputs, sums: f.let(i32.mul(list, SUM_BYTES / 4)) });
      f.increase(list, 4 * size);
    });
  }
}

/** The sums of a tile, with four rows in a vector: [token][quad]. */
export type Totals = readonly (readonly Local<"v128">[])[];

/**
 * accumulate() with a tile's sums at constant addresses from its first load to its last store, so
 * that no bounds check is between neighbouring vectors.
 */
export function accumulateInPlace(
  f: FunctionBuilder,
  panel: Memory,
  { inputs, sums }: TileAddresses,
  isFirst: Local<"i32">,
  body: (totals: Totals) => void,
): void {
  const here = i32.const(0);
  const eachVector = (action: (offset: number) => void) => {
    for (let at = 0; at < SUM_BYTES * inputs.length; at += 16) action(at);
  };
  f.if(
    isFirst,
    () =>
      eachVector((at) =>
        f.do(panel.v128.store(here, v128.const(new Uint8Array(16)), TILE_SUMS + at))
      ),
    () =>
      eachVector((at) =>
        f.do(panel.v128.store(here, panel.v128.load(sums, SUMS + at), TILE_SUMS + at))
      ),
  );
  const totals = inputs.map((_, t) =>
    [0, 1].map((quad) => f.let(panel.v128.load(here, TILE_SUMS + SUM_BYTES * t + 16 * quad)))
  );
  body(totals);
  totals.forEach((of, t) =>
    of.forEach((total, quad) =>
      f.do(panel.v128.store(here, total, TILE_SUMS + SUM_BYTES * t + 16 * quad))
    )
  );
  eachVector((at) =>
    f.do(panel.v128.store(sums, panel.v128.load(here, TILE_SUMS + at), SUMS + at))
  );
}

/** Adds code that starts with zeros or the sums so far, adds to them in `body`, and stores them. */
export function accumulate(
  f: FunctionBuilder,
  panel: Memory,
  { inputs, sums }: TileAddresses,
  isFirst: Local<"i32"> | undefined,
  body: (totals: Totals) => void,
): void {
  const totals = inputs.map(() => [0, 1].map(() => f.let(v128.const(new Uint8Array(16)))));
  const each = (action: (total: Local<"v128">, offset: number) => void) =>
    totals.forEach((of, t) =>
      of.forEach((total, quad) => action(total, SUMS + SUM_BYTES * t + 16 * quad))
    );
  if (isFirst) {
    f.if(i32.eqz(isFirst), () => {
      each((total, offset) => f.set(total, panel.v128.load(sums, offset)));
    });
  }
  body(totals);
  each((total, offset) => f.do(panel.v128.store(sums, total, offset)));
}
