// Where stacks may go within a program: what a frame leads to before a byte is taken is followed to
// the frames that take one. JSON documents are left to whoever steps them.

import { type Position, RETURN } from "./program.ts";
import type { Rules } from "./rules.ts";
import { Kind, type Stack, type Stacks } from "./stacks.ts";
import type { TextRules } from "./text_rules.ts";

/** Steps that stacks with JSON on top take. */
export interface DocumentSteps {
  step(stack: Stack, byte: number, out: Stack[]): void;
  candidates(stack: Stack): Iterable<number> | undefined;
}

/** Steps stacks with a place of a program or its text on top. */
export class GrammarSteps {
  readonly #rules: Rules;
  readonly #stacks: Stacks;
  readonly #documents: DocumentSteps;
  /** By text and state, the bytes that go on. */
  readonly #continuations = new Map<TextRules, (readonly number[])[]>();

  constructor(rules: Rules, stacks: Stacks, documents: DocumentSteps) {
    this.#rules = rules;
    this.#stacks = stacks;
    this.#documents = documents;
  }

  /** The stack at a place, which returns to another one. */
  at(position: Position, parent: Stack): Stack {
    return position === RETURN ? parent : this.#stacks.push([Kind.PLACE, position, 0], parent);
  }

  /** Adds to `out` the stacks after a byte. */
  step(stack: Stack, byte: number, out: Stack[]): void {
    for (const way of this.#waysOf(stack)) {
      if (this.#stacks.kind(way) === Kind.TEXT) this.#text(way, byte, out);
      else this.#documents.step(way, byte, out);
    }
  }

  /** Whether the grammar may end. */
  isComplete(stack: Stack): boolean {
    return this.#waysOf(stack).some((way) => this.#stacks.isBottom(way));
  }

  /** Bytes among which are all that a stack may take; undefined where they are not few. */
  candidates(stack: Stack): Iterable<number> | undefined {
    const bytes = new Set<number>();
    for (const way of this.#waysOf(stack)) {
      const more = this.#stacks.kind(way) === Kind.TEXT
        ? this.#continuationsOf(way)
        : this.#documents.candidates(way);
      if (!more) return undefined;
      for (const byte of more) bytes.add(byte);
    }
    return bytes;
  }

  /**
   * What a stack is without another byte: stacks that take one next, and the bottom where it may
   * end. A stack is followed once, so that empty rounds of a repetition come to an end.
   */
  #waysOf(stack: Stack): readonly Stack[] {
    const stacks = this.#stacks;
    const ways: Stack[] = [];
    const open = [stack];
    const seen = new Set(open);
    const follow = (next: Stack) => {
      if (seen.has(next)) return;
      seen.add(next);
      open.push(next);
    };
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (stacks.kind(at) === Kind.PLACE) {
        this.#expand(at, follow, (round) => seen.add(round));
        continue;
      }
      if (stacks.kind(at) === Kind.EITHER) {
        stacks.members(at).forEach(follow);
        continue;
      }
      ways.push(at);
      if (stacks.kind(at) === Kind.TEXT && this.#mayEnd(at)) follow(stacks.parent(at));
    }
    return ways;
  }

  /** Follows a place; `enter` is told of rounds of a repetition that may not be left empty. */
  #expand(stack: Stack, follow: (next: Stack) => void, enter: (round: Stack) => void): void {
    const stacks = this.#stacks;
    const parent = stacks.parent(stack);
    const position = stacks.field(stack, 1);
    const one = this.#rules.program!.instructions[position]!;
    switch (one.type) {
      case "text": {
        const text = this.#rules.programText(position);
        const frame = [Kind.TEXT, text, one.text.automaton.start, 0];
        return follow(stacks.push(frame, this.at(one.next, parent)));
      }
      case "document": {
        const { elsewhere } = this.#rules.spaces;
        const end = stacks.push([Kind.END, elsewhere], this.at(one.next, parent));
        return follow(stacks.push([Kind.VALUE, one.root, elsewhere], end));
      }
      case "fork":
        for (const target of one.targets) follow(this.at(target, parent));
        return;
      case "call":
        return follow(this.at(one.target, this.at(one.next, parent)));
      case "repeat": {
        const count = stacks.field(stack, 2);
        if (count >= one.min) follow(this.at(one.next, parent));
        if (count >= one.max) return;
        const counted = one.max === Infinity ? Math.min(count + 1, one.min) : count + 1;
        const round = counted === one.max
          ? this.at(one.next, parent)
          : stacks.push([Kind.PLACE, position, counted], parent);
        if (counted !== one.max) enter(round);
        return follow(this.at(one.part, round));
      }
    }
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
      const isOver = this.#mayEnd(after) && this.#continuationsOf(after).length === 0;
      out.push(isOver ? stacks.parent(stack) : after);
    }
  }

  #mayEnd(stack: Stack): boolean {
    const stacks = this.#stacks;
    return this.#rules.texts[stacks.field(stack, 1)]!
      .isComplete(stacks.field(stack, 2), stacks.field(stack, 3));
  }

  #continuationsOf(stack: Stack): readonly number[] {
    const text = this.#rules.texts[this.#stacks.field(stack, 1)]!;
    const state = this.#stacks.field(stack, 2);
    let byState = this.#continuations.get(text);
    if (!byState) this.#continuations.set(text, byState = []);
    return byState[state] ??= BYTES.filter((byte) => text.automaton.step(state, byte) !== 0);
  }
}

const BYTES: readonly number[] = [...Array(256).keys()];
