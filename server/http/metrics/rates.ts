// How fast a generation was, from its exact counts; the log and the metrics show the same numbers.

import type { Usage } from "../../../engine/mod.ts";

/** New prompt tokens per second; undefined where there were none or no time passed. */
export function prefillRate(usage: Usage): number | undefined {
  return rate(usage.promptTokens - usage.cachedTokens, usage.promptMilliseconds);
}

/** Tokens per second after the first one, which comes with the prompt. */
export function decodeRate(usage: Usage): number | undefined {
  return rate(usage.completionTokens - 1, usage.completionMilliseconds);
}

function rate(tokens: number, milliseconds: number): number | undefined {
  return tokens > 0 && milliseconds > 0 ? tokens * 1000 / milliseconds : undefined;
}
