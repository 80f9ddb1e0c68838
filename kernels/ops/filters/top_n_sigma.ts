// top_n_sigma: drops tokens whose logit is more than n standard deviations of all logits below the greatest
// (Tang et al., "Top-nσ: Not All Logits Are You Need", 2024). What is this far below is the same whether
// top_k chooses before or after it.

import type { Arithmetic, Filter } from "./filter.ts";

/** Logits further below the greatest than this count as this far: a sum has numbers up to 1. */
const FAR = 1024;
/** Tokens this far below can never come, and count as little as those that a mask leaves out. */
const NEVER = -1e6;

/** A number of a token that can come; 0 of another. */
function ifPossible<Value, Truth>(m: Arithmetic<Value, Truth>, relative: Value, value: Value) {
  return m.choose(m.atLeast(relative, m.constant(NEVER)), value, m.constant(0));
}

/** How far a token is below the greatest, from 0 to 1. */
function distance<Value, Truth>(m: Arithmetic<Value, Truth>, relative: Value): Value {
  return m.multiply(m.greatest(relative, m.constant(-FAR)), m.constant(-1 / FAR));
}

export const topNSigma = {
  options: {
    /**
     * Tokens more than this many standard deviations of all logits below the likeliest are dropped; 0 and
     * below: none. Default 0.
     */
    topNSigma: {
      name: "top_n_sigma",
      type: "number",
      default: 0,
      minimum: -1,
      title: "Top n sigma",
      help:
        "Tokens more than this many standard deviations of all logits below the likeliest are dropped; " +
        "0 and below: none.",
    },
  },
  isOn: (m) => m.not(m.atLeast(m.constant(0), m.option("topNSigma"))),
  totals: [
    { kind: "sum", ofAll: true, of: (m, relative) => ifPossible(m, relative, m.constant(1)) },
    {
      kind: "sum",
      ofAll: true,
      of: (m, relative) => ifPossible(m, relative, distance(m, relative)),
    },
    { kind: "value", of: (m, [count, sum]) => m.divide(sum!, count!) },
    {
      kind: "sum",
      ofAll: true,
      of: (m, relative, [, , mean]) => {
        const off = m.subtract(distance(m, relative), mean!);
        return ifPossible(m, relative, m.multiply(off, off));
      },
    },
    {
      kind: "value",
      of: (m, [count, , , squares]) => {
        const variance = m.greatest(m.divide(squares!, count!), m.constant(1e-30));
        const deviation = m.exp(m.multiply(m.constant(0.5), m.ln(variance)));
        return m.multiply(m.multiply(deviation, m.constant(-FAR)), m.option("topNSigma"));
      },
    },
  ],
  keeps: (m, relative, [, , , , least]) => m.atLeast(relative, least!),
} as const satisfies Filter;
