// Keys of objects: the declared ones as a range of the sorted keys that narrows byte by byte, the
// others by the automaton of their language, less the keys that the object has had.

import type { Rules } from "../rules/rules.ts";
import type { WordAvoidance } from "../texts/word_avoidance.ts";
import { Field, Kind, Phase, type Stack, type Stacks, UNRESOLVED_STACK } from "./stacks.ts";

const QUOTE = 0x22;

/** Keys that are looked through for the bytes that may come. */
const MAX_CANDIDATES = 64;

/** Steps stacks over the bytes of keys. */
export class KeySteps {
  readonly #rules: Rules;
  readonly #stacks: Stacks;
  readonly #avoidance: WordAvoidance;

  constructor(rules: Rules, stacks: Stacks, avoidance: WordAvoidance) {
    this.#rules = rules;
    this.#stacks = stacks;
    this.#avoidance = avoidance;
  }

  /** Begins a key of the object on top, after its quote. */
  begin(stack: Stack, out: Stack[]): void {
    const stacks = this.#stacks;
    const rules = this.#rules.objects[stacks.field(stack, Field.INDEX)]!;
    const ledger = stacks.field(stack, Field.LEDGER);
    const frame = stacks.frame(stack);
    frame[Field.PHASE] = Phase.KEY;
    frame[Field.SPACES] = 0;
    const inKey = stacks.withFrame(stack, frame);
    const { length } = rules.keys;
    if (rules.choices(ledger)[length]! > 0) out.push(stacks.push([Kind.KEY, 0, length, 0], inKey));
    if (!rules.mayHaveOther(ledger)) return;
    if (stacks.field(stack, Field.PENDING) === 1) {
      out.push(UNRESOLVED_STACK);
      return;
    }
    const used = stacks.field(stack, Field.USED);
    this.#rules.others[stacks.field(stack, Field.INDEX)]!.forEach((index, which) => {
      const text = this.#rules.texts[index]!;
      const { automaton } = text;
      if (!this.#avoidance.isPossible(text, automaton.start, 0, used)) return;
      out.push(stacks.push([Kind.OTHER_KEY, index, automaton.start, used, which], inKey));
    });
  }

  /** A byte within declared keys. */
  declared(stack: Stack, byte: number, out: Stack[]): void {
    const stacks = this.#stacks;
    const object = stacks.parent(stack);
    const rules = this.#rules.objects[stacks.field(object, Field.INDEX)]!;
    const ledger = stacks.field(object, Field.LEDGER);
    const choices = rules.choices(ledger);
    const depth = stacks.field(stack, 3);
    let [first, end] = [stacks.field(stack, 1), stacks.field(stack, 2)];
    if (rules.keys[first]!.length === depth) {
      if (byte === QUOTE) {
        if (choices[first + 1] === choices[first]) return;
        const property = rules.properties[first]!;
        const { type } = rules.type.properties[property]!;
        out.push(this.#afterKey(object, rules.after(ledger, property), type, false));
        return;
      }
      first++;
    }
    first = lowerBound(rules.keys, first, end, depth, byte);
    end = lowerBound(rules.keys, first, end, depth, byte + 1);
    if (choices[end]! > choices[first]!) {
      out.push(stacks.withFrame(stack, [Kind.KEY, first, end, depth + 1]));
    }
  }

  /** The bytes that go on or end the declared keys on top; undefined where these are many. */
  candidates(stack: Stack): number[] | undefined {
    const [, first, end, depth] = this.#stacks.frame(stack) as [number, number, number, number];
    if (end - first > MAX_CANDIDATES) return undefined;
    const object = this.#stacks.parent(stack);
    const { keys } = this.#rules.objects[this.#stacks.field(object, Field.INDEX)]!;
    return keys.slice(first, end).map((key) => key[depth] ?? QUOTE);
  }

  /** A byte within another key. */
  other(stack: Stack, byte: number, out: Stack[]): void {
    const stacks = this.#stacks;
    const frame = stacks.frame(stack);
    const [index, state, avoided] = frame.slice(1) as [number, number, number];
    const text = this.#rules.texts[index]!;
    const { automaton } = text;
    const next = automaton.step(state, byte);
    if (next !== 0) {
      const rest = stacks.words.after(avoided, byte);
      if (next === state && rest === avoided) out.push(stack);
      else if (this.#avoidance.isPossible(text, next, 0, rest)) {
        frame[2] = next;
        frame[3] = rest;
        out.push(stacks.withFrame(stack, frame));
      }
      return;
    }
    const mayClose = automaton.isBoundary(state) && automaton.accepts(state) &&
      !stacks.words.hasEmpty(avoided);
    if (byte !== QUOTE || !mayClose) return;
    out.push(this.closed(stack));
  }

  /** The stack after the quote that ends another key. */
  closed(stack: Stack): Stack {
    const stacks = this.#stacks;
    const object = stacks.parent(stack);
    const rules = this.#rules.objects[stacks.field(object, Field.INDEX)]!;
    const ledger = rules.afterOther(stacks.field(object, Field.LEDGER));
    const { type } = rules.type.others[stacks.field(stack, 4)]!;
    return this.#afterKey(object, ledger, type, true);
  }

  #afterKey(object: Stack, ledger: number, type: number, isOther: boolean): Stack {
    const frame = this.#stacks.frame(object);
    frame[Field.PHASE] = Phase.COLON;
    frame[Field.SPACES] = this.#rules.spaces.elsewhere;
    frame[Field.LEDGER] = ledger;
    if (isOther) frame[Field.PENDING] = 1;
    frame[Field.LAST] = type;
    return this.#stacks.withFrame(object, frame);
  }
}

/** The first of the sorted keys, from `first` on, whose byte at `depth` is not below `byte`. */
function lowerBound(
  keys: readonly Uint8Array[],
  first: number,
  end: number,
  depth: number,
  byte: number,
): number {
  while (first < end) {
    const middle = (first + end) >>> 1;
    if (keys[middle]![depth]! < byte) first = middle + 1;
    else end = middle;
  }
  return first;
}
