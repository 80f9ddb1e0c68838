// How the embedding of a text follows from the states of its tokens: `<architecture>.pooling_type`,
// numbered as in llama.h. model/embed.ts does the pooling.

import type { Config } from "./config.ts";

/** The mean of all states, the state of the first token, or that of the last. */
export type Pooling = "mean" | "first" | "last";

/**
 * Poolings by their number. A model without pooling gives the last state, a rank model that of CLS.
 */
const POOLING: readonly Pooling[] = ["last", "mean", "first", "last", "first"];

/** -1, read as unsigned: unspecified. */
const UNSAID = 2 ** 32 - 1;

/** The pooling of a model's file. Errors: GgufError for an unknown number. */
export function poolingOf(config: Config): Pooling {
  const number = config.numberOr("pooling_type", 0);
  const pooling = number === -1 || number === UNSAID ? POOLING[0] : POOLING[number];
  if (pooling) return pooling;
  throw config.error("pooling_type", `${number} is no pooling that is known here`);
}
