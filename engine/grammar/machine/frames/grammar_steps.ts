// Where stacks may go within a grammar: its texts are stepped here, its JSON documents by whoever
// knows them.

import type { Rules } from "../rules/rules.ts";
import type { TextRules } from "../texts/text_rules.ts";
import { GrammarWays } from "./grammar_ways.ts";
import type { StackUnions } from "./stack_unions.ts";
import { Kind, type Stack, type Stacks } from "./stacks.ts";

/** Steps that stacks with JSON on top take. */
export interface DocumentSteps {
  step(stack: Stack, byte: number, out: Stack[]): void;
  candidates(stack: Stack): Iterable<number> | undefined;
}

const BYTES: readonly number[] = [...Array(256).keys()];

/** Steps stacks with a place of a grammar or its text on top. */
export class GrammarSteps {
  readonly #rules: Rules;
  readonly #stacks: Stacks;
  readonly #documents: DocumentSteps;
  readonly #ways: GrammarWays;
  /** By text and state, the bytes that go on. */
  readonly #continuations = new Map<TextRules, (readonly number[])[]>();

  constructor(rules: Rules, stacks: Stacks, unions: StackUnions, documents: DocumentSteps) {
    this.#rules = rules;
    this.#stacks = stacks;
    this.#documents = documents;
    this.#ways = new GrammarWays(rules, stacks, unions);
  }

  /** Adds to `out` the stacks after a byte. */
  step(stack: Stack, byte: number, out: Stack[]): void {
    for (const way of this.#ways.of(stack)) {
      if (this.#stacks.kind(way) === Kind.TEXT) this.#text(way, byte, out);
      else this.#documents.step(way, byte, out);
    }
  }

  /** Whether the grammar may end. */
  isComplete(stack: Stack): boolean {
    return this.#ways.of(stack).some((way) => this.#stacks.isBottom(way));
  }

  /** Bytes among which are all that a stack may take; undefined where they are not few. */
  candidates(stack: Stack): Iterable<number> | undefined {
    const bytes = new Set<number>();
    for (const way of this.#ways.of(stack)) {
      const more = this.#stacks.kind(way) === Kind.TEXT
        ? this.#continuationsOf(way)
        : this.#documents.candidates(way);
      if (!more) return undefined;
      for (const byte of more) bytes.add(byte);
    }
    return bytes;
  }

  #text(stack: Stack, byte: number, out: Stack[]): void {
    const stacks = this.#stacks;
    const [, index, state, characters] = stacks.frame(stack) as [number, number, number, number];
    const text = this.#rules.texts[index]!;
    const next = text.automaton.step(state, byte);
    if (next === 0) return;
    const counted = text.charactersAt(next, characters);
    if (next === state && counted === characters) out.push(stack);
    else if (text.isFeasible(next, counted)) {
      const after = stacks.withFrame(stack, [Kind.TEXT, index, next, counted]);
      const isOver = this.#continuationsOf(after).length === 0;
      out.push(isOver ? stacks.parent(stack) : after);
    }
  }

  #continuationsOf(stack: Stack): readonly number[] {
    const text = this.#rules.texts[this.#stacks.field(stack, 1)]!;
    const state = this.#stacks.field(stack, 2);
    let byState = this.#continuations.get(text);
    if (!byState) this.#continuations.set(text, byState = []);
    return byState[state] ??= BYTES.filter((byte) => text.automaton.step(state, byte) !== 0);
  }
}
