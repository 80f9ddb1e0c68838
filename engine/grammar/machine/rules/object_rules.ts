// What may still come in an object after its keys so far: which keys may come next, and whether all
// its rules can still be met. A progress is a number that stands for what the rules need to know of
// the keys so far; it does not contain the keys.

import { Work } from "../../language/mod.ts";
import type { ObjectType } from "../../types.ts";
import { IntegerLists } from "../collections.ts";
import {
  type KeysSoFar,
  type KeyWeights,
  type RemainingKeys,
  RemainingKeysSolver,
} from "../solvers/mod.ts";

/** What the rules need to know of the keys so far, by number. */
export type ObjectProgress = number;

/** Elements of a progress's list, before the declared keys that it remembers. */
const POSITION = 0;

const COUNT = 1;

const AVAILABLE = 2;

const SEEN = 3;

/** The number of other keys if there may be any number. */
const UNLIMITED = 0x3fffffff;

/** Objects whose choices are cached, by what has come: those around one position of a document. */
const MAX_KEPT = 64;

/** Steps of work for each declared key in a search for the keys that may come next. */
const PROPERTY_STEPS = 0.1;

/** The rules of one object type. */
export class ObjectRules {
  readonly type: ObjectType;
  /** Declared keys as contents of JSON strings in bytes, sorted. */
  readonly keys: readonly Uint8Array[];
  /** The property of each of the sorted keys. */
  readonly properties: readonly number[];
  /** Whether declared keys come in order, and before others. */
  readonly isOrdered: boolean;
  readonly hasClauses: boolean;
  /** Whether the required keys are the only rule. */
  readonly #isUnbounded: boolean;
  /** By property: how many of it and all later ones are required and in no clause. */
  readonly #requiredFrom: Int32Array;
  /** The last required property; -1 if there is none. */
  readonly #lastRequired: number;
  /**
   * The properties that searches with clauses include: those in clauses, or all if the number of
   * keys matters too. And by property, how many of them are before it.
   */
  readonly #bound: readonly number[];
  readonly #boundBefore: Int32Array;
  readonly #inClauses: ReadonlySet<number>;
  readonly #solver: RemainingKeysSolver;
  readonly #work: Work;
  readonly #lists = new IntegerLists();
  readonly #feasible = new Map<ObjectProgress, boolean>();
  readonly #choices = new Map<ObjectProgress, Int32Array>();

  /**
   * @param spell gives the bytes of a key
   * @param others the number of possible other keys; Infinity: any number
   * @param ordered whether declared keys come in order and before others
   * @param work counts the steps of searching for keys
   */
  constructor(
    type: ObjectType,
    { spell, others, ordered, work = new Work() }: {
      spell: (key: string) => Uint8Array;
      others: number;
      ordered: boolean;
      work?: Work;
    },
  ) {
    const { properties, clauses, min, max } = type;
    this.type = type;
    this.isOrdered = ordered;
    this.hasClauses = clauses.length > 0;
    this.#lastRequired = properties.findLastIndex(({ required }) => required);
    const isCounted = min > 0 || max < Infinity;
    this.#isUnbounded = !this.hasClauses && !isCounted;
    const spelled = properties.map(({ key }, property) => ({ bytes: spell(key), property }));
    spelled.sort((a, b) => compareBytes(a.bytes, b.bytes));
    this.keys = spelled.map(({ bytes }) => bytes);
    this.properties = spelled.map(({ property }) => property);
    const named = new Set(clauses.flat().map(({ key }) => key));
    this.#inClauses = new Set(properties.flatMap(({ key }, at) => named.has(key) ? [at] : []));
    const areAllBound = this.hasClauses && isCounted;
    const bound: number[] = [];
    this.#boundBefore = new Int32Array(properties.length + 1);
    properties.forEach((_, at) => {
      if (areAllBound || this.#inClauses.has(at)) bound.push(at);
      this.#boundBefore[at + 1] = bound.length;
    });
    this.#bound = bound;
    this.#work = work;
    const searched = { ...type, properties: bound.map((at) => properties[at]!) };
    this.#solver = new RemainingKeysSolver(searched, work);
    this.#requiredFrom = new Int32Array(properties.length + 1);
    for (let at = properties.length - 1; at >= 0; at--) {
      const isCountedHere = properties[at]!.required && !this.isBound(at);
      this.#requiredFrom[at] = this.#requiredFrom[at + 1]! + Number(isCountedHere);
    }
    this.#lists.intern([0, 0, Math.min(others, UNLIMITED)]);
  }

  /** The progress of an object without keys. */
  get start(): ObjectProgress {
    return 0;
  }

  /** The number of required properties from one on that searches with clauses do not include. */
  requiredFrom(property: number): number {
    return this.#requiredFrom[property]!;
  }

  /** Whether searches with clauses include a property. */
  isBound(property: number): boolean {
    return this.#boundBefore[property + 1]! > this.#boundBefore[property]!;
  }

  /** The number of properties before one that searches with clauses include. */
  boundBefore(property: number): number {
    return this.#boundBefore[property]!;
  }

  /** The progress after a declared key. */
  after(progress: ObjectProgress, property: number): ObjectProgress {
    const list = this.#counted(progress);
    if (this.isOrdered) list[POSITION] = property + 1;
    if (!this.isOrdered || this.#inClauses.has(property)) {
      list.push(property);
      const seen = list.splice(SEEN).sort((a, b) => a - b);
      for (const one of seen) list.push(one);
    }
    return this.#lists.intern(list);
  }

  /** The progress after another key. */
  afterOther(progress: ObjectProgress): ObjectProgress {
    const list = this.#counted(progress);
    if (this.isOrdered) list[POSITION] = this.type.properties.length;
    if (list[AVAILABLE] !== UNLIMITED) list[AVAILABLE]!--;
    return this.#lists.intern(list);
  }

  /** Whether the object may end. */
  isComplete(progress: ObjectProgress): boolean {
    if (this.#lists.at(progress, COUNT) < this.type.min) return false;
    const { properties, clauses } = this.type;
    const position = this.#lists.at(progress, POSITION);
    if (this.isOrdered && position <= this.#lastRequired) return false;
    if (this.isOrdered && clauses.length === 0) return true;
    const seen = new Set(this.#seen(progress));
    if (!this.isOrdered && properties.some((one, at) => one.required && !seen.has(at))) {
      return false;
    }
    const present = new Set([...seen].map((at) => properties[at]!.key));
    return clauses.every((any) => any.some((one) => present.has(one.key) === one.present));
  }

  /** Whether another key may come next. */
  mayHaveOther(progress: ObjectProgress): boolean {
    if (this.#lists.at(progress, AVAILABLE) === 0) return false;
    // If keys come in order, another key rules out the declared ones that have not come.
    if (this.isOrdered && this.#lists.at(progress, POSITION) <= this.#lastRequired) return false;
    return this.isFeasible(this.afterOther(progress));
  }

  /** For each sorted key and for the end: the number of keys before it that may come next. */
  choices(progress: ObjectProgress): Int32Array {
    let counts = this.#choices.get(progress);
    if (!counts) {
      const allowed = new Uint8Array(this.properties.length);
      for (const property of this.allowed(progress)) allowed[property] = 1;
      counts = new Int32Array(this.keys.length + 1);
      for (let at = 0; at < this.keys.length; at++) {
        counts[at + 1] = counts[at]! + allowed[this.properties[at]!]!;
      }
      this.#choices.set(progress, counts);
      if (this.#choices.size > MAX_KEPT) {
        this.#choices.delete(this.#choices.keys().next().value!);
      }
    }
    return counts;
  }

  /** Whether any key may come next. */
  mayGoOn(progress: ObjectProgress): boolean {
    return this.choices(progress)[this.keys.length]! > 0 || this.mayHaveOther(progress);
  }

  /** Whether the object can be completed. */
  isFeasible(progress: ObjectProgress): boolean {
    if (this.#isUnbounded) return true;
    let feasible = this.#feasible.get(progress);
    if (feasible === undefined) {
      const soFar = this.keysSoFar(progress);
      feasible = this.hasClauses
        ? this.#solver.isFeasible(this.#boundKeys(soFar, soFar.position))
        : this.#isWithinBounds(soFar.count, ...this.#leftAt(soFar), soFar.others);
      this.#feasible.set(progress, feasible);
    }
    return feasible;
  }

  /**
   * Keys, among those that searches with clauses include, that complete the object at a small
   * weight; undefined if there are none. Those before `position` may not come any more.
   */
  remainingKeys(
    progress: ObjectProgress,
    position: number,
    weights: KeyWeights,
  ): RemainingKeys | undefined {
    const keys = this.#solver.lightest(this.#boundKeys(this.keysSoFar(progress), position), {
      ...weights,
      weight: (at) => weights.weight(this.#bound[at]!),
    });
    return keys && { ...keys, properties: keys.properties.map((at) => this.#bound[at]!) };
  }

  /** The keys so far for which a progress stands. */
  keysSoFar(progress: ObjectProgress): KeysSoFar {
    const available = this.#lists.at(progress, AVAILABLE);
    return {
      position: this.#lists.at(progress, POSITION),
      seen: this.#seen(progress),
      count: this.#lists.at(progress, COUNT),
      others: available === UNLIMITED ? Infinity : available,
    };
  }

  /** The properties that may come next, in order. */
  allowed(progress: ObjectProgress): number[] {
    const soFar = this.keysSoFar(progress);
    this.#work.charge(PROPERTY_STEPS * this.type.properties.length);
    const ofClauses = this.hasClauses ? this.#boundAllowed(soFar) : undefined;
    const { properties } = this.type;
    const seen = new Set(soFar.seen);
    const [required, left] = this.#leftAt(soFar);
    const allowed: number[] = [];
    for (let at = soFar.position; at < properties.length; at++) {
      if (seen.has(at)) continue;
      if (ofClauses) {
        const isAllowed = this.isBound(at)
          ? ofClauses.bound.has(at)
          : this.#boundBefore[at]! <= ofClauses.skipped;
        if (isAllowed) allowed.push(at);
      } else {
        const [needed, possible] = this.isOrdered
          ? [this.#requiredFrom[at + 1]!, properties.length - at - 1]
          : [required - Number(properties[at]!.required), left - 1];
        if (this.#isWithinBounds(soFar.count + 1, needed, possible, soFar.others)) allowed.push(at);
      }
      if (this.isOrdered && properties[at]!.required) break;
    }
    return allowed;
  }

  /** The keys in clauses that may come next, and how many of them may be skipped. */
  #boundAllowed(soFar: KeysSoFar): { bound: ReadonlySet<number>; skipped: number } {
    const at = this.#boundKeys(soFar, soFar.position);
    const next = this.#solver.next(at, this.isOrdered);
    const bound = new Set(next.map((index) => this.#bound[index]!));
    if (!this.isOrdered || this.#bound.length === this.type.properties.length) {
      return { bound, skipped: this.#bound.length };
    }
    let [low, high] = [at.position, this.#bound.length];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#solver.isFeasible({ ...at, position: middle })) low = middle;
      else high = middle - 1;
    }
    return { bound, skipped: low };
  }

  /** A position as the solver has it, which knows only some of the properties. */
  #boundKeys({ seen, count, others }: KeysSoFar, position: number): KeysSoFar {
    return {
      position: this.#boundBefore[position]!,
      seen: seen.filter((at) => this.isBound(at)).map((at) => this.#boundBefore[at]!),
      count,
      others,
    };
  }

  /** The numbers of declared keys that are required, and that may come, of those that are left. */
  #leftAt({ position, seen }: KeysSoFar): [required: number, possible: number] {
    const { properties } = this.type;
    if (this.isOrdered) return [this.#requiredFrom[position]!, properties.length - position];
    const required = seen.filter((at) => properties[at]!.required).length;
    return [this.#requiredFrom[0]! - required, properties.length - seen.length];
  }

  /** Whether the number of keys can be reached, which is the only rule without clauses. */
  #isWithinBounds(count: number, required: number, possible: number, others: number): boolean {
    const { min, max } = this.type;
    return count + required <= max && count + possible + others >= min;
  }

  /** A copy of a progress's list with one more key, counted up to the number that matters. */
  #counted(progress: ObjectProgress): number[] {
    const list = this.#lists.get(progress);
    const { min, max } = this.type;
    list[COUNT] = max === Infinity ? Math.min(list[COUNT]! + 1, min) : list[COUNT]! + 1;
    return list;
  }

  #seen(progress: ObjectProgress): number[] {
    return this.#lists.get(progress).slice(SEEN);
  }
}

/** The order of byte strings: a prefix comes first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    if (a[index] !== b[index]) return a[index]! - b[index]!;
  }
  return a.length - b.length;
}
