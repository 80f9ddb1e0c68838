// The filters, in the order in which they choose: some after top_k, the others after top_p. A new one is a file
// and a place here: its options come from it into requests, documents and records.

import { dynamicTemperature } from "./dynamic_temperature.ts";
import type { Filter, FilterOption } from "./filter.ts";
import { minP } from "./min_p.ts";
import { topNSigma } from "./top_n_sigma.ts";
import { typicalP } from "./typical_p.ts";
import { xtc } from "./xtc.ts";

const BEFORE_TOP_P = [topNSigma, typicalP] as const;
const LIST = [...BEFORE_TOP_P, minP, xtc, dynamicTemperature] as const;

/** All of them. */
export const FILTERS: readonly Filter[] = LIST;

/** How many of the first choose before top_p. */
export const EARLY_FILTERS = BEFORE_TOP_P.length;

type Both<Union> = (Union extends unknown ? (one: Union) => void : never) extends
  (all: infer All) => void ? All : never;

/** Their options, by their names in the sampler. */
export type FilterOptionInfos = Both<(typeof LIST)[number]["options"]>;

/** Their options, by their names in the sampler. */
export const FILTER_OPTIONS: FilterOptionInfos = Object.assign(
  {},
  ...LIST.map(({ options }) => options),
);

/** Values of their options with which they keep all tokens. */
export const FILTERS_OFF = ofEach(({ default: off }) => off);

/** Types of their options in records. */
export const FILTER_FIELDS = ofEach(() => "f32" as const);

function ofEach<Value>(of: (option: FilterOption) => Value) {
  return Object.fromEntries(
    Object.entries<FilterOption>(FILTER_OPTIONS).map(([name, option]) => [name, of(option)]),
  ) as Record<keyof FilterOptionInfos, Value>;
}
