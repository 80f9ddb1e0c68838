// XTC, "exclude top choices": with a probability, drops all tokens of at least a share of the probability but
// the least likely of them. With fewer than two such tokens it drops none.

import type { Filter } from "./filter.ts";

export const xtc = {
  options: {
    /** How often, from 0 to 1, XTC drops the likeliest tokens. Default 0. */
    xtcProbability: {
      name: "xtc_probability",
      type: "number",
      default: 0,
      minimum: 0,
      maximum: 1,
      title: "XTC probability",
      help: "How often, from 0 to 1, XTC drops the likeliest tokens.",
    },
    /** XTC drops tokens at least this likely, except the least likely of them. Default 0.1. */
    xtcThreshold: {
      name: "xtc_threshold",
      type: "number",
      default: 0.1,
      minimum: 0,
      maximum: 1,
      title: "XTC threshold",
      help: "XTC drops tokens at least this likely, except the least likely of them.",
    },
  },
  isOn: (m) => m.not(m.atLeast(m.random(), m.option("xtcProbability"))),
  totals: [
    { kind: "sum", of: (m, relative) => m.exp(relative) },
    { kind: "value", of: (m, [weight]) => m.multiply(m.option("xtcThreshold"), weight!) },
    { kind: "least", of: (m, relative, [, least]) => m.atLeast(m.exp(relative), least!) },
  ],
  keeps: (m, relative, [, , last]) => m.atLeast(last!, relative),
} as const satisfies Filter;
