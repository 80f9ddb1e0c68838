// Where a stack of frames may go at a byte of JSON, or of what a grammar has around it. Every stack it
// gives can be completed: what must come later is looked ahead at before a byte is taken, not after.

import { NO_WORDS } from "../collections/word_sets.ts";
import { type ArrayRules, NO_LEDGER } from "../rules/array_rules.ts";
import { LITERALS, type Rules } from "../rules/rules.ts";
import type { WordAvoidance } from "../texts/word_avoidance.ts";
import { GrammarSteps } from "./grammar_steps.ts";
import { KeySteps } from "./key_steps.ts";
import { ScarceItems } from "./scarce_items.ts";
import type { StackUnions } from "./stack_unions.ts";
import { Field, Kind, Phase, type Stack, type Stacks, UNRESOLVED_STACK } from "./stacks.ts";
import { UniqueItems } from "./unique_items.ts";

const QUOTE = 0x22;

const COMMA = 0x2c;

const COLON = 0x3a;

const OPEN_BRACKET = 0x5b;

const CLOSE_BRACKET = 0x5d;

const OPEN_BRACE = 0x7b;

const CLOSE_BRACE = 0x7d;

/** Bytes of JSON that are not in a string. */
const OUTSIDE_TEXTS = new TextEncoder().encode('\t\n\r "{}[]:,+-.0123456789Eaeflnrstu');

/** Steps stacks over bytes. */
export class Stepper {
  readonly #rules: Rules;
  readonly #stacks: Stacks;
  readonly #keys: KeySteps;
  readonly #unique: UniqueItems;
  readonly #scarce: ScarceItems;
  readonly #grammar: GrammarSteps;

  constructor(rules: Rules, stacks: Stacks, unions: StackUnions, avoidance: WordAvoidance) {
    this.#rules = rules;
    this.#stacks = stacks;
    this.#keys = new KeySteps(rules, stacks, avoidance);
    const steps = {
      step: (stack: Stack, byte: number, out: Stack[]) => this.#step(stack, byte, out),
      candidates: (stack: Stack) => this.candidates(stack),
    };
    this.#unique = new UniqueItems(rules, stacks, steps);
    this.#scarce = new ScarceItems(rules, stacks, steps);
    this.#grammar = new GrammarSteps(rules, stacks, unions, steps);
  }

  /** The stack before anything is written. */
  start(): Stack {
    const { program } = this.#rules;
    if (program) return this.#stacks.root([Kind.PLACE, program.start, 0]);
    const { elsewhere } = this.#rules.spaces;
    const end = this.#stacks.root([Kind.END, elsewhere]);
    return this.#stacks.push([Kind.VALUE, this.#rules.types.root, elsewhere], end);
  }

  /** Whether all is complete. */
  isComplete(stack: Stack): boolean {
    const kind = this.#stacks.kind(stack);
    if (kind === Kind.NUMBER) {
      const automaton = this.#rules.numbers[this.#stacks.field(stack, 1)]!;
      return automaton.accepts(this.#stacks.field(stack, 2)) &&
        this.isComplete(this.#stacks.parent(stack));
    }
    if (kind === Kind.END) return this.isComplete(this.#stacks.parent(stack));
    return this.#grammar.isComplete(stack);
  }

  /** The stack after the quote that ends the text on top. */
  closed(stack: Stack): Stack {
    const stacks = this.#stacks;
    if (stacks.kind(stack) !== Kind.STRING) return this.#keys.closed(stack);
    const parent = stacks.parent(stack);
    if (stacks.kind(parent) !== Kind.ARRAY) return parent;
    return stacks.withField(parent, Field.LAST, NO_WORDS);
  }

  /** Bytes among which are all that a stack may take; undefined where they are not few. */
  candidates(stack: Stack): Iterable<number> | undefined {
    const kind = this.#stacks.kind(stack);
    if (kind === Kind.STRING || kind === Kind.OTHER_KEY) return undefined;
    if (kind === Kind.KEY) return this.#keys.candidates(stack);
    const isGrammar = kind === Kind.PLACE || kind === Kind.TEXT || kind === Kind.EITHER;
    if (isGrammar) return this.#grammar.candidates(stack);
    if (!this.endsDocument(stack)) return OUTSIDE_TEXTS;
    const after = this.candidates(this.#stacks.parent(stack));
    return after && [...OUTSIDE_TEXTS, ...after];
  }

  /** Adds to `out` the stacks after a byte, all of which can be completed. */
  step(stack: Stack, byte: number, out: Stack[]): void {
    const begin = out.length;
    this.#step(stack, byte, out);
    this.#unique.keepDistinct(stack, byte, out, begin);
  }

  #step(stack: Stack, byte: number, out: Stack[]): void {
    const stacks = this.#stacks;
    const parent = stacks.parent(stack);
    switch (stacks.kind(stack)) {
      case Kind.VALUE:
        if (this.#space(stack, 2, byte, out)) return;
        return this.#value(stacks.field(stack, 1), parent, byte, out);
      case Kind.LITERAL: {
        const word = LITERALS[stacks.field(stack, 1)]!;
        const position = stacks.field(stack, 2);
        if (word[position] !== byte) return;
        out.push(position + 1 < word.length ? stacks.withField(stack, 2, position + 1) : parent);
        return;
      }
      case Kind.NUMBER: {
        const automaton = this.#rules.numbers[stacks.field(stack, 1)]!;
        const state = stacks.field(stack, 2);
        const next = automaton.step(state, byte);
        if (next !== 0) out.push(stacks.withField(stack, 2, next));
        const isOver = next === 0 || this.endsDocument(stack);
        if (isOver && automaton.accepts(state)) this.#step(parent, byte, out);
        return;
      }
      case Kind.STRING:
        return this.#string(stack, byte, out);
      case Kind.KEY:
        return this.#keys.declared(stack, byte, out);
      case Kind.OTHER_KEY:
        return this.#keys.other(stack, byte, out);
      case Kind.OBJECT:
        return this.#object(stack, byte, out);
      case Kind.ARRAY:
        return this.#array(stack, byte, out);
      case Kind.END:
        this.#space(stack, 1, byte, out);
        return this.#step(parent, byte, out);
      case Kind.PLACE:
      case Kind.TEXT:
      case Kind.EITHER:
        return this.#grammar.step(stack, byte, out);
    }
  }

  /** Whether what comes after a number, or after a document, is up to a grammar. */
  endsDocument(stack: Stack): boolean {
    const stacks = this.#stacks;
    const end = stacks.kind(stack) === Kind.NUMBER ? stacks.parent(stack) : stack;
    return stacks.kind(end) === Kind.END && !stacks.isBottom(stacks.parent(end));
  }

  /** White space that a stack takes before it does anything else. */
  spacesAt(stack: Stack): number {
    const stacks = this.#stacks;
    switch (stacks.kind(stack)) {
      case Kind.VALUE:
        return stacks.field(stack, 2);
      case Kind.OBJECT:
        return stacks.field(stack, Field.SPACES);
      case Kind.ARRAY:
        // White space ends the item that is compared.
        return stacks.field(stack, Field.LAST) === NO_WORDS ? stacks.field(stack, Field.SPACES) : 0;
      case Kind.END:
        return this.endsDocument(stack) ? 0 : stacks.field(stack, 1);
      default:
        return 0;
    }
  }

  /** Takes white space that is still allowed; the field counts it down. Returns whether it was. */
  #space(stack: Stack, field: number, byte: number, out: Stack[]): boolean {
    if (!this.#rules.isSpace(byte)) return false;
    const left = this.#stacks.field(stack, field);
    if (left > 0) out.push(this.#stacks.withField(stack, field, left - 1));
    return true;
  }

  #value(type: number, parent: Stack, byte: number, out: Stack[]): void {
    const value = this.#rules.value(type);
    const stacks = this.#stacks;
    if (byte === QUOTE) {
      if (value.text < 0) return;
      const text = this.#rules.texts[value.text]!;
      if (text.isPossible) {
        out.push(stacks.push([Kind.STRING, value.text, text.automaton.start, 0], parent));
      }
    } else if (byte === OPEN_BRACE) {
      const { elsewhere } = this.#rules.spaces;
      for (const index of value.objects) {
        const { start } = this.#rules.objects[index]!;
        if (!this.#rules.objects[index]!.isFeasible(start)) continue;
        const frame = [Kind.OBJECT, index, Phase.OPEN, elsewhere, start, NO_WORDS, 0, -1];
        out.push(stacks.push(frame, parent));
      }
    } else if (byte === OPEN_BRACKET) {
      const { elsewhere } = this.#rules.spaces;
      for (const index of value.arrays) {
        const { start } = this.#rules.arrays[index]!;
        if (!this.#rules.arrays[index]!.isFeasible(start)) continue;
        const frame = [Kind.ARRAY, index, Phase.OPEN, elsewhere, start, NO_WORDS, 0, NO_WORDS];
        out.push(stacks.push(frame, parent));
      }
    } else {
      for (const literal of value.literals) {
        if (LITERALS[literal]![0] === byte) {
          out.push(stacks.push([Kind.LITERAL, literal, 1], parent));
        }
      }
      if (value.number < 0) return;
      const automaton = this.#rules.numbers[value.number]!;
      const next = automaton.step(automaton.start, byte);
      if (next !== 0) out.push(stacks.push([Kind.NUMBER, value.number, next], parent));
    }
  }

  #string(stack: Stack, byte: number, out: Stack[]): void {
    const stacks = this.#stacks;
    const index = stacks.field(stack, 1);
    const state = stacks.field(stack, 2);
    const characters = stacks.field(stack, 3);
    const text = this.#rules.texts[index]!;
    const next = text.automaton.step(state, byte);
    if (next !== 0) {
      const counted = text.charactersAt(next, characters);
      if (next === state && counted === characters) out.push(stack);
      else if (text.isFeasible(next, counted)) {
        out.push(stacks.withFrame(stack, [Kind.STRING, index, next, counted]));
      }
    } else if (byte === QUOTE && text.isComplete(state, characters)) {
      out.push(stacks.parent(stack));
    }
  }

  #object(stack: Stack, byte: number, out: Stack[]): void {
    if (this.#space(stack, Field.SPACES, byte, out)) return;
    const stacks = this.#stacks;
    const rules = this.#rules.objects[stacks.field(stack, Field.INDEX)]!;
    const phase = stacks.field(stack, Field.PHASE);
    const ledger = stacks.field(stack, Field.LEDGER);
    const { after, elsewhere } = this.#rules.spaces;
    if (byte === QUOTE) {
      if (phase === Phase.OPEN || phase === Phase.COMMA) this.#keys.begin(stack, out);
    } else if (byte === COLON) {
      if (phase !== Phase.COLON) return;
      const frame = stacks.frame(stack);
      const type = frame[Field.LAST]!;
      frame[Field.PHASE] = Phase.NEXT;
      frame[Field.SPACES] = elsewhere;
      frame[Field.LAST] = -1;
      out.push(stacks.push([Kind.VALUE, type, after], stacks.withFrame(stack, frame)));
    } else if (byte === COMMA) {
      if (phase === Phase.NEXT && rules.mayGoOn(ledger)) out.push(this.#afterComma(stack));
    } else if (byte === CLOSE_BRACE) {
      const mayClose = phase === Phase.OPEN || phase === Phase.NEXT;
      if (mayClose && rules.isComplete(ledger)) out.push(stacks.parent(stack));
    }
  }

  #afterComma(stack: Stack): Stack {
    const frame = this.#stacks.frame(stack);
    frame[Field.PHASE] = Phase.COMMA;
    frame[Field.SPACES] = this.#rules.spaces.after;
    return this.#stacks.withFrame(stack, frame);
  }

  #array(ended: Stack, byte: number, out: Stack[]): void {
    const stack = this.#unique.finished(ended);
    if (stack === undefined || this.#space(stack, Field.SPACES, byte, out)) return;
    const stacks = this.#stacks;
    const rules = this.#rules.arrays[stacks.field(stack, Field.INDEX)]!;
    const phase = stacks.field(stack, Field.PHASE);
    const ledger = stacks.field(stack, Field.LEDGER);
    if (byte === CLOSE_BRACKET) {
      if (phase !== Phase.COMMA && rules.isComplete(ledger)) out.push(stacks.parent(stack));
    } else if (phase !== Phase.NEXT) {
      this.#items(stack, rules, (type, item) => this.#value(type, item, byte, out));
    } else if (byte === COMMA) {
      if (stacks.field(stack, Field.PENDING) === 1) return void out.push(UNRESOLVED_STACK);
      const next = this.#afterComma(stack);
      let mayGoOn = false;
      this.#items(next, rules, (type, item) => {
        mayGoOn ||= this.#unique.isPossible(stacks.push([Kind.VALUE, type, 0], item));
      });
      if (mayGoOn) out.push(next);
    }
  }

  /** Calls with each type that the next item may be of, and the array as it is below the item. */
  #items(stack: Stack, rules: ArrayRules, begin: (type: number, item: Stack) => void): void {
    const frame = this.#stacks.frame(stack);
    const { unique } = rules.type;
    for (const part of rules.partsAt(frame[Field.LEDGER]!)) {
      const ledger = rules.after(frame[Field.LEDGER]!, part);
      if (ledger === NO_LEDGER) continue;
      const item = [...frame];
      item[Field.PHASE] = Phase.NEXT;
      item[Field.SPACES] = this.#rules.spaces.elsewhere;
      item[Field.LEDGER] = ledger;
      item[Field.PENDING] = Number(unique);
      const avoided = () => this.#scarce.avoided(frame[Field.INDEX]!, ledger, frame[Field.USED]!);
      item[Field.LAST] = unique ? avoided() : NO_WORDS;
      begin(part.type, this.#stacks.withFrame(stack, item));
    }
  }
}
