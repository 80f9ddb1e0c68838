// Dynamic temperature: the temperature follows the entropy of the tokens that are left, from
// `temperature - dynatemp_range` where one is certain to `temperature + dynatemp_range` where all are as
// likely. It drops no token, and does nothing at temperature 0.

import type { Filter } from "./filter.ts";

/** The least temperature: below it the draw is the best token in any case. */
const LEAST = 1e-5;

export const dynamicTemperature = {
  options: {
    /** How far the temperature moves up and down with the model's uncertainty; 0: not at all. Default 0. */
    dynatempRange: {
      name: "dynatemp_range",
      type: "number",
      default: 0,
      minimum: 0,
      title: "Temperature range",
      help:
        "How far the temperature moves up and down with the model's uncertainty; 0: not at all.",
    },
    /** Above 1, the temperature of dynatemp_range rises late, below 1 early. Default 1. */
    dynatempExponent: {
      name: "dynatemp_exponent",
      type: "number",
      default: 1,
      minimum: 0,
      title: "Temperature exponent",
      help: "Above 1, the temperature of dynatemp_range rises late, below 1 early.",
    },
  },
  isOn: (m) => m.not(m.atLeast(m.constant(0), m.option("dynatempRange"))),
  totals: [
    { kind: "sum", of: (m) => m.constant(1) },
    { kind: "sum", of: (m, relative) => m.exp(relative) },
    {
      kind: "sum",
      of: (m, relative) => m.multiply(m.exp(relative), m.subtract(m.constant(0), relative)),
    },
    {
      kind: "value",
      of: (m, [count, weight, surprise]) => {
        const entropy = m.add(m.ln(weight!), m.divide(surprise!, weight!));
        const share = m.divide(entropy, m.ln(m.greatest(count!, m.constant(2))));
        const bounded = m.greatest(share, m.constant(1e-30));
        const position = m.exp(m.multiply(m.option("dynatempExponent"), m.ln(bounded)));
        const [middle, range] = [m.option("temperature"), m.option("dynatempRange")];
        const low = m.greatest(m.subtract(middle, range), m.constant(0));
        const width = m.subtract(m.add(middle, range), low);
        return m.greatest(m.add(low, m.multiply(width, position)), m.constant(LEAST));
      },
    },
  ],
  temperature: (_m, [, , , temperature]) => temperature!,
} as const satisfies Filter;
