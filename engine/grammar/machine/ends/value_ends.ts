// The bytes of each type's shortest value, of the end of an array, and from each position of a
// grammar to the end of its rule. Types refer to each other, so this is a least fixed point. It is
// exact, except for unique items and for clauses that exceed the limits of their search.

import type { ArrayProgress, ArrayRules } from "../rules/array_rules.ts";
import { type Position, weighPositions } from "../rules/program.ts";
import { LITERALS, type Rules } from "../rules/rules.ts";
import { KeyLengths } from "./key_lengths.ts";
import { ObjectEnds } from "./object_ends.ts";
import type { TextEnds } from "./text_ends.ts";

/** Measures values, and the ends of arrays and objects. */
export class ValueEnds {
  readonly #rules: Rules;
  readonly #texts: TextEnds;
  readonly #weights: Float64Array;
  readonly #arrays: (ArrayEnds | undefined)[] = [];
  readonly #objects: (ObjectEnds | undefined)[] = [];
  readonly #keys = new Map<number, KeyLengths>();

  constructor(rules: Rules, texts: TextEnds) {
    this.#rules = rules;
    this.#texts = texts;
    const { types } = rules.types;
    this.#weights = new Float64Array(types.length).fill(Infinity);
    const parts = types.map((_, type) => this.#partsOf(type));
    const users: number[][] = types.map(() => []);
    parts.forEach((own, type) => own.forEach((part) => users[part]!.push(type)));
    // Types come after those that they contain, except in cycles, so few are measured twice.
    const order = partsFirst(parts);
    const isDue = new Uint8Array(types.length).fill(1);
    for (let changed = true; changed;) {
      changed = false;
      for (const type of order) {
        if (isDue[type] === 0) continue;
        isDue[type] = 0;
        const weight = this.#weigh(type);
        if (weight >= this.#weights[type]!) continue;
        this.#weights[type] = weight;
        for (const user of users[type]!) isDue[user] = 1;
        changed = true;
      }
    }
  }

  /** Bytes of the shortest value of a type. */
  weight(type: number): number {
    return this.#weights[type]!;
  }

  array(index: number): ArrayEnds {
    return this.#arrays[index] ??= this.#arrayEnds(index);
  }

  object(index: number): ObjectEnds {
    return this.#objects[index] ??= this.#objectEnds(index);
  }

  #arrayEnds(index: number): ArrayEnds {
    return new ArrayEnds(this.#rules.arrays[index]!, (type) => this.#weights[type]!);
  }

  #objectEnds(index: number): ObjectEnds {
    const rules = this.#rules.objects[index]!;
    const others = rules.type.others.map(({ type }, which) => ({
      keys: this.#keysOf(this.#rules.others[index]![which]!),
      value: this.#weights[type]!,
    }));
    return new ObjectEnds(rules, (type) => this.#weights[type]!, others, this.#rules.work);
  }

  #keysOf(text: number): KeyLengths {
    let keys = this.#keys.get(text);
    if (!keys) {
      this.#keys.set(
        text,
        keys = new KeyLengths(this.#rules.texts[text]!.automaton, this.#rules.work),
      );
    }
    return keys;
  }

  /** The types that values of a type hold. */
  #partsOf(type: number): Set<number> {
    const { arrays, objects } = this.#rules.value(type);
    const parts = new Set<number>();
    for (const index of arrays) {
      const { prefix, rest, splits } = this.#rules.arrays[index]!.type;
      for (const item of prefix) parts.add(item);
      if (rest !== undefined) parts.add(rest);
      for (const split of splits?.values() ?? []) for (const part of split) parts.add(part.type);
    }
    for (const index of objects) {
      const { properties, others } = this.#rules.objects[index]!.type;
      for (const property of properties) parts.add(property.type);
      for (const other of others) parts.add(other.type);
    }
    return parts;
  }

  #weigh(type: number): number {
    const { arrays, objects } = this.#rules.value(type);
    let least = this.#weighScalar(type);
    for (const index of arrays) {
      const items = this.#arrayEnds(index).missing(this.#rules.arrays[index]!.start);
      least = Math.min(least, 2 + Math.max(items - 1, 0));
    }
    for (const index of objects) {
      const rest = this.#objectEnds(index).rest(this.#rules.objects[index]!.start, 0);
      // No comma comes before the first key.
      least = Math.min(least, rest + Number(rest === 1));
    }
    return least;
  }

  #weighScalar(type: number): number {
    const { literals, number, text } = this.#rules.value(type);
    let least = Infinity;
    for (const literal of literals) least = Math.min(least, LITERALS[literal]!.length);
    if (number >= 0) {
      const automaton = this.#rules.numbers[number]!;
      if (automaton.start !== 0) {
        least = Math.min(least, automaton.completion(automaton.start).length);
      }
    }
    if (text >= 0 && this.#rules.texts[text]!.isPossible) {
      const rules = this.#rules.texts[text]!;
      least = Math.min(least, 2 + this.#texts.length(rules, rules.automaton.start, 0));
    }
    return least;
  }
}

/** An order in which a type comes after its parts, as far as there is one. */
function partsFirst(parts: readonly ReadonlySet<number>[]): number[] {
  const order: number[] = [];
  const isSeen = new Uint8Array(parts.length);
  for (let first = 0; first < parts.length; first++) {
    const path: { type: number; left: Iterator<number> }[] = [];
    const enter = (type: number) => {
      isSeen[type] = 1;
      path.push({ type, left: parts[type]!.values() });
    };
    if (isSeen[first] === 0) enter(first);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.left.next();
      if (next.done) order.push(path.pop()!.type);
      else if (isSeen[next.value] === 0) enter(next.value);
    }
  }
  return order;
}

/** Measures the ends of arrays of one type. */
class ArrayEnds {
  readonly #rules: ArrayRules;
  readonly #weight: (type: number) => number;
  /** By index of the prefix: the bytes of the required items from there on, with commas. */
  readonly #prefix: Float64Array;
  readonly #known = new Map<ArrayProgress, number>();

  /** `weight` gives the bytes of the shortest value of a type. */
  constructor(rules: ArrayRules, weight: (type: number) => number) {
    this.#rules = rules;
    this.#weight = weight;
    const { prefix, min } = rules.type;
    const needed = Math.min(prefix.length, min);
    this.#prefix = new Float64Array(prefix.length + 1);
    for (let at = needed - 1; at >= 0; at--) {
      this.#prefix[at] = this.#prefix[at + 1]! + 1 + weight(prefix[at]!);
    }
  }

  /** Bytes of the items that are missing, with a comma for each. */
  missing(progress: ArrayProgress): number {
    let bytes = this.#known.get(progress);
    if (bytes === undefined) {
      bytes = this.#measure(progress);
      this.#known.set(progress, bytes);
    }
    return bytes;
  }

  #measure(progress: ArrayProgress): number {
    const { prefix, min, rest, contains } = this.#rules.type;
    if (contains.length > 0) {
      const items = this.#rules.remainingItems(progress, this.#weight);
      return items
        ? items.reduce((sum, { type, times }) => sum + times * (1 + this.#weight(type)), 0)
        : Infinity;
    }
    const count = Math.min(this.#rules.count(progress), min);
    const later = min - Math.max(count, prefix.length);
    const ofLater = later <= 0
      ? 0
      : rest === undefined
      ? Infinity
      : later * (1 + this.#weight(rest));
    return this.#prefix[Math.min(count, prefix.length)]! + ofLater;
  }
}

/** Measures the shortest texts from the positions of a program. */
export class ProgramEnds {
  readonly #rules: Rules;
  readonly #weights: readonly number[];

  /** Weighs the positions of the program of `rules`. */
  constructor(rules: Rules, texts: TextEnds, values: ValueEnds) {
    this.#rules = rules;
    this.#weights = weighPositions(
      rules.program!.instructions,
      (one, position) => {
        if (one.type === "document") return values.weight(one.root);
        const text = rules.texts[rules.programText(position)]!;
        return texts.length(text, text.automaton.start, 0);
      },
    );
  }

  /** Bytes from a position on, after some rounds if it is a repetition. */
  weight(position: Position, rounds: number): number {
    const one = this.#rules.program!.instructions[position]!;
    const done = one.type === "repeat" ? Math.min(rounds, one.min) : 0;
    const whole = this.#weights[position]!;
    return done === 0 || one.type !== "repeat" ? whole : whole - done * this.#weights[one.part]!;
  }
}
