// The shortest way from a state to the end of the document: the bytes that each frame still needs,
// added up. Lengths, not texts: a schema can ask for more than could ever be written.

import type { Machine, State } from "./machine.ts";
import { ProgramEnds } from "./completion/program_ends.ts";
import { LITERALS } from "./rules/rules.ts";
import { Field, Kind, Phase, type Stack } from "./frames/stacks.ts";
import { TextEnds } from "./completion/text_ends.ts";
import { ValueEnds } from "./completion/value_ends.ts";
import { NO_WORDS } from "./collections/word_sets.ts";

/** For the unique item that is being written, and for each that has to follow. */
const AWAITED_RESERVE = 32;
const LATER_RESERVE = 8;

/** What is missing of documents. */
export class Completion {
  readonly #machine: Machine;
  /** The ends of texts. */
  readonly texts: TextEnds;
  #values: ValueEnds | undefined;
  #program: ProgramEnds | undefined;
  readonly #costs = new Map<State, number>();
  readonly #stackCosts = new Map<Stack, number>();

  constructor(machine: Machine) {
    this.#machine = machine;
    this.texts = new TextEnds(machine.stacks.words, machine.rules.work);
  }

  /** Fewest bytes to the end; Infinity where they are too many to count. */
  cost(state: State): number {
    let cost = this.#costs.get(state);
    if (cost === undefined) {
      cost = this.#least(this.#machine.stacksOf(state));
      this.#costs.set(state, cost);
    }
    return cost;
  }

  /** Fewest bytes to the end but for those of the text on top of a stack. */
  costBesideText(stack: Stack): number {
    const cost = this.#costOf(stack);
    return cost < Infinity ? cost - this.#lengthOfText(stack) : Infinity;
  }

  /** What is missing of a text on top, as far as it is measured by itself. */
  #lengthOfText(stack: Stack): number {
    const { stacks, rules } = this.#machine;
    const [kind, text, state, third] = stacks.frame(stack) as [number, number, number, number];
    return kind === Kind.OTHER_KEY
      ? this.texts.length(rules.texts[text]!, state, 0, third)
      : this.texts.length(rules.texts[text]!, state, third);
  }

  /** Bytes by which a few bytes more can defer the end. */
  get slack(): number {
    const { program } = this.#machine.rules;
    const greatest = program ? this.#programEnds.greatestWeight : 0;
    return 64 + 4 * Math.max(greatest, this.#valueEnds.greatestWeight);
  }

  get #valueEnds(): ValueEnds {
    return this.#values ??= new ValueEnds(this.#machine.rules, this.texts);
  }

  get #programEnds(): ProgramEnds {
    return this.#program ??= new ProgramEnds(this.#machine.rules, this.texts, this.#valueEnds);
  }

  #least(list: readonly Stack[]): number {
    let least = Infinity;
    for (const stack of list) least = Math.min(least, this.#costOf(stack));
    return least;
  }

  #costOf(stack: Stack): number {
    const { stacks } = this.#machine;
    const path: Stack[] = [];
    let at = stack;
    while (!this.#stackCosts.has(at)) {
      if (stacks.isBottom(at)) this.#stackCosts.set(at, 0);
      else if (stacks.kind(at) === Kind.EITHER) {
        this.#stackCosts.set(at, this.#least(stacks.members(at)));
      } else {
        path.push(at);
        at = this.#below(at);
      }
    }
    let cost = this.#stackCosts.get(at)!;
    for (const above of path.reverse()) {
      cost += this.#rest(above) + this.#reserve(above);
      this.#stackCosts.set(above, cost);
    }
    return cost;
  }

  /** Bytes that unique items may need beyond the shortest, which others may be already. */
  #reserve(stack: Stack): number {
    const { stacks, rules } = this.#machine;
    if (stacks.kind(stack) !== Kind.ARRAY) return 0;
    const [, index, phase, , ledger, used] = stacks.frame(stack) as number[];
    const array = rules.arrays[index!]!;
    if (!array.type.unique) return 0;
    const isAwaited = stacks.field(stack, Field.LAST) !== NO_WORDS ||
      (phase === Phase.COMMA && used !== NO_WORDS);
    return (isAwaited ? AWAITED_RESERVE : 0) + LATER_RESERVE * array.missing(ledger!);
  }

  /** The stack below the top frame, or below the object of a key. */
  #below(stack: Stack): Stack {
    const { stacks } = this.#machine;
    const kind = stacks.kind(stack);
    const parent = stacks.parent(stack);
    return kind === Kind.KEY || kind === Kind.OTHER_KEY ? stacks.parent(parent) : parent;
  }

  /** Bytes that complete the top frame; of a key, its object. */
  #rest(stack: Stack): number {
    const { stacks, rules } = this.#machine;
    const [kind, first, second, third] = stacks.frame(stack) as [number, number, number, number];
    switch (kind) {
      case Kind.VALUE:
        return this.#valueEnds.weight(first);
      case Kind.LITERAL:
        return LITERALS[first]!.length - second;
      case Kind.NUMBER:
        return rules.numbers[first]!.completion(second).length;
      case Kind.STRING:
        return this.#lengthOfText(stack) + 1;
      case Kind.KEY:
        return this.#restOfKey(stacks.parent(stack), first, second) - third;
      case Kind.OTHER_KEY:
        return this.#restOfOther(stack);
      case Kind.OBJECT:
        return this.#restOfObject(stack);
      case Kind.ARRAY:
        return this.#restOfArray(stack);
      case Kind.PLACE:
        return this.#programEnds.weight(first, second);
      case Kind.TEXT:
        return this.#lengthOfText(stack);
      default:
        return 0;
    }
  }

  /** The lightest of a range of the sorted keys, and what follows in its object. */
  #restOfKey(object: Stack, first: number, end: number): number {
    const { stacks } = this.#machine;
    const ends = this.#valueEnds.object(stacks.field(object, Field.INDEX));
    const keys = ends.keys(stacks.field(object, Field.LEDGER), this.#others(object));
    let least = Infinity;
    for (let at = first; at < end; at++) if (keys[at]! < least) least = keys[at]!;
    return least;
  }

  #restOfOther(stack: Stack): number {
    const { stacks, rules } = this.#machine;
    const which = stacks.field(stack, 4);
    const key = this.#lengthOfText(stack);
    const object = stacks.parent(stack);
    const its = rules.objects[stacks.field(object, Field.INDEX)]!;
    const after = its.afterOther(stacks.field(object, Field.LEDGER));
    return key + 1 + this.#afterKey(object, after, its.type.others[which]!.type, 1);
  }

  /** Bytes of a colon, a value and the rest of an object. */
  #afterKey(object: Stack, ledger: number, type: number, more = 0): number {
    const ends = this.#valueEnds.object(this.#machine.stacks.field(object, Field.INDEX));
    return 1 + this.#valueEnds.weight(type) + ends.rest(ledger, this.#others(object) + more);
  }

  /** How many keys of an object are not declared. */
  #others(object: Stack): number {
    const { stacks } = this.#machine;
    return stacks.words.sizeOf(stacks.field(object, Field.USED)) +
      stacks.field(object, Field.PENDING);
  }

  #restOfObject(stack: Stack): number {
    const { stacks, rules } = this.#machine;
    const [, index, phase, , ledger, , , type] = stacks.frame(stack) as number[];
    if (phase === Phase.COLON) return this.#afterKey(stack, ledger!, type!);
    const ends = this.#valueEnds.object(index!);
    const others = this.#others(stack);
    if (phase !== Phase.COMMA) {
      const rest = ends.rest(ledger!, others);
      // The first key has no comma.
      return phase === Phase.NEXT || rest === 1 ? rest : rest - 1;
    }
    const object = rules.objects[index!]!;
    const declared = 1 + this.#restOfKey(stack, 0, object.keys.length);
    if (!object.mayHaveOther(ledger!)) return declared;
    const other = ends.other(others) - 1 + ends.rest(object.afterOther(ledger!), others + 1);
    return Math.min(declared, other);
  }

  #restOfArray(stack: Stack): number {
    const { stacks, rules } = this.#machine;
    const [, index, phase, , ledger] = stacks.frame(stack) as number[];
    const ends = this.#valueEnds.array(index!);
    if (phase !== Phase.COMMA) {
      const items = ends.missing(ledger!);
      // The first item has no comma.
      return 1 + (phase === Phase.NEXT ? items : Math.max(items - 1, 0));
    }
    const array = rules.arrays[index!]!;
    let least = Infinity;
    for (const part of array.partsAt(ledger!)) {
      const after = array.after(ledger!, part);
      if (after < 0) continue;
      least = Math.min(least, this.#valueEnds.weight(part.type) + ends.missing(after) + 1);
    }
    return least;
  }
}
