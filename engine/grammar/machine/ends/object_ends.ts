// The fewest bytes that an object needs after its keys so far, and after each key that may come
// next. To take linear instead of quadratic time, what comes after each key is summed up from the
// last key to the first.

import type { Work } from "../../language/mod.ts";
import type { ObjectProgress, ObjectRules } from "../rules/object_rules.ts";
import type { KeysSoFar, RemainingKeys } from "../solvers/mod.ts";
import { lightestKeys, type WeighedKeys } from "./key_lengths.ts";

/**
 * Most keys that serve only to reach the least number of keys. With more of them an end is too far
 * away.
 */
const MAX_FILLERS = 65_536;

/** Most searches for the keys that may come next. */
const MAX_SEARCHES = 64;

/** Bytes of a brace. */
const BRACE = 1;

/** Objects whose ends are kept, by what has come. */
const MAX_KEPT = 64;

/** Steps of work for each declared key that is measured. */
const KEY_STEPS = 0.2;

/** Measures the ends of objects of one type. */
export class ObjectEnds {
  readonly #rules: ObjectRules;
  readonly #work: Work;
  /** By property: the bytes of its key and its shortest value, with quotes, colon and comma. */
  readonly #weights: Float64Array;
  readonly #others: readonly WeighedKeys[];
  /** By property: the bytes of it and all later ones that are required and in no clause. */
  readonly #required: Float64Array;
  readonly #rests = new Map<string, number>();
  readonly #keys = new Map<string, Float64Array>();

  /**
   * @param weight gives the bytes of the shortest value of a type
   * @param others the undeclared keys of each language
   */
  constructor(
    rules: ObjectRules,
    weight: (type: number) => number,
    others: readonly WeighedKeys[],
    work: Work,
  ) {
    const { properties } = rules.type;
    this.#rules = rules;
    this.#work = work;
    this.#others = others;
    this.#weights = new Float64Array(properties.length);
    rules.keys.forEach((key, at) => {
      const property = rules.properties[at]!;
      this.#weights[property] = key.length + 4 + weight(properties[property]!.type);
    });
    this.#required = new Float64Array(properties.length + 1);
    for (let at = properties.length - 1; at >= 0; at--) {
      const own = properties[at]!.required && !rules.isBound(at) ? this.#weights[at]! : 0;
      this.#required[at] = this.#required[at + 1]! + own;
    }
  }

  /**
   * Bytes up to and including the brace that ends the object, with a comma before each key.
   *
   * @param used number of undeclared keys that the object has
   */
  rest(progress: ObjectProgress, used: number): number {
    return kept(this.#rests, `${progress},${used}`, () => this.#rest(progress, used));
  }

  /** Bytes of the shortest undeclared key with its value and a comma. */
  other(used: number): number {
    return this.#lightest(used, 1)[0] ?? Infinity;
  }

  /**
   * For each of the sorted keys, the bytes from its first one to the end of the object if it comes
   * next; Infinity if it may not come, or the bytes are not known.
   */
  keys(progress: ObjectProgress, used: number): Float64Array {
    return kept(this.#keys, `${progress},${used}`, () => this.#measureKeys(progress, used));
  }

  #rest(progress: ObjectProgress, used: number): number {
    const rules = this.#rules;
    if (!rules.isOrdered) this.#work.charge(KEY_STEPS * rules.keys.length);
    const soFar = rules.keysSoFar(progress);
    const [bytes, required] = this.#requiredAt(soFar);
    if (rules.hasClauses) return BRACE + bytes + this.#ofClauses(progress, soFar.position, used);
    const missing = rules.type.min - soFar.count - required;
    if (missing <= 0) return BRACE + bytes;
    return BRACE + bytes + sumOf(this.#fillers(soFar, missing, used), missing);
  }

  /** Bytes and number of the required keys that are in no clause. */
  #requiredAt({ position, seen }: KeysSoFar): readonly [bytes: number, count: number] {
    const rules = this.#rules;
    if (rules.isOrdered) return [this.#required[position]!, rules.requiredFrom(position)];
    const known = new Set(seen);
    let bytes = 0;
    let count = 0;
    rules.type.properties.forEach(({ required }, at) => {
      if (!required || rules.isBound(at) || known.has(at)) return;
      bytes += this.#weights[at]!;
      count++;
    });
    return [bytes, count];
  }

  /**
   * The weights of the keys that may serve to reach the least number of keys, the lightest first.
   */
  #fillers({ position, seen, others }: KeysSoFar, missing: number, used: number): Float64Array {
    const optional = this.#optionalFrom(position, seen);
    return merged(optional, this.#lightest(used, Math.min(missing, others)));
  }

  /** The weights of the optional keys that may come, the lightest first. */
  #optionalFrom(position: number, seen: readonly number[]): Float64Array {
    const known = new Set(seen);
    const weights: number[] = [];
    this.#rules.type.properties.forEach(({ required }, at) => {
      if (at >= position && !required && !known.has(at)) weights.push(this.#weights[at]!);
    });
    return Float64Array.from(weights).sort();
  }

  /** The weights of the lightest undeclared keys, up to a number of them. */
  #lightest(used: number, count: number): Float64Array {
    if (count > MAX_FILLERS) return new Float64Array(0);
    const weights = new Float64Array(count);
    let end = 0;
    for (const [weight, times] of lightestKeys(this.#others, used, count)) {
      weights.fill(weight, end, end += times);
    }
    return weights.subarray(0, end);
  }

  #measureKeys(progress: ObjectProgress, used: number): Float64Array {
    const rules = this.#rules;
    this.#work.charge(KEY_STEPS * rules.keys.length);
    const choices = rules.choices(progress);
    const bytes = new Float64Array(rules.keys.length).fill(Infinity);
    const after = rules.hasClauses
      ? this.#afterEachOfClauses(progress, used)
      : rules.isOrdered
      ? this.#afterEachInOrder(progress, used)
      : this.#afterEach(progress, used);
    rules.properties.forEach((property, at) => {
      if (choices[at + 1] === choices[at]) return;
      // The quote before the key is there already, and no comma follows it.
      bytes[at] = this.#weights[property]! - 2 + BRACE + after(property);
    });
    return bytes;
  }

  /**
   * The bytes after each key if keys come in order. The number of keys that serve to reach the
   * least number only decreases.
   */
  #afterEachInOrder(progress: ObjectProgress, used: number): (property: number) => number {
    const rules = this.#rules;
    const { properties, min } = rules.type;
    const { position, count, others } = rules.keysSoFar(progress);
    const missingAfter = (at: number) => Math.max(0, min - count - 1 - rules.requiredFrom(at + 1));
    const most = missingAfter(properties.length - 1);
    if (most === 0) return (at) => this.#required[at + 1]!;
    const chosen = new Heaviest();
    for (const weight of this.#lightest(used, Math.min(most, others))) chosen.add(weight);
    const fillers = new Float64Array(properties.length);
    for (let at = properties.length - 1; at >= position; at--) {
      const missing = missingAfter(at);
      while (chosen.size > missing) chosen.removeHeaviest();
      fillers[at] = chosen.size === missing ? chosen.sum : Infinity;
      if (!properties[at]!.required) chosen.add(this.#weights[at]!);
    }
    return (at) => this.#required[at + 1]! + fillers[at]!;
  }

  /** The bytes after each key if keys may come in any order. */
  #afterEach(progress: ObjectProgress, used: number): (property: number) => number {
    const rules = this.#rules;
    const soFar = rules.keysSoFar(progress);
    const [bytes, required] = this.#requiredAt(soFar);
    if (bytes === Infinity) return () => Infinity;
    const missing = Math.max(0, rules.type.min - soFar.count - required);
    const fillers = missing === 0 ? new Float64Array(0) : this.#fillers(soFar, missing, used);
    const all = sumOf(fillers, missing);
    const butOne = sumOf(fillers, missing - 1);
    const heaviest = fillers[missing - 1] ?? 0;
    return (at) => {
      const weight = this.#weights[at]!;
      if (rules.type.properties[at]!.required) return bytes - weight + all;
      return bytes + (weight <= heaviest ? all - weight : butOne);
    };
  }

  /**
   * Bytes of the keys that clauses require, and of those that reach the least number together with
   * them.
   */
  #ofClauses(progress: ObjectProgress, position: number, used: number): number {
    return this.#remainingAt(progress, position, used)?.weight ?? Infinity;
  }

  #remainingAt(
    progress: ObjectProgress,
    position: number,
    used: number,
  ): RemainingKeys | undefined {
    return this.#rules.remainingKeys(progress, position, {
      weight: (property) => this.#weights[property]!,
      otherWeight: this.other(used),
    });
  }

  /**
   * The bytes after each key if some are in clauses. The number of searches is limited. Among them
   * are the one by which the whole object is measured, and that of the last key that may come.
   */
  #afterEachOfClauses(progress: ObjectProgress, used: number): (property: number) => number {
    const rules = this.#rules;
    const soFar = rules.keysSoFar(progress);
    const [bytes] = this.#requiredAt(soFar);
    const [first] = this.#remainingAt(progress, soFar.position, used)?.properties ?? [];
    const inOrder = rules.allowed(progress);
    const after = new Map<number, number>();
    const skipping = new Map<number, number>();
    let searches = MAX_SEARCHES;
    for (const property of [first, inOrder.at(-1), ...inOrder]) {
      if (property === undefined || after.has(property)) continue;
      const position = rules.isOrdered ? property + 1 : 0;
      const weight = this.#weights[property]!;
      const isOwn = rules.type.properties[property]!.required && !rules.isBound(property);
      const free = rules.isOrdered
        ? this.#required[position]!
        : bytes === Infinity
        ? Infinity
        : bytes - (isOwn ? weight : 0);
      const isBound = rules.isBound(property);
      const passed = rules.boundBefore(position);
      let clauses = isBound ? undefined : skipping.get(passed);
      if (clauses === undefined) {
        if (searches-- <= 0) continue;
        clauses = this.#ofClauses(
          isBound ? rules.after(progress, property) : progress,
          position,
          used,
        );
        if (!isBound) skipping.set(passed, clauses);
      }
      after.set(property, free + clauses);
    }
    return (at) => after.get(at) ?? Infinity;
  }
}

/** Some weights and their sum, as a binary heap with the heaviest on top. */
class Heaviest {
  readonly #weights: number[] = [];
  sum = 0;

  get size(): number {
    return this.#weights.length;
  }

  add(weight: number): void {
    const weights = this.#weights;
    // A key whose end is not known is not considered.
    if (weight === Infinity) return;
    let at = weights.push(weight) - 1;
    for (let above = (at - 1) >> 1; at > 0 && weights[above]! < weight; above = (at - 1) >> 1) {
      weights[at] = weights[above]!;
      at = above;
    }
    weights[at] = weight;
    this.sum += weight;
  }

  removeHeaviest(): void {
    const weights = this.#weights;
    this.sum -= weights[0]!;
    const last = weights.pop()!;
    const size = weights.length;
    if (size === 0) return;
    let at = 0;
    for (let below = 1; below < size; below = 2 * at + 1) {
      if (below + 1 < size && weights[below + 1]! > weights[below]!) below++;
      if (weights[below]! <= last) break;
      weights[at] = weights[below]!;
      at = below;
    }
    weights[at] = last;
  }
}

/** The weights of two lists, sorted. */
function merged(a: Float64Array, b: Float64Array): Float64Array {
  const all = new Float64Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all.sort();
}

/** The sum of the first `count`; Infinity if there are fewer. */
function sumOf(sorted: Float64Array, count: number): number {
  if (count > sorted.length) return Infinity;
  let sum = 0;
  for (let at = 0; at < count; at++) sum += sorted[at]!;
  return sum;
}

/** A cached value, or a new one, for which the oldest is dropped. */
function kept<T>(known: Map<string, T>, key: string, find: () => T): T {
  let value = known.get(key);
  if (value === undefined) {
    value = find();
    known.set(key, value);
    if (known.size > MAX_KEPT) known.delete(known.keys().next().value!);
  }
  return value;
}
