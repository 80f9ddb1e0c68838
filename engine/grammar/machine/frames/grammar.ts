// Stacks at a place of a grammar, within one of its texts, or with one frame for several stacks.
// grammar_ways.ts finds the texts and documents that may come next; documents are then stepped as
// documents without a grammar are.

import type { TextRules } from "../texts/text_rules.ts";
import { type Ends, type FrameContext, type FrameKind, JsonFrames } from "./frame_kind.ts";
import { GrammarWays } from "./grammar_ways.ts";
import { PLACE, TEXT } from "./layouts.ts";
import type { StackUnions } from "./stack_unions.ts";
import type { Stack } from "./stacks.ts";

const BYTES: readonly number[] = [...Array(256).keys()];

/** The kinds of frames of a grammar: PLACE, TEXT and EITHER. */
export class GrammarFrames extends JsonFrames {
  readonly #ways: GrammarWays;
  readonly #documents: FrameKind;
  /** By text and state: the bytes that may come. */
  readonly #continuations = new Map<TextRules, (readonly number[])[]>();

  constructor(context: FrameContext, unions: StackUnions) {
    super(context);
    this.#documents = context.any;
    this.#ways = new GrammarWays(context.rules, context.stacks, unions);
  }

  step(stack: Stack, byte: number, out: Stack[]): void {
    for (const way of this.#ways.of(stack)) {
      if (this.stacks.kind(way) === TEXT.kind) this.#text(way, byte, out);
      else this.#documents.step(way, byte, out);
    }
  }

  override isComplete(stack: Stack): boolean {
    return this.#ways.of(stack).some((way) => this.stacks.isBottom(way));
  }

  override candidates(stack: Stack): Iterable<number> | undefined {
    const bytes = new Set<number>();
    for (const way of this.#ways.of(stack)) {
      const more = this.stacks.kind(way) === TEXT.kind
        ? this.#continuationsOf(way)
        : this.#documents.candidates(way);
      if (!more) return undefined;
      for (const byte of more) bytes.add(byte);
    }
    return bytes;
  }

  completion(stack: Stack, ends: Ends): number {
    const { stacks } = this;
    if (stacks.kind(stack) === TEXT.kind) return this.#textCompletion(stack, ends);
    if (stacks.kind(stack) !== PLACE.kind) return 0;
    const position = stacks.field(stack, PLACE.position);
    return ends.program.weight(position, stacks.field(stack, PLACE.rounds));
  }

  /** Fewest bytes that complete the text on top. */
  #textCompletion(stack: Stack, { texts }: Ends): number {
    const { stacks } = this;
    const text = this.rules.texts[stacks.field(stack, TEXT.text)]!;
    return texts.length(
      text,
      stacks.field(stack, TEXT.state),
      stacks.field(stack, TEXT.characters),
    );
  }

  #text(stack: Stack, byte: number, out: Stack[]): void {
    const { stacks } = this;
    const index = stacks.field(stack, TEXT.text);
    const state = stacks.field(stack, TEXT.state);
    const characters = stacks.field(stack, TEXT.characters);
    const text = this.rules.texts[index]!;
    const next = text.automaton.step(state, byte);
    if (next === 0) return;
    const counted = text.charactersAt(next, characters);
    if (next === state && counted === characters) out.push(stack);
    else if (text.isFeasible(next, counted)) {
      const after = stacks.withFrame(stack, TEXT.frame(index, next, counted));
      const isOver = this.#continuationsOf(after).length === 0;
      out.push(isOver ? stacks.parent(stack) : after);
    }
  }

  #continuationsOf(stack: Stack): readonly number[] {
    const text = this.rules.texts[this.stacks.field(stack, TEXT.text)]!;
    const state = this.stacks.field(stack, TEXT.state);
    let byState = this.#continuations.get(text);
    if (!byState) this.#continuations.set(text, byState = []);
    return byState[state] ??= BYTES.filter((byte) => text.automaton.step(state, byte) !== 0);
  }
}
