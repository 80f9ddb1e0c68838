// typical_p: keeps the tokens whose surprise is closest to the entropy, the fewest with a share of the
// probability (Meister et al., "Locally Typical Sampling", 2023). The likeliest may be dropped.

import type { Arithmetic, Filter } from "./filter.ts";

/** How far a token's surprise is from the entropy, both less the logarithm of the sum of e^relative. */
function oddness<Value, Truth>(m: Arithmetic<Value, Truth>, relative: Value, mean: Value): Value {
  return m.greatest(m.add(relative, mean), m.subtract(m.constant(0), m.add(relative, mean)));
}

export const typicalP = {
  options: {
    /**
     * Only the most typical tokens, those as surprising as a token is on average, that together reach this
     * probability may come. Default 1.
     */
    typicalP: {
      name: "typical_p",
      type: "number",
      default: 1,
      minimum: 0,
      maximum: 1,
      title: "Typical p",
      help:
        "Only the most typical tokens, those as surprising as a token is on average, that together reach " +
        "this probability may come.",
    },
  },
  isOn: (m) => m.not(m.atLeast(m.option("typicalP"), m.constant(1))),
  totals: [
    { kind: "sum", of: (m, relative) => m.exp(relative) },
    {
      kind: "sum",
      of: (m, relative) => m.multiply(m.exp(relative), m.subtract(m.constant(0), relative)),
    },
    { kind: "value", of: (m, [weight, surprise]) => m.divide(surprise!, weight!) },
    {
      kind: "reach",
      of: (m, relative, [, , mean]) => oddness(m, relative, mean!),
      // With a share of 0 the most typical token is left.
      goal: (m, [weight]) =>
        m.multiply(m.greatest(m.option("typicalP"), m.constant(1e-6)), weight!),
    },
  ],
  keeps: (m, relative, [, , mean, most]) => m.atLeast(most!, oddness(m, relative, mean!)),
} as const satisfies Filter;
