// A grammar in the form that the machine runs: instructions that name the next ones by index, so
// that a position in a grammar is a number. Made by ../program/, which ensures that every path
// ends.

import type { LanguageId } from "../../language/mod.ts";
import type { TypeId } from "../../types.ts";
import type { TextAutomaton } from "../texts/text_automaton.ts";

/** A position in a program: the index of an instruction. */
export type Position = number;

/** The position at the end of every rule, and of the root. */
export const RETURN: Position = 0;

/** A text of an automaton with a number of characters. */
export interface ProgramText {
  readonly automaton: TextAutomaton;
  /** The language of the automaton; missing for control tokens. */
  readonly language?: LanguageId;
  readonly min: number;
  /** Infinity: any number. */
  readonly max: number;
  /** 0 if it may be empty, Infinity if there is no text at all, otherwise 1. */
  readonly least: number;
}

/** One step through a grammar. */
export type Instruction =
  | { readonly type: "return" }
  | { readonly type: "text"; readonly text: ProgramText; readonly next: Position }
  /** A JSON document. */
  | { readonly type: "document"; readonly root: TypeId; readonly next: Position }
  /** A choice. */
  | { readonly type: "fork"; readonly targets: readonly Position[] }
  /** A rule from its first position to its end, and what follows it. */
  | { readonly type: "call"; readonly target: Position; readonly next: Position }
  /**
   * A repetition of a part, which ends at the end of a rule. If the part may be empty, `min` is 0.
   */
  | {
    readonly type: "repeat";
    readonly part: Position;
    readonly min: number;
    readonly max: number;
    readonly next: Position;
  };

/** The instructions that accept bytes. */
export type Terminal = Extract<Instruction, { type: "text" | "document" }>;

/** The instructions of a grammar; the one at {@linkcode RETURN} is a return. */
export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: Position;
  /** By position: whether nothing more is required up to the end of its rule. */
  readonly isNullable: readonly boolean[];
}

/**
 * The least weight from each position to the end of its rule, as a least fixed point: Infinity if
 * there is no end, 0 if nothing is required.
 */
export function weighPositions(
  instructions: readonly Instruction[],
  weigh: (terminal: Terminal, position: Position) => number,
): number[] {
  const weights = instructions.map(({ type }) => type === "return" ? 0 : Infinity);
  const own = instructions.map((one, position) =>
    one.type === "text" || one.type === "document" ? weigh(one, position) : 0
  );
  const weight = (one: Instruction, position: Position): number => {
    switch (one.type) {
      case "return":
        return 0;
      case "fork":
        return one.targets.reduce((least, at) => Math.min(least, weights[at]!), Infinity);
      case "call":
        return weights[one.target]! + weights[one.next]!;
      case "repeat":
        return (one.min === 0 ? 0 : one.min * weights[one.part]!) + weights[one.next]!;
      default:
        return own[position]! + weights[one.next]!;
    }
  };
  for (let changed = true; changed;) {
    changed = false;
    for (let position = 0; position < weights.length; position++) {
      const found = weight(instructions[position]!, position);
      if (found >= weights[position]!) continue;
      weights[position] = found;
      changed = true;
    }
  }
  return weights;
}
