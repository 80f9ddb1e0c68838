// A grammar as the machine runs it: instructions that name the next ones by index, so that a place
// in a grammar is a number. Made by ../program/, which sees to it that every way through ends.

import type { LanguageId } from "../../language/mod.ts";
import type { TypeId } from "../../types.ts";
import type { TextAutomaton } from "../texts/text_automaton.ts";

/** A place in a program: the index of an instruction. */
export type Position = number;

/** The place at the end of every rule, and of the root. */
export const RETURN: Position = 0;

/** Text of an automaton, of a number of characters. */
export interface ProgramText {
  readonly automaton: TextAutomaton;
  /** What it is the automaton of; missing for control tokens. */
  readonly language?: LanguageId;
  readonly min: number;
  /** Infinity: any. */
  readonly max: number;
  /** 0 where the empty text is one, Infinity where there is none at all, else 1. */
  readonly least: number;
}

/** One step through a grammar. */
export type Instruction =
  | { readonly type: "return" }
  | { readonly type: "text"; readonly text: ProgramText; readonly next: Position }
  /** A JSON document. */
  | { readonly type: "document"; readonly root: TypeId; readonly next: Position }
  /** Any one of them. */
  | { readonly type: "fork"; readonly targets: readonly Position[] }
  /** A rule, from its first place to the end, and what follows it. */
  | { readonly type: "call"; readonly target: Position; readonly next: Position }
  /** A part over and over, each time to its end; where that can be empty, `min` is 0. */
  | {
    readonly type: "repeat";
    readonly part: Position;
    readonly min: number;
    readonly max: number;
    readonly next: Position;
  };

/** Instructions that bytes are taken by. */
export type Terminal = Extract<Instruction, { type: "text" | "document" }>;

/** The instructions of a grammar; the one at {@linkcode RETURN} is a return. */
export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: Position;
  /** By place, whether nothing need come up to the end of its rule. */
  readonly isNullable: readonly boolean[];
}

/**
 * The least weight from each place to the end of its rule, as a least fixed point: Infinity where
 * there is no end, 0 where nothing need come.
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
