// How far a text that has begun is from its end, as far as that can be found in time. Automata ask
// this for each state. Exceeding a limit is no error here: such a distance counts as infinite.

import type { Derivatives } from "./derivatives.ts";
import type { Distances, OpenEnds } from "./distances.ts";
import { inTime } from "./errors.ts";
import type { Expression } from "./expression_store.ts";
import type { Expressions } from "./expressions.ts";
import type { Writing } from "./json_escapes.ts";

/** What answers questions about languages. */
export interface LanguageTools {
  readonly expressions: Expressions;
  readonly derivatives: Derivatives;
  readonly characters: Distances;
  /** In bytes, for each way of writing. */
  readonly bytes: Readonly<Record<Writing, Distances>>;
  /** In characters. */
  readonly openEnds: OpenEnds;
}

/**
 * Whether a text may continue with a language. It may if the language's form proves that it has an
 * end and its next step is known, or if the shortest end and all steps to it are found.
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

/**
 * Fewest characters to the end; if finding them takes too long, those of the end with the fewest
 * bytes.
 */
export function charactersLeft(
  { characters, bytes }: LanguageTools,
  writing: Writing,
  language: Expression,
): number {
  const ofBytes = () => bytes[writing].text(language)?.length ?? Infinity;
  return inTime(() => characters.of(language), () => inTime(ofBytes, () => Infinity));
}
