// A parsed ECMA-262 pattern. It does not distinguish greedy from lazy quantifiers, nor groups that
// capture from others, because these do not affect the language.

import type { CharacterSet } from "./character_set.ts";

/** The facts of every node. */
interface Facts {
  /** Fewest characters that it matches. */
  readonly min: number;
  /** An upper bound of the characters that it matches. */
  readonly max: number;
  /** Whether it contains an assertion. */
  readonly asserts: boolean;
  /** Whether it contains an assertion about earlier text: ^, \b or a look-behind. */
  readonly looksBack: boolean;
}

/** A node of a pattern. */
export type PatternNode =
  & Facts
  & (
    | { readonly kind: "set"; readonly set: CharacterSet }
    | { readonly kind: "sequence" | "choice"; readonly items: readonly PatternNode[] }
    | {
      readonly kind: "repeat";
      readonly body: PatternNode;
      readonly from: number;
      readonly to: number;
    }
    | {
      readonly kind: "look";
      readonly back: boolean;
      readonly not: boolean;
      readonly body: PatternNode;
    }
    | { readonly kind: "start" | "end" }
    | { readonly kind: "boundary"; readonly not: boolean }
  );

/** One character of `set`. */
export function setNode(set: CharacterSet): PatternNode {
  return { kind: "set", set, min: 1, max: 1, asserts: false, looksBack: false };
}

/** A sequence. */
export function sequenceNode(items: readonly PatternNode[]): PatternNode {
  let min = 0;
  let max = 0;
  for (const item of items) {
    min += item.min;
    max += item.max;
  }
  return { kind: "sequence", items, min, max, ...assertions(items) };
}

/** A choice. */
export function choiceNode(items: readonly PatternNode[]): PatternNode {
  let min = Infinity;
  let max = 0;
  for (const item of items) {
    min = Math.min(min, item.min);
    max = Math.max(max, item.max);
  }
  return { kind: "choice", items, min, max, ...assertions(items) };
}

/** A repetition. */
export function repeatNode(body: PatternNode, from: number, to: number): PatternNode {
  const { asserts, looksBack } = body;
  const max = body.max === 0 || to === 0 ? 0 : body.max * to;
  return { kind: "repeat", body, from, to, min: body.min * from, max, asserts, looksBack };
}

/** A look-ahead or look-behind. */
export function lookNode(back: boolean, not: boolean, body: PatternNode): PatternNode {
  const looksBack = back || body.looksBack;
  return { kind: "look", back, not, body, min: 0, max: 0, asserts: true, looksBack };
}

/** ^ */
export const START: PatternNode = { kind: "start", min: 0, max: 0, asserts: true, looksBack: true };

/** $ */
export const END: PatternNode = { kind: "end", min: 0, max: 0, asserts: true, looksBack: false };

/** \b, or \B if `not`. */
export function boundaryNode(not: boolean): PatternNode {
  return { kind: "boundary", not, min: 0, max: 0, asserts: true, looksBack: true };
}

function assertions(items: readonly PatternNode[]): { asserts: boolean; looksBack: boolean } {
  return {
    asserts: items.some((item) => item.asserts),
    looksBack: items.some((item) => item.looksBack),
  };
}
