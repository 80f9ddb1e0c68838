// The shortest way from a state to the end of the document: what each frame still needs, one after
// the other. It tells how many bytes must be kept in reserve, and which bytes they are.

import type { Machine, State } from "./machine.ts";
import { LITERALS } from "./rules.ts";
import { ShortestTexts } from "./shortest_texts.ts";
import { ShortestValues } from "./shortest_values.ts";
import { Field, Kind, Phase, type Stack } from "./stacks.ts";
import { completeText } from "./text_completion.ts";
import { NO_WORDS } from "./word_sets.ts";

/** For the unique item that is being written, and for each that has to follow. */
const AWAITED_RESERVE = 32;
const LATER_RESERVE = 8;

type Bytes = readonly number[] | undefined;

/** What is missing of documents. */
export class Completion {
  readonly #machine: Machine;
  #values: ShortestValues | undefined;
  #texts: ShortestTexts | undefined;
  readonly #frames = new Map<Stack, Bytes>();
  readonly #costs = new Map<State, number>();
  readonly #stackCosts = new Map<Stack, number>();

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Fewest bytes to the end; Infinity where they are too many to count. */
  cost(state: State): number {
    let cost = this.#costs.get(state);
    if (cost === undefined) {
      const stack = this.#lightest(this.#machine.stacksOf(state));
      cost = stack === undefined ? Infinity : this.#costOf(stack);
      this.#costs.set(state, cost);
    }
    return cost;
  }

  /** The fewest bytes to the end; undefined where they are too many to write. */
  bytes(state: State): Uint8Array | undefined {
    const { stacks } = this.#machine;
    if (this.cost(state) === Infinity) return undefined;
    const bytes: number[] = [];
    let at = this.#lightest(this.#machine.stacksOf(state))!;
    while (!stacks.isBottom(at)) {
      if (stacks.kind(at) === Kind.EITHER) at = this.#lightest(stacks.members(at))!;
      else {
        for (const byte of this.#rest(at)!) bytes.push(byte);
        at = this.#below(at);
      }
    }
    return Uint8Array.from(bytes);
  }

  /** Bytes by which a few bytes more can defer the end. */
  get slack(): number {
    const { program } = this.#machine.rules;
    const greatest = program ? this.#shortestTexts.greatestWeight : 0;
    return 64 + 4 * Math.max(greatest, this.#shortest.greatestWeight);
  }

  get #shortest(): ShortestValues {
    return this.#values ??= new ShortestValues(this.#machine.rules, this.#machine.stacks.words);
  }

  get #shortestTexts(): ShortestTexts {
    const { rules, stacks } = this.#machine;
    return this.#texts ??= new ShortestTexts(rules, stacks.words, this.#shortest);
  }

  #costOf(stack: Stack): number {
    const { stacks } = this.#machine;
    const path: Stack[] = [];
    let at = stack;
    while (!this.#stackCosts.has(at)) {
      if (stacks.isBottom(at)) this.#stackCosts.set(at, 0);
      else if (stacks.kind(at) === Kind.EITHER) {
        this.#stackCosts.set(at, this.#costOf(this.#lightest(stacks.members(at))!));
      } else {
        path.push(at);
        at = this.#below(at);
      }
    }
    let cost = this.#stackCosts.get(at)!;
    for (const above of path.reverse()) {
      cost += (this.#rest(above)?.length ?? Infinity) + this.#reserve(above);
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

  #lightest(list: readonly Stack[]): Stack | undefined {
    let lightest: Stack | undefined;
    let least = Infinity;
    for (const stack of list) {
      const cost = this.#costOf(stack);
      if (lightest === undefined || cost < least) [lightest, least] = [stack, cost];
    }
    return lightest;
  }

  /** The stack below the top frame, or below the object of a key. */
  #below(stack: Stack): Stack {
    const { stacks } = this.#machine;
    const kind = stacks.kind(stack);
    const parent = stacks.parent(stack);
    return kind === Kind.KEY || kind === Kind.OTHER_KEY ? stacks.parent(parent) : parent;
  }

  /** What completes the top frame; of a key, its object. */
  #rest(stack: Stack): Bytes {
    if (this.#frames.has(stack)) return this.#frames.get(stack);
    const rest = this.#findRest(stack);
    this.#frames.set(stack, rest);
    return rest;
  }

  #findRest(stack: Stack): Bytes {
    const { stacks, rules } = this.#machine;
    const [kind, first, second, third] = stacks.frame(stack) as [number, number, number, number];
    switch (kind) {
      case Kind.VALUE:
        return this.#shortest.bytes(first);
      case Kind.LITERAL:
        return [...LITERALS[first]!.subarray(second)];
      case Kind.NUMBER:
        return [...rules.numbers[first]!.completion(second)];
      case Kind.STRING: {
        const content = completeText(rules.texts[first]!, second, third, stacks.words);
        return content && [...content, 0x22];
      }
      case Kind.KEY:
        return this.#restOfKey(stacks.parent(stack), first, second, third);
      case Kind.OTHER_KEY:
        return this.#restOfOther(stack);
      case Kind.OBJECT:
        return this.#restOfObject(stack);
      case Kind.ARRAY:
        return this.#restOfArray(stack);
      case Kind.PLACE:
        return this.#shortestTexts.bytes(first, second);
      case Kind.TEXT: {
        const text = completeText(rules.texts[first]!, second, third, stacks.words);
        return text && [...text];
      }
      default:
        return [];
    }
  }

  /** The lightest of a range of the sorted keys, from `depth` on, and what follows in its object. */
  #restOfKey(stack: Stack, first: number, end: number, depth: number): Bytes {
    const { stacks, rules } = this.#machine;
    const index = stacks.field(stack, Field.INDEX);
    const ledger = stacks.field(stack, Field.LEDGER);
    const used = stacks.field(stack, Field.USED);
    const object = rules.objects[index]!;
    const { keys, properties } = object;
    const choices = object.choices(ledger);
    let best: Bytes;
    for (let at = first; at < end; at++) {
      if (choices[at + 1] === choices[at]) continue;
      const { type } = object.type.properties[properties[at]!]!;
      const after = object.after(ledger, properties[at]!);
      const follows = this.#afterKey(index, after, used, type);
      if (!follows) continue;
      const bytes = [...keys[at]!.subarray(depth), 0x22, ...follows];
      if (!best || bytes.length < best.length) best = bytes;
    }
    return best;
  }

  #restOfOther(stack: Stack): Bytes {
    const { stacks, rules } = this.#machine;
    const [, text, state, avoided, which] = stacks.frame(stack);
    const key = completeText(rules.texts[text!]!, state!, 0, stacks.words, avoided);
    const object = stacks.parent(stack);
    const index = stacks.field(object, Field.INDEX);
    const after = rules.objects[index]!.afterOther(stacks.field(object, Field.LEDGER));
    const { type } = rules.objects[index]!.type.others[which!]!;
    const follows = this.#afterKey(index, after, stacks.field(object, Field.USED), type);
    return key && follows && [...key, 0x22, ...follows];
  }

  #afterKey(object: number, ledger: number, used: number, type: number): Bytes {
    const value = this.#shortest.bytes(type);
    const rest = this.#shortest.rest(object, ledger, used, true);
    return value && rest && [0x3a, ...value, ...rest];
  }

  #restOfObject(stack: Stack): Bytes {
    const { stacks, rules } = this.#machine;
    const [, index, phase, , ledger, used, , type] = stacks.frame(stack) as number[];
    if (phase === Phase.COLON) return this.#afterKey(index!, ledger!, used!, type!);
    if (phase !== Phase.COMMA) {
      return this.#shortest.rest(index!, ledger!, used!, phase === Phase.NEXT);
    }
    const declared = this.#restOfKey(stack, 0, rules.objects[index!]!.keys.length, 0);
    if (declared) return [0x22, ...declared];
    const other = this.#shortest.other(index!, used!);
    const after = rules.objects[index!]!.afterOther(ledger!);
    const rest = other && this.#shortest.rest(index!, after, used!, true);
    return rest && [...other.bytes, ...rest];
  }

  #restOfArray(stack: Stack): Bytes {
    const { stacks, rules } = this.#machine;
    const [, index, phase, , ledger] = stacks.frame(stack) as number[];
    if (phase !== Phase.COMMA) return this.#shortest.items(index!, ledger!, phase === Phase.NEXT);
    const array = rules.arrays[index!]!;
    let best: Bytes;
    for (const part of array.partsAt(ledger!)) {
      const after = array.after(ledger!, part);
      const value = after < 0 ? undefined : this.#shortest.bytes(part.type);
      const rest = value && this.#shortest.items(index!, after, true);
      if (value && rest && !(best && best.length <= value.length + rest.length)) {
        best = [...value, ...rest];
      }
    }
    return best;
  }
}
