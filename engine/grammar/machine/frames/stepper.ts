// Steps stacks of frames over bytes: each question is passed to the kind of the top frame. Every
// resulting stack can be completed, because a byte is accepted only if everything that must follow
// is still possible. After the root value of a document white space may come, then what follows in
// the grammar around it.

import type { Rules } from "../rules/rules.ts";
import type { WordAvoidance } from "../texts/word_avoidance.ts";
import { ArrayFrames } from "./array.ts";
import {
  type Ends,
  type FrameContext,
  type FrameKind,
  JsonFrames,
  OUTSIDE_TEXTS,
} from "./frame_kind.ts";
import { GrammarFrames } from "./grammar.ts";
import {
  ARRAY,
  DECLARED_KEY,
  DOCUMENT_END,
  EITHER,
  GRAMMAR_POSITION,
  LITERAL,
  NUMBER,
  OBJECT,
  OTHER_KEY,
  STRING,
  TEXT,
  VALUE,
} from "./layouts.ts";
import { DeclaredKeyFrames, ObjectFrames, OtherKeyFrames } from "./object.ts";
import { LiteralFrames, NumberFrames, StringFrames } from "./scalars.ts";
import { ScarceItems, UniqueItems } from "./scarce_items.ts";
import type { StackUnions } from "./stack_unions.ts";
import type { Stack, Stacks } from "./stacks.ts";
import { ValueFrames } from "./value.ts";

/** Steps stacks over bytes. */
export class Stepper implements FrameKind {
  readonly #rules: Rules;
  readonly #stacks: Stacks;
  readonly #unique: UniqueItems;
  readonly #strings: StringFrames;
  readonly #numbers: NumberFrames;
  readonly #otherKeys: OtherKeyFrames;
  /** By the number of the kind. */
  readonly #kinds: readonly FrameKind[];

  constructor(rules: Rules, stacks: Stacks, unions: StackUnions, avoidance: WordAvoidance) {
    this.#rules = rules;
    this.#stacks = stacks;
    // Frames that pass a byte on to others do not compare unique items: that is done once, at the
    // end.
    const any: FrameKind = {
      step: (stack, byte, out) => this.#step(stack, byte, out),
      candidates: (stack) => this.candidates(stack),
      isComplete: (stack) => this.isComplete(stack),
      spaces: (stack) => this.spaces(stack),
      completion: (stack, ends) => this.completion(stack, ends),
    };
    const context: FrameContext = { rules, stacks, any };
    this.#unique = new UniqueItems(rules, stacks, any);
    this.#strings = new StringFrames(context);
    this.#numbers = new NumberFrames(context);
    this.#otherKeys = new OtherKeyFrames(context, avoidance);
    const grammar = new GrammarFrames(context, unions);
    const values = new ValueFrames(context);
    const scarce = new ScarceItems(rules, stacks, unions, this);
    const kinds: FrameKind[] = [];
    kinds[VALUE.kind] = values;
    kinds[LITERAL.kind] = new LiteralFrames(context);
    kinds[NUMBER.kind] = this.#numbers;
    kinds[STRING.kind] = this.#strings;
    kinds[DECLARED_KEY.kind] = new DeclaredKeyFrames(context);
    kinds[OTHER_KEY.kind] = this.#otherKeys;
    kinds[OBJECT.kind] = new ObjectFrames(context, this.#otherKeys);
    kinds[ARRAY.kind] = new ArrayFrames(context, { values, unique: this.#unique, scarce });
    kinds[DOCUMENT_END.kind] = new DocumentEndFrames(context);
    kinds[GRAMMAR_POSITION.kind] = kinds[TEXT.kind] = kinds[EITHER.kind] = grammar;
    this.#kinds = kinds;
  }

  /** The stack at the start of a document. */
  start(): Stack {
    const { program } = this.#rules;
    if (program) return this.#stacks.root(GRAMMAR_POSITION.frame(program.start, 0));
    const { elsewhere } = this.#rules.spaces;
    const end = this.#stacks.root(DOCUMENT_END.frame(elsewhere));
    return this.#stacks.push(VALUE.frame(this.#rules.types.root, elsewhere), end);
  }

  /** Adds to `out` the stacks after a byte; each of them can be completed. */
  step(stack: Stack, byte: number, out: Stack[]): void {
    const begin = out.length;
    this.#step(stack, byte, out);
    this.#unique.keepDistinct(stack, byte, out, begin);
  }

  #step(stack: Stack, byte: number, out: Stack[]): void {
    // Nothing may follow an empty stack.
    this.#kinds[this.#stacks.kind(stack)]?.step(stack, byte, out);
  }

  /** The bytes that a stack may accept, perhaps with others; undefined if they are many. */
  candidates(stack: Stack): Iterable<number> | undefined {
    return this.#stacks.isBottom(stack) ? [] : this.#kindOf(stack).candidates(stack);
  }

  /** Whether the document may end. */
  isComplete(stack: Stack): boolean {
    return this.#stacks.isBottom(stack) || this.#kindOf(stack).isComplete(stack);
  }

  /** Bytes of white space that may come and change nothing but how many more may come. */
  spaces(stack: Stack): number {
    return this.#stacks.isBottom(stack) ? 0 : this.#kindOf(stack).spaces(stack);
  }

  /** Fewest bytes that complete the top frame; for a key, the key and its object. */
  completion(stack: Stack, ends: Ends): number {
    return this.#kindOf(stack).completion(stack, ends);
  }

  /** The stack after the quote that ends the text on top. */
  closed(stack: Stack): Stack {
    return this.#stacks.kind(stack) === STRING.kind
      ? this.#strings.closed(stack)
      : this.#otherKeys.closed(stack);
  }

  /** Whether a number is a whole document, so that a grammar determines what comes after it. */
  endsDocument(number: Stack): boolean {
    return this.#numbers.endsDocument(number);
  }

  #kindOf(stack: Stack): FrameKind {
    return this.#kinds[this.#stacks.kind(stack)]!;
  }
}

/** The kind of frames after the root of a document. */
class DocumentEndFrames extends JsonFrames {
  step(stack: Stack, byte: number, out: Stack[]): void {
    const { stacks } = this;
    const left = stacks.field(stack, DOCUMENT_END.spaces);
    if (this.rules.isSpace(byte) && left > 0) {
      out.push(stacks.withField(stack, DOCUMENT_END.spaces, left - 1));
    }
    this.any.step(stacks.parent(stack), byte, out);
  }

  override candidates(stack: Stack): Iterable<number> | undefined {
    if (!this.#isFollowed(stack)) return OUTSIDE_TEXTS;
    const after = this.any.candidates(this.stacks.parent(stack));
    return after && [...OUTSIDE_TEXTS, ...after];
  }

  override isComplete(stack: Stack): boolean {
    return this.any.isComplete(this.stacks.parent(stack));
  }

  override spaces(stack: Stack): number {
    return this.#isFollowed(stack) ? 0 : this.stacks.field(stack, DOCUMENT_END.spaces);
  }

  completion(): number {
    return 0;
  }

  /** Whether a grammar determines what comes after the document. */
  #isFollowed(stack: Stack): boolean {
    return !this.stacks.isBottom(this.stacks.parent(stack));
  }
}
