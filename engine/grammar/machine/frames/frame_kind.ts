// What every kind of frame answers, and what it stands on. Each kind has a module of its own.

import type { ProgramEnds } from "../completion/program_ends.ts";
import type { TextEnds } from "../completion/text_ends.ts";
import type { ValueEnds } from "../completion/value_ends.ts";
import type { Rules } from "../rules/rules.ts";
import type { Stack, Stacks } from "./stacks.ts";

/** The shortest ends of texts, of values, and of what a grammar has. */
export interface Ends {
  readonly texts: TextEnds;
  readonly values: ValueEnds;
  readonly program: ProgramEnds;
}

/** What a stack may do that has a frame of some kind on top. */
export interface FrameKind {
  /** Adds to `out` the stacks after a byte. What a unique item must not be is not looked at here. */
  step(stack: Stack, byte: number, out: Stack[]): void;
  /** Bytes among which are all that the stack may take; undefined where they are not few. */
  candidates(stack: Stack): Iterable<number> | undefined;
  /** Whether all is complete, what lies below too. */
  isComplete(stack: Stack): boolean;
  /** White space that may come and changes nothing but how much more may come. */
  spaces(stack: Stack): number;
  /** Fewest bytes that complete the frame, without what lies below; of a key, its object too. */
  completion(stack: Stack, ends: Ends): number;
}

/** What the kinds stand on. */
export interface FrameContext {
  readonly rules: Rules;
  readonly stacks: Stacks;
  /** What any stack may do: what a frame hands on to those below. */
  readonly any: FrameKind;
}

/** Bytes of JSON that are not in a string. */
export const OUTSIDE_TEXTS = new TextEncoder().encode('\t\n\r "{}[]:,+-.0123456789Eaeflnrstu');

/** What holds of most kinds: nothing is complete with one on top, and white space is not for it to take. */
export abstract class JsonFrames implements FrameKind {
  readonly rules: Rules;
  readonly stacks: Stacks;
  readonly any: FrameKind;

  constructor({ rules, stacks, any }: FrameContext) {
    this.rules = rules;
    this.stacks = stacks;
    this.any = any;
  }

  abstract step(stack: Stack, byte: number, out: Stack[]): void;
  abstract completion(stack: Stack, ends: Ends): number;

  candidates(_stack: Stack): Iterable<number> | undefined {
    return OUTSIDE_TEXTS;
  }

  isComplete(_stack: Stack): boolean {
    return false;
  }

  spaces(_stack: Stack): number {
    return 0;
  }
}
