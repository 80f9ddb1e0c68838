// The bytes of the shortest text from each position of a grammar to the end of its rule, JSON
// documents included.

import { type Position, weighPositions } from "../rules/program.ts";
import type { Rules } from "../rules/rules.ts";
import type { TextEnds } from "./text_ends.ts";
import type { ValueEnds } from "./value_ends.ts";

/** Measures the shortest texts from the positions of a program. */
export class ProgramEnds {
  readonly #rules: Rules;
  readonly #weights: readonly number[];

  /** Weighs the places of the program of `rules`. */
  constructor(rules: Rules, texts: TextEnds, values: ValueEnds) {
    this.#rules = rules;
    this.#weights = weighPositions(
      rules.program!.instructions,
      (one, position) => {
        if (one.type === "document") return values.weight(one.root);
        const text = rules.texts[rules.programText(position)]!;
        return texts.length(text, text.automaton.start, 0);
      },
    );
  }

  /** Bytes from a position on, after some rounds if it is a repetition. */
  weight(position: Position, rounds: number): number {
    const one = this.#rules.program!.instructions[position]!;
    const done = one.type === "repeat" ? Math.min(rounds, one.min) : 0;
    const whole = this.#weights[position]!;
    return done === 0 || one.type !== "repeat" ? whole : whole - done * this.#weights[one.part]!;
  }
}
