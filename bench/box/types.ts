// What the generators of the box make: conversations with the answers that are right. Training
// takes the answers as they stand, the evaluation asks a running server and checks what it says.

import type { Tool } from "../../engine/types/mod.ts";
import type { Random, Split } from "./random.ts";

export type { Split };

/** What the model says in its turn. */
export interface Answer {
  /** What it thinks first; only in examples with `think`. */
  thinking?: string;
  text?: string;
  call?: { name: string; arguments: Record<string, unknown> };
}

/** Something that is said to the model, and what it should say then. */
export interface Turn {
  /** What the user says; absent where `toolResult` is what comes. */
  user?: string;
  /** The answer of the tool that the model called in the turn before. */
  toolResult?: string;
  answer: Answer;
  /** Whether an answer is right; absent where the turn only leads to another one. */
  check?: (answer: Answer) => boolean;
}

/** A conversation of one skill. */
export interface Example {
  system?: string;
  tools?: Tool[];
  think?: boolean;
  /** JSON Schema of the answers, for the evaluation; training does not see it. */
  format?: Record<string, unknown>;
  turns: Turn[];
}

/** One of the things that the model can do. */
export interface Skill {
  readonly name: string;
  /** Makes an example; the same random numbers, the same example. */
  example(random: Random, split: Split): Example;
}
