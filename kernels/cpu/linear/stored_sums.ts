// Sums over groups that stay in the thread's memory, for tokens that are multiplied with one group after the
// other: registers hold those of a group alone.

import {
  type FunctionBuilder,
  type I32,
  i32,
  type Local,
  type Memory,
  type V128,
  v128,
} from "../wasm/mod.ts";
import { INPUTS, SUM_BYTES, SUMS } from "./bands.ts";

/**
 * Adds a lone tile, of as many tokens as there may be, whose sums stay in the thread's memory. If there are
 * fewer, the last one fills the tile. `body` adds to `sums` of the tokens at `inputs`.
 */
export function forLoneTile(
  f: FunctionBuilder,
  panel: Memory,
  { tokens, size }: { tokens: Local<"i32">; size: number },
  body: (inputs: readonly Local<"i32">[], sums: readonly StoredSums[]) => void,
): void {
  const last = f.let(i32.mul(i32.sub(tokens, 1), 4));
  const inputs = Array.from({ length: size }, (_, t) => inputFor(f, panel, t, last));
  const sums = inputs.map((_, t) => storedSums(f, panel, t));
  const zero = v128.const(new Uint8Array(16));
  for (const { store } of sums) store([zero, zero]);
  body(inputs, sums);
}

/** The address of the input of a token or, after the `last` place in the list, of the last token. */
export function inputFor(
  f: FunctionBuilder,
  panel: Memory,
  token: number,
  last: Local<"i32">,
): Local<"i32"> {
  const list = f.let(last);
  f.if(i32.lt_u(4 * token, last), () => f.set(list, 4 * token));
  return f.let(panel.i32.load(list, INPUTS));
}

/** The place of a token's sums with one band or with two. */
export function storedSums(
  f: FunctionBuilder,
  panel: Memory,
  token: number,
  bands: 1 | 2 = 1,
): StoredSums {
  const here = i32.const(0);
  const places = Array.from(
    { length: 2 * bands },
    (_, quad) => SUMS + SUM_BYTES * bands * token + 16 * quad,
  );
  return {
    load: () => places.map((at) => f.let(panel.v128.load(here, at))),
    store: (values) => storeBackwards(f, panel, here, values, places[0]!),
  };
}

/**
 * Stores neighbouring vectors, the last one first: of two that it joins, V8 makes one store, but keeps the
 * lower one beside it if that comes first.
 */
export function storeBackwards(
  f: FunctionBuilder,
  memory: Memory,
  at: I32,
  vectors: readonly V128[],
  offset: number,
): void {
  f.do(...vectors.map((vector, i) => memory.v128.store(at, vector, offset + 16 * i)).reverse());
}

/** The sums of a token with a band, or with two, at a constant address. */
export interface StoredSums {
  load(): Local<"v128">[];
  store(values: readonly V128[]): void;
}
