// How a text that is begun may end, as far as that is found in time: what an automaton asks of each state.
// Nothing here throws.

import type { Derivatives } from "./derivatives.ts";
import type { Distances } from "./distances.ts";
import { inTime } from "./errors.ts";
import type { Expression } from "./expression_store.ts";
import type { Expressions } from "./expressions.ts";
import type { Writing } from "./json_escapes.ts";
import type { OpenEnds } from "./open_ends.ts";

/** What the states stand on. */
export interface LanguageTools {
  readonly expressions: Expressions;
  readonly derivatives: Derivatives;
  readonly characters: Distances;
  /** By how they are written. */
  readonly bytes: Readonly<Record<Writing, Distances>>;
  /** What texts without line separators lack, in characters. */
  readonly openEnds: OpenEnds;
}

/**
 * Whether a text may go on to a language: an end is there for sure and the next step known, or the
 * shortest end is found, and with it all steps to it.
 */
export function canEnd(tools: LanguageTools, writing: Writing, language: Expression): boolean {
  const distances = tools.bytes[writing];
  const find = !distances.isKnown(language) && tools.openEnds.hasText(language)
    ? () => tools.derivatives.transitions(language).starts.length > 0
    : () => distances.of(language) < Infinity;
  return inTime(find, () => false);
}

/** Fewest bytes to the end; Infinity if that takes too long to find. */
export function bytesLeft(tools: LanguageTools, writing: Writing, language: Expression): number {
  return inTime(() => tools.bytes[writing].of(language), () => Infinity);
}

/** Fewest characters to the end, or where that takes too long those of the shortest text in bytes. */
export function charactersLeft(
  { characters, bytes }: LanguageTools,
  writing: Writing,
  language: Expression,
): number {
  const ofBytes = () => bytes[writing].text(language)?.length ?? Infinity;
  return inTime(() => characters.of(language), () => inTime(ofBytes, () => Infinity));
}
