// How an answer differs from what was asked, as members that the answers of all dialects have: messages
// that did not fit, and sentences about the rest. Clients read past members that they do not know. Pure.

import type { CacheReport, DoneEvent } from "../../../engine/mod.ts";
import type { BodyOf } from "../body/schema.ts";
import { deviations, record } from "./openapi/answer_parts.ts";

const schema = record({}, deviations);

/** The members. Those that would say "nothing" are left out. */
export type Deviations = BodyOf<typeof schema>;

/** The members for the end of an answer. */
export function toDeviations(
  { droppedMessages, droppedIndexes, notes, cacheReport }: DoneEvent,
): Deviations {
  return {
    ...(cacheReport && { cache_report: toCacheReport(cacheReport) }),
    ...(droppedMessages && { dropped_messages: droppedMessages }),
    ...(droppedIndexes && { dropped_indexes: droppedIndexes }),
    ...(notes && notes.length > 0 && { warnings: notes }),
  };
}

/** What a prompt found in the cache. */
export function toCacheReport(
  { promptTokens, commonTokens, cachedTokens, fromMemoryTokens, fromDiskTokens, lost }: CacheReport,
): NonNullable<Deviations["cache_report"]> {
  return {
    prompt_tokens: promptTokens,
    common_tokens: commonTokens,
    cached_tokens: cachedTokens,
    from_memory: fromMemoryTokens,
    from_disk: fromDiskTokens,
    ...(lost && { lost: toLost(lost) }),
  };
}

function toLost({ milliseconds, offset: _, ...lost }: NonNullable<CacheReport["lost"]>) {
  return { ...lost, seconds: Math.round(milliseconds) / 1000 };
}
