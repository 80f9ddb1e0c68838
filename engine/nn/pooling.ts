// Of which of a text's states its embedding is made, as the file says: `<architecture>.pooling_type`, as
// llama.h numbers it. Pooling itself is in model/embed.ts.

import type { Config } from "./config.ts";

/** All states, that of the first token, or that of the last. */
export type Pooling = "mean" | "first" | "last";

/** By number; a model without pooling gives the state of the last, a rank model that of CLS. */
const POOLING: readonly Pooling[] = ["last", "mean", "first", "last", "first"];

/** -1, as unsigned: the file does not say. */
const UNSAID = 2 ** 32 - 1;

/** How a model's file wants states pooled. Errors: GgufError for a number that says nothing. */
export function poolingOf(config: Config): Pooling {
  const number = config.numberOr("pooling_type", 0);
  const pooling = number === -1 || number === UNSAID ? POOLING[0] : POOLING[number];
  if (pooling) return pooling;
  throw config.error("pooling_type", `${number} is no pooling that is known here`);
}
