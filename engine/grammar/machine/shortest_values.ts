// The shortest value of each type, as a least fixed point: types refer to each other, and a type's
// value is made of shorter ones. Weights count bytes; they are exact but for unique items, clauses
// beyond their cap and several other keys.

import type { ObjectPlan } from "./object_plan.ts";
import { LITERALS, type Rules, spellContent } from "./rules.ts";
import { completeText } from "./text_completion.ts";
import { NO_WORDS, type WordSet, type WordSets } from "./word_sets.ts";

/** Longest value that is written out, in bytes. */
const MAX_LENGTH = 1 << 20;

/** The shortest values of a schema's types. */
export class ShortestValues {
  readonly #rules: Rules;
  readonly #words: WordSets;
  readonly #weights: number[];
  readonly #keyWeights = new Map<number, number>();
  readonly #bytes = new Map<number, readonly number[] | undefined>();

  constructor(rules: Rules, words: WordSets) {
    this.#rules = rules;
    this.#words = words;
    this.#weights = rules.types.types.map(() => Infinity);
    for (let changed = true; changed;) {
      changed = false;
      for (let type = 0; type < this.#weights.length; type++) {
        const weight = this.#weigh(type);
        changed ||= weight < this.#weights[type]!;
        this.#weights[type] = Math.min(weight, this.#weights[type]!);
      }
    }
  }

  /** Bytes of the shortest value of a type. */
  weight(type: number): number {
    return this.#weights[type]!;
  }

  /** Bytes that the longest of the shortest values has. */
  get greatestWeight(): number {
    return this.#weights.reduce((most, one) => one < Infinity ? Math.max(most, one) : most, 0);
  }

  /** The shortest value of a type; undefined where it is too long to write. */
  bytes(type: number): readonly number[] | undefined {
    if (this.#weights[type]! > MAX_LENGTH) return undefined;
    let bytes = this.#bytes.get(type);
    if (!bytes) this.#bytes.set(type, bytes = this.#write(type));
    return bytes;
  }

  /** Bytes of a declared property with its comma. */
  propertyWeight(object: number, property: number): number {
    const { key, type } = this.#rules.objects[object]!.type.properties[property]!;
    return spellContent(key).length + 4 + this.#weights[type]!;
  }

  /** Bytes of the lightest other property with its comma. */
  otherWeight(object: number): number {
    const { others } = this.#rules.objects[object]!.type;
    return others.reduce((least, { type }, which) => {
      const text = this.#rules.others[object]![which]!;
      return Math.min(least, this.#keyWeight(text) + 4 + this.#weights[type]!);
    }, Infinity);
  }

  /** The keys that complete an object. */
  plan(object: number, ledger: number): ObjectPlan | undefined {
    return this.#rules.objects[object]!.plan(ledger, {
      weight: (property) => this.propertyWeight(object, property),
      otherWeight: this.otherWeight(object),
    });
  }

  /** A declared property without its comma. */
  property(object: number, property: number): readonly number[] | undefined {
    const { key, type } = this.#rules.objects[object]!.type.properties[property]!;
    const value = this.bytes(type);
    return value && [0x22, ...spellContent(key), 0x22, 0x3a, ...value];
  }

  /** An other property without its comma, whose key is none of `used`, and that key. */
  other(
    object: number,
    used: WordSet,
  ): { key: Uint8Array; bytes: readonly number[] } | undefined {
    const texts = this.#rules.others[object]!;
    const byWeight = this.#rules.objects[object]!.type.others
      .map(({ type }, which) => {
        const weight = this.#keyWeight(texts[which]!) + this.#weights[type]!;
        return { type, text: this.#rules.texts[texts[which]!]!, weight };
      })
      .sort((a, b) => a.weight - b.weight);
    for (const { type, text } of byWeight) {
      const key = completeText(text, text.automaton.start, 0, this.#words, used);
      const value = this.bytes(type);
      if (key && value) return { key, bytes: [0x22, ...key, 0x22, 0x3a, ...value] };
    }
    return undefined;
  }

  /** What completes an object: keys of a plan, commas between and before them, and the brace. */
  rest(object: number, ledger: number, used: WordSet, hasKeys: boolean): number[] | undefined {
    const plan = this.plan(object, ledger);
    if (!plan) return undefined;
    const bytes: number[] = [];
    const add = (property: readonly number[] | undefined) => {
      if (!property) return false;
      if (hasKeys) bytes.push(0x2c);
      for (const byte of property) bytes.push(byte);
      return hasKeys = true;
    };
    for (const property of plan.properties) {
      if (!add(this.property(object, property))) return undefined;
    }
    for (let count = 0; count < plan.others; count++) {
      const other = this.other(object, used);
      if (!other || !add(other.bytes)) return undefined;
      used = this.#words.add(used, other.key);
    }
    bytes.push(0x7d);
    return bytes;
  }

  /** What completes an array that has `hasItems`. */
  items(array: number, ledger: number, hasItems: boolean): number[] | undefined {
    const plan = this.#rules.arrays[array]!.plan(ledger, (type) => this.weight(type));
    const bytes: number[] = [];
    for (const { type } of plan ?? []) {
      const value = this.bytes(type);
      if (!value) return undefined;
      if (hasItems) bytes.push(0x2c);
      for (const byte of value) bytes.push(byte);
      hasItems = true;
    }
    bytes.push(0x5d);
    return plan && bytes;
  }

  /** Bytes of the shortest key of a text. */
  #keyWeight(text: number): number {
    let weight = this.#keyWeights.get(text);
    if (weight === undefined) {
      const { automaton } = this.#rules.texts[text]!;
      weight = automaton.start === 0 ? Infinity : automaton.completion(automaton.start).length;
      this.#keyWeights.set(text, weight);
    }
    return weight;
  }

  #scalars(type: number): readonly Uint8Array[] {
    const { literals, number, text } = this.#rules.value(type);
    const values = literals.map((literal) => LITERALS[literal]!);
    if (number >= 0) {
      const automaton = this.#rules.numbers[number]!;
      if (automaton.start !== 0) values.push(automaton.completion(automaton.start));
    }
    if (text >= 0 && this.#rules.texts[text]!.isPossible) {
      const rules = this.#rules.texts[text]!;
      const content = completeText(rules, rules.automaton.start, 0, this.#words, NO_WORDS);
      if (content) values.push(Uint8Array.from([0x22, ...content, 0x22]));
    }
    return values;
  }

  readonly #shortestScalars = new Map<number, Uint8Array | undefined>();

  #scalar(type: number): Uint8Array | undefined {
    if (!this.#shortestScalars.has(type)) {
      const [shortest] = [...this.#scalars(type)].sort((a, b) => a.length - b.length);
      this.#shortestScalars.set(type, shortest);
    }
    return this.#shortestScalars.get(type);
  }

  #weigh(type: number): number {
    const { arrays, objects } = this.#rules.value(type);
    let least = this.#scalar(type)?.length ?? Infinity;
    for (const array of arrays) least = Math.min(least, this.#weighArray(array));
    for (const object of objects) least = Math.min(least, this.#weighObject(object));
    return least;
  }

  #weighArray(array: number): number {
    const rules = this.#rules.arrays[array]!;
    const plan = rules.plan(rules.start, (type) => this.weight(type));
    if (!plan) return Infinity;
    const items = plan.reduce((sum, { type }) => sum + 1 + this.weight(type), 0);
    return 2 + Math.max(items - 1, 0);
  }

  #weighObject(object: number): number {
    const plan = this.plan(object, this.#rules.objects[object]!.start);
    return plan ? 2 + Math.max(plan.weight - 1, 0) : Infinity;
  }

  #write(type: number): readonly number[] | undefined {
    const { arrays, objects } = this.#rules.value(type);
    const weight = this.#weights[type]!;
    const scalar = this.#scalar(type);
    if (scalar && scalar.length <= weight) return [...scalar];
    for (const array of arrays) {
      if (this.#weighArray(array) > weight) continue;
      const items = this.items(array, this.#rules.arrays[array]!.start, false);
      return items && [0x5b, ...items];
    }
    for (const object of objects) {
      if (this.#weighObject(object) > weight) continue;
      const rest = this.rest(object, this.#rules.objects[object]!.start, NO_WORDS, false);
      return rest && [0x7b, ...rest];
    }
    return undefined;
  }
}
