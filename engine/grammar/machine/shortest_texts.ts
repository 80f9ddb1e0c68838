// The shortest text from each place of a grammar to the end of its rule, documents included. Weights
// count bytes.

import { type Position, weighPositions } from "./program.ts";
import type { Rules } from "./rules.ts";
import type { ShortestValues } from "./shortest_values.ts";
import { completeText } from "./text_completion.ts";
import type { WordSets } from "./word_sets.ts";

/** Longest text that is written out, in bytes. */
const MAX_LENGTH = 1 << 20;

/** The shortest texts of a program's places. */
export class ShortestTexts {
  readonly #rules: Rules;
  readonly #values: ShortestValues;
  readonly #words: WordSets;
  readonly #weights: readonly number[];
  readonly #texts = new Map<Position, Uint8Array | undefined>();

  /** Weighs the places of the program of `rules`. */
  constructor(rules: Rules, words: WordSets, values: ShortestValues) {
    this.#rules = rules;
    this.#words = words;
    this.#values = values;
    const { instructions } = rules.program!;
    this.#weights = weighPositions(
      instructions,
      (one, position) =>
        one.type === "document"
          ? values.weight(one.root)
          : this.#text(position)?.length ?? Infinity,
    );
  }

  /** Bytes that the longest of the shortest texts has. */
  get greatestWeight(): number {
    return this.#weights.reduce((most, one) => one < Infinity ? Math.max(most, one) : most, 0);
  }

  /**
   * The shortest text from a place on, after some rounds if it is a repetition; undefined where it
   * is too long to write.
   */
  bytes(position: Position, rounds: number): readonly number[] | undefined {
    if (this.#weights[position]! > MAX_LENGTH) return undefined;
    const bytes: number[] = [];
    this.#write(position, rounds, bytes);
    return bytes;
  }

  #write(position: Position, rounds: number, out: number[]): void {
    for (;;) {
      const one = this.#rules.program!.instructions[position]!;
      switch (one.type) {
        case "return":
          return;
        case "text":
          for (const byte of this.#text(position)!) out.push(byte);
          break;
        case "document":
          for (const byte of this.#values.bytes(one.root)!) out.push(byte);
          break;
        case "call":
          this.#write(one.target, 0, out);
          break;
        case "repeat":
          for (let round = rounds; round < one.min; round++) this.#write(one.part, 0, out);
          break;
      }
      position = one.type === "fork" ? this.#lightest(one.targets) : one.next;
      rounds = 0;
    }
  }

  #lightest(positions: readonly Position[]): Position {
    const weights = this.#weights;
    return positions.reduce((best, at) => weights[at]! < weights[best]! ? at : best);
  }

  #text(position: Position): Uint8Array | undefined {
    if (!this.#texts.has(position)) {
      const text = this.#rules.texts[this.#rules.programText(position)]!;
      const { start } = text.automaton;
      this.#texts.set(position, completeText(text, start, 0, this.#words));
    }
    return this.#texts.get(position);
  }
}
