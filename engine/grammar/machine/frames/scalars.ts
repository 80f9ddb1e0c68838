// Stacks within a literal (null, true, false), a number or a string.

import { LITERALS } from "../rules/rules.ts";
import { NO_WORDS } from "../collections.ts";
import { type Ends, JsonFrames, OUTSIDE_TEXTS } from "./frame_kind.ts";
import { ARRAY, DOCUMENT_END, LITERAL, NUMBER, STRING } from "./layouts.ts";
import type { Stack } from "./stacks.ts";

const QUOTE = 0x22;

/** The kind of frames of null, true and false. */
export class LiteralFrames extends JsonFrames {
  step(stack: Stack, byte: number, out: Stack[]): void {
    const { stacks } = this;
    const word = LITERALS[stacks.field(stack, LITERAL.word)]!;
    const position = stacks.field(stack, LITERAL.position);
    if (word[position] !== byte) return;
    const isOver = position + 1 === word.length;
    out.push(
      isOver ? stacks.parent(stack) : stacks.withField(stack, LITERAL.position, position + 1),
    );
  }

  completion(stack: Stack): number {
    const { stacks } = this;
    const word = LITERALS[stacks.field(stack, LITERAL.word)]!;
    return word.length - stacks.field(stack, LITERAL.position);
  }
}

/** The kind of frames of numbers. A number only ends by the byte that follows it. */
export class NumberFrames extends JsonFrames {
  step(stack: Stack, byte: number, out: Stack[]): void {
    const { stacks } = this;
    const automaton = this.rules.numbers[stacks.field(stack, NUMBER.rules)]!;
    const state = stacks.field(stack, NUMBER.state);
    const next = automaton.step(state, byte);
    if (next !== 0) out.push(stacks.withField(stack, NUMBER.state, next));
    const isOver = next === 0 || this.endsDocument(stack);
    if (isOver && automaton.accepts(state)) this.any.step(stacks.parent(stack), byte, out);
  }

  override candidates(stack: Stack): Iterable<number> | undefined {
    if (!this.endsDocument(stack)) return OUTSIDE_TEXTS;
    const after = this.any.candidates(this.stacks.parent(stack));
    return after && [...OUTSIDE_TEXTS, ...after];
  }

  override isComplete(stack: Stack): boolean {
    const { stacks } = this;
    const automaton = this.rules.numbers[stacks.field(stack, NUMBER.rules)]!;
    return automaton.accepts(stacks.field(stack, NUMBER.state)) &&
      this.any.isComplete(stacks.parent(stack));
  }

  completion(stack: Stack): number {
    const { stacks } = this;
    const automaton = this.rules.numbers[stacks.field(stack, NUMBER.rules)]!;
    return automaton.completion(stacks.field(stack, NUMBER.state)).length;
  }

  /** Whether the number is a whole document, so that a grammar determines what comes after it. */
  endsDocument(stack: Stack): boolean {
    const { stacks } = this;
    const parent = stacks.parent(stack);
    return stacks.kind(parent) === DOCUMENT_END.kind && !stacks.isBottom(stacks.parent(parent));
  }
}

/** The kind of frames of strings. */
export class StringFrames extends JsonFrames {
  step(stack: Stack, byte: number, out: Stack[]): void {
    const { stacks } = this;
    const index = stacks.field(stack, STRING.text);
    const state = stacks.field(stack, STRING.state);
    const characters = stacks.field(stack, STRING.characters);
    const text = this.rules.texts[index]!;
    const next = text.automaton.step(state, byte);
    if (next !== 0) {
      const counted = text.charactersAt(next, characters);
      if (next === state && counted === characters) out.push(stack);
      else if (text.isFeasible(next, counted)) {
        out.push(stacks.withFrame(stack, STRING.frame(index, next, counted)));
      }
    } else if (byte === QUOTE && text.isComplete(state, characters)) {
      out.push(stacks.parent(stack));
    }
  }

  override candidates(_stack: Stack): undefined {
    return undefined;
  }

  completion(stack: Stack, { texts }: Ends): number {
    const { stacks } = this;
    const text = this.rules.texts[stacks.field(stack, STRING.text)]!;
    const state = stacks.field(stack, STRING.state);
    return texts.length(text, state, stacks.field(stack, STRING.characters)) + 1;
  }

  /** The stack after the quote that ends the string. */
  closed(stack: Stack): Stack {
    const { stacks } = this;
    const parent = stacks.parent(stack);
    if (stacks.kind(parent) !== ARRAY.kind) return parent;
    return stacks.withField(parent, ARRAY.avoided, NO_WORDS);
  }
}
