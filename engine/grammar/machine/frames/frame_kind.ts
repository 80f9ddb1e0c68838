// The interface of kinds of frames: what can be asked about a stack with such a frame on top. Each
// kind is a module of its own.

import type { TextEnds } from "../ends/text_ends.ts";
import type { ProgramEnds, ValueEnds } from "../ends/value_ends.ts";
import type { Rules } from "../rules/rules.ts";
import type { Stack, Stacks } from "./stacks.ts";

/** The lengths of the shortest ends of texts, values and grammars. */
export interface Ends {
  readonly texts: TextEnds;
  readonly values: ValueEnds;
  readonly program: ProgramEnds;
}

/** The behaviour of stacks that have a frame of one kind on top. */
export interface FrameKind {
  /** Adds to `out` the stacks after a byte. Whether unique items differ is checked elsewhere. */
  step(stack: Stack, byte: number, out: Stack[]): void;
  /** The bytes that may come, perhaps with others; undefined if they are many. */
  candidates(stack: Stack): Iterable<number> | undefined;
  /** Whether the document may end here, which depends on all frames below. */
  isComplete(stack: Stack): boolean;
  /** Bytes of white space that may come and change nothing but how many more may come. */
  spaces(stack: Stack): number;
  /** Fewest bytes that complete the top frame alone; for a key, the key and its object. */
  completion(stack: Stack, ends: Ends): number;
}

/** The parts that all kinds of frames use. */
export interface FrameContext {
  readonly rules: Rules;
  readonly stacks: Stacks;
  /** The behaviour of any stack, to which a frame that ends passes the byte on. */
  readonly any: FrameKind;
}

/** The bytes that occur in JSON outside of strings. */
export const OUTSIDE_TEXTS = new TextEncoder().encode('\t\n\r "{}[]:,+-.0123456789Eaeflnrstu');

/** Answers of most kinds: the document cannot end here, and no white space may come. */
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
