// Stacks at a position of a grammar, within one of its texts, or with one frame for several stacks.
// `GrammarWays` finds the texts and documents that may come next; documents are then stepped as
// documents without a grammar are.

import { type Position, type Program, RETURN } from "../rules/program.ts";
import type { Rules } from "../rules/rules.ts";
import type { TextRules } from "../texts/text_rules.ts";
import { type Ends, type FrameContext, type FrameKind, JsonFrames } from "./frame_kind.ts";
import { DOCUMENT_END, EITHER, GRAMMAR_POSITION, TEXT, VALUE } from "./layouts.ts";
import type { StackUnions } from "./stack_unions.ts";
import type { Stack, Stacks } from "./stacks.ts";

const BYTES: readonly number[] = [...Array(256).keys()];

/** The kinds of frames of a grammar: GRAMMAR_POSITION, TEXT and EITHER. */
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
    if (stacks.kind(stack) !== GRAMMAR_POSITION.kind) return 0;
    const position = stacks.field(stack, GRAMMAR_POSITION.position);
    return ends.program.weight(position, stacks.field(stack, GRAMMAR_POSITION.rounds));
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

// Finds the texts and documents of a grammar that may come next in a stack. A rule that is entered
// from several positions is searched once and returns to all of them, so that ambiguity costs
// little (Scott and Johnstone, "GLL Parsing", 2010).

/**
 * Where a rule returns to: an existing stack, or positions of rules that this search has entered.
 */
interface Context {
  stack: Stack | undefined;
  readonly returns: Descriptor[];
}

/** A position of a program, and where its rule returns to. */
interface Descriptor {
  readonly position: Position;
  /** Number of complete rounds of a repetition. */
  readonly rounds: number;
  readonly context: Context;
}

/** The parts that searches use. */
interface Surroundings {
  readonly rules: Rules;
  readonly stacks: Stacks;
  readonly unions: StackUnions;
}

/** Finds the texts and documents that may come next. Each stack is searched once. */
class GrammarWays {
  readonly #surroundings: Surroundings;
  readonly #known = new Map<Stack, readonly Stack[]>();

  constructor(rules: Rules, stacks: Stacks, unions: StackUnions) {
    this.#surroundings = { rules, stacks, unions };
  }

  /** The stacks with a text or document on top; the empty stack is among them if the grammar may end. */
  of(stack: Stack): readonly Stack[] {
    let ways = this.#known.get(stack);
    if (!ways) {
      ways = new Search(this.#surroundings).from(stack);
      this.#known.set(stack, ways);
    }
    return ways;
  }
}

/** The search of one stack. */
class Search {
  readonly #rules: Rules;
  readonly #program: Program;
  readonly #stacks: Stacks;
  readonly #unions: StackUnions;
  readonly #ways: Stack[] = [];
  /** The positions of texts and documents that were found. */
  readonly #terminals: Descriptor[] = [];
  readonly #open: Descriptor[] = [];
  readonly #seen = new Map<Context, Set<string>>();
  /** By existing stack. */
  readonly #below = new Map<Stack, Context>();
  /** By the first position of a rule or round. */
  readonly #entered = new Map<Position, Context>();

  constructor({ rules, stacks, unions }: Surroundings) {
    this.#rules = rules;
    this.#program = rules.program!;
    this.#stacks = stacks;
    this.#unions = unions;
  }

  from(stack: Stack): readonly Stack[] {
    this.#visit(stack);
    for (let descriptor = this.#open.pop(); descriptor; descriptor = this.#open.pop()) {
      this.#expand(descriptor);
    }
    for (const terminal of this.#terminals) this.#ways.push(this.#begin(terminal));
    return this.#unions.join(this.#ways);
  }

  /** Continues in an existing stack. */
  #visit(stack: Stack): void {
    const stacks = this.#stacks;
    const kind = stacks.kind(stack);
    if (kind === EITHER.kind) return stacks.members(stack).forEach((one) => this.#visit(one));
    if (kind === GRAMMAR_POSITION.kind) {
      const context = this.#contextOf(stacks.parent(stack));
      return this.#follow(
        stacks.field(stack, GRAMMAR_POSITION.position),
        stacks.field(stack, GRAMMAR_POSITION.rounds),
        context,
      );
    }
    this.#ways.push(stack);
    if (kind !== TEXT.kind || !this.#mayEnd(stack)) return;
    this.#follow(RETURN, 0, this.#contextOf(stacks.parent(stack)));
  }

  /** Whether the text on top of a stack may end. */
  #mayEnd(stack: Stack): boolean {
    const stacks = this.#stacks;
    const text = this.#rules.texts[stacks.field(stack, TEXT.text)]!;
    return text.isComplete(stacks.field(stack, TEXT.state), stacks.field(stack, TEXT.characters));
  }

  #follow(position: Position, rounds: number, context: Context): void {
    let seen = this.#seen.get(context);
    if (!seen) this.#seen.set(context, seen = new Set());
    const key = `${position},${rounds}`;
    if (seen.has(key)) return;
    seen.add(key);
    this.#open.push({ position, rounds, context });
  }

  #expand(descriptor: Descriptor): void {
    const { position, rounds, context } = descriptor;
    const { instructions, isNullable } = this.#program;
    const one = instructions[position]!;
    switch (one.type) {
      case "return":
        // An empty rule that this search has entered was skipped at the position where it was entered.
        if (context.stack !== undefined) this.#visit(context.stack);
        return;
      case "text":
        this.#terminals.push(descriptor);
        if (one.text.least === 0) this.#follow(one.next, 0, context);
        return;
      case "document":
        this.#terminals.push(descriptor);
        return;
      case "fork":
        for (const target of one.targets) this.#follow(target, 0, context);
        return;
      case "call":
        this.#enter(one.target, { position: one.next, rounds: 0, context });
        if (isNullable[one.target]) this.#follow(one.next, 0, context);
        return;
      case "repeat": {
        if (rounds >= one.min) this.#follow(one.next, 0, context);
        if (rounds >= one.max) return;
        const counted = one.max === Infinity ? Math.min(rounds + 1, one.min) : rounds + 1;
        const isLast = counted === one.max;
        this.#enter(
          one.part,
          isLast
            ? { position: one.next, rounds: 0, context }
            : { position, rounds: counted, context },
        );
      }
    }
  }

  /** Enters a rule or round, which returns to a position. */
  #enter(position: Position, after: Descriptor): void {
    let context = this.#entered.get(position);
    if (!context) this.#entered.set(position, context = { stack: undefined, returns: [] });
    context.returns.push(after);
    this.#follow(position, 0, context);
  }

  #contextOf(stack: Stack): Context {
    let context = this.#below.get(stack);
    if (!context) this.#below.set(stack, context = { stack, returns: [] });
    return context;
  }

  /** The stack with a text or document on top. */
  #begin({ position, context }: Descriptor): Stack {
    const stacks = this.#stacks;
    const one = this.#program.instructions[position]!;
    if (one.type === "text") {
      const index = this.#rules.programText(position);
      const { start } = this.#rules.texts[index]!.automaton;
      const frame = TEXT.frame(index, start, 0);
      return stacks.push(frame, this.#stackAt({ position: one.next, rounds: 0, context }));
    }
    if (one.type !== "document") throw new TypeError(`Position ${position} takes no bytes`);
    const { elsewhere } = this.#rules.spaces;
    const below = this.#stackAt({ position: one.next, rounds: 0, context });
    const end = stacks.push(DOCUMENT_END.frame(elsewhere), below);
    return stacks.push(VALUE.frame(one.root, elsewhere), end);
  }

  #stackAt({ position, rounds, context }: Descriptor): Stack {
    context.stack ??= this.#unions.either(context.returns.map((each) => this.#stackAt(each)));
    if (position === RETURN) return context.stack;
    return this.#stacks.push(GRAMMAR_POSITION.frame(position, rounds), context.stack);
  }
}
