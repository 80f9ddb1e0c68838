// min_p: drops tokens with less than a fraction of the likeliest one's probability.

import type { Filter } from "./filter.ts";

export const minP = {
  options: {
    /** Tokens less likely than this share of the likeliest are dropped. Default 0. */
    minP: {
      name: "min_p",
      type: "number",
      default: 0,
      minimum: 0,
      maximum: 1,
      title: "Min p",
      help: "Tokens less likely than this share of the likeliest are dropped.",
    },
  },
  isOn: (m) => m.not(m.atLeast(m.constant(0), m.option("minP"))),
  totals: [{ kind: "value", of: (m) => m.ln(m.option("minP")) }],
  keeps: (m, relative, [least]) => m.atLeast(relative, least!),
} as const satisfies Filter;
