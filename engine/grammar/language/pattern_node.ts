// A parsed pattern. Which of its groups capture is kept beside it, for back references; these, and groups
// that give nothing back, are replaced by other nodes before the pattern becomes a language.

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
  /** What it is in any of the dialects, if they differ: see pattern_parser.ts. */
  readonly any?: PatternNode;
}

export type PatternNode =
  & Facts
  & (
    | {
      readonly kind: "set";
      readonly set: CharacterSet;
      /** Where it stands in the pattern, in UTF-16 units, start and end; missing if it stands for several positions. */
      readonly span?: readonly [start: number, end: number];
    }
    | { readonly kind: "sequence" | "choice"; readonly items: readonly PatternNode[] }
    | {
      readonly kind: "repeat";
      readonly body: PatternNode;
      readonly from: number;
      readonly to: number;
      /** Whether it tries fewer repetitions first, which only matters within atomic groups. */
      readonly isLazy: boolean;
    }
    | {
      readonly kind: "look";
      readonly back: boolean;
      readonly not: boolean;
      readonly body: PatternNode;
    }
    | { readonly kind: "start" | "end" }
    | { readonly kind: "boundary"; readonly not: boolean; readonly word: CharacterSet }
    /** The text that a group has matched; `atColumn` is for messages. */
    | {
      readonly kind: "reference";
      readonly group: number;
      readonly ignoreCase: boolean;
      readonly column: number;
    }
  );

/** One character of `set`. */
export function setNode(set: CharacterSet): PatternNode {
  return { kind: "set", set, min: 1, max: 1, asserts: false, looksBack: false };
}

export function sequenceNode(items: readonly PatternNode[]): PatternNode {
  let min = 0;
  let max = 0;
  for (const item of items) {
    min += item.min;
    max += item.max;
  }
  return { kind: "sequence", items, min, max, ...assertions(items) };
}

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
export function repeatNode(
  body: PatternNode,
  from: number,
  to: number,
  isLazy = false,
): PatternNode {
  const { asserts, looksBack } = body;
  const max = body.max === 0 || to === 0 ? 0 : body.max * to;
  return { kind: "repeat", body, from, to, isLazy, min: body.min * from, max, asserts, looksBack };
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

/** \b, or \B if `not`. @param word the characters of words */
export function boundaryNode(not: boolean, word: CharacterSet): PatternNode {
  return { kind: "boundary", not, word, min: 0, max: 0, asserts: true, looksBack: true };
}

/** The text of an earlier group. */
export function referenceNode(group: number, ignoreCase: boolean, column: number): PatternNode {
  return {
    kind: "reference",
    group,
    ignoreCase,
    column,
    min: 0,
    max: Infinity,
    asserts: false,
    looksBack: false,
  };
}

function assertions(items: readonly PatternNode[]): { asserts: boolean; looksBack: boolean } {
  return {
    asserts: items.some((item) => item.asserts),
    looksBack: items.some((item) => item.looksBack),
  };
}
