// `samplers` as llama-server has it: the list of the samplers that choose tokens. Here their order is
// fixed, and it is llama.cpp's; a list says which of them are on. Pure.

import type { Given } from "../body/schema.ts";
import { HttpError } from "../errors.ts";
import type { OllamaOptions } from "./options.ts";

/** The samplers in their order, each with the options by which it is off. */
const CHAIN: [name: string, off: OllamaOptions][] = [
  ["penalties", { repeat_penalty: 1, presence_penalty: 0, frequency_penalty: 0 }],
  ["dry", { dry_multiplier: 0 }],
  ["top_n_sigma", { top_n_sigma: 0 }],
  ["top_k", { top_k: 0 }],
  ["typ_p", { typical_p: 1 }],
  ["top_p", { top_p: 1 }],
  ["min_p", { min_p: 0 }],
  ["xtc", { xtc_probability: 0 }],
  ["temperature", { temperature: 1, dynatemp_range: 0 }],
];
const NAMES = CHAIN.map(([name]) => name);

/** Other names, and the letters of the short form. */
const OTHER_NAMES: Record<string, string> = {
  typical_p: "typ_p",
  typical: "typ_p",
  temp: "temperature",
  e: "penalties",
  d: "dry",
  s: "top_n_sigma",
  k: "top_k",
  y: "typ_p",
  p: "top_p",
  m: "min_p",
  x: "xtc",
  t: "temperature",
};

/** The schema of the list: names, or a text of their letters. */
export const samplerList = {
  type: ["array", "string", "null"],
  items: { type: "string" },
} as const;

/**
 * The options by which all samplers are off that a list does not have; none without a list.
 *
 * @throws {HttpError} 400 for a sampler that there is not, and for another order
 */
export function withoutOtherSamplers(list: Given<string | string[]>): OllamaOptions {
  if (!list?.length) return {};
  const order = [...list].map((given) => {
    const index = NAMES.indexOf(OTHER_NAMES[given] ?? given);
    if (index < 0) throw refusal(`there is no sampler "${given}": there are ${NAMES.join(", ")}`);
    return index;
  });
  if (order.some((index, at) => at > 0 && index <= order[at - 1]!)) {
    throw refusal(`their order is fixed: ${NAMES.join(", ")}`);
  }
  const off = CHAIN.filter((_, index) => !order.includes(index)).map(([, options]) => options);
  return Object.assign({}, ...off);
}

function refusal(state: string): HttpError {
  return new HttpError(400, `samplers: ${state}`, "samplers");
}
