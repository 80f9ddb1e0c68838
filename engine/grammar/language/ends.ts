// How far a text that has begun is from its end, as far as that can be found in time. Automata ask this
// of each state. Running into limits is no error here: what is not found counts as infinitely far.

import type { Derivatives } from "./derivatives.ts";
import type { Distances } from "./distances.ts";
import { inTime } from "./errors.ts";
import type { Expression } from "./expression_store.ts";
import type { Expressions } from "./expressions.ts";
import type { Writing } from "./json_escapes.ts";
import type { OpenEnds } from "./open_ends.ts";

/** What the questions about languages are answered with. */
export interface LanguageTools {
  readonly expressions: Expressions;
  readonly derivatives: Derivatives;
  readonly characters: Distances;
  /** In bytes, by how texts are written. */
  readonly bytes: Readonly<Record<Writing, Distances>>;
  /** What texts without line separators lack, in characters. */
  readonly openEnds: OpenEnds;
}

/**
 * Whether a text may go on to a language: either its form proves that it has an end, and the next step is
 * known, or the shortest end is found, and with it all steps to it.
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

/** Fewest characters to the end; if that takes too long to find, those of the end with the fewest bytes. */
export function charactersLeft(
  { characters, bytes }: LanguageTools,
  writing: Writing,
  language: Expression,
): number {
  const ofBytes = () => bytes[writing].text(language)?.length ?? Infinity;
  return inTime(() => characters.of(language), () => inTime(ofBytes, () => Infinity));
}
