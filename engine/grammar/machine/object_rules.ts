// What an object may still have after the keys it has: which of them come next, and whether all
// that must hold of it can still come true. A ledger is what matters of the keys so far, as a
// number; the keys themselves are not in it.

import type { ObjectType } from "../types.ts";
import { IntegerLists } from "./integer_lists.ts";
import {
  type KeyWeights,
  type ObjectPlace,
  type ObjectPlan,
  ObjectPlanner,
} from "./object_plan.ts";

/** What matters of the keys so far, by number. */
export type ObjectLedger = number;

/** Elements of a ledger's list; the declared keys it remembers follow. */
const POSITION = 0;
const COUNT = 1;
const AVAILABLE = 2;
const SEEN = 3;

/** Stands for any number of other keys. */
const UNLIMITED = 0x3fffffff;

/** The rules of one object type. */
export class ObjectRules {
  readonly type: ObjectType;
  /** Declared keys as bytes of a JSON string's content, sorted. */
  readonly keys: readonly Uint8Array[];
  /** The property of each of the sorted keys. */
  readonly properties: readonly number[];
  readonly #ordered: boolean;
  /** Whether nothing but the required keys must hold. */
  readonly #isUnbounded: boolean;
  /** The last required property; -1: none is. */
  readonly #lastRequired: number;
  readonly #inClauses: ReadonlySet<number>;
  readonly #planner: ObjectPlanner;
  readonly #ledgers = new IntegerLists();
  readonly #feasible = new Map<ObjectLedger, boolean>();
  readonly #choices = new Map<ObjectLedger, Int32Array>();

  /**
   * `spell` gives the bytes of a key, `others` is how many other keys there are at all (Infinity:
   * any number), `ordered` whether declared keys come in order and before others.
   */
  constructor(
    type: ObjectType,
    { spell, others, ordered }: {
      spell: (key: string) => Uint8Array;
      others: number;
      ordered: boolean;
    },
  ) {
    this.type = type;
    this.#ordered = ordered;
    this.#lastRequired = type.properties.findLastIndex(({ required }) => required);
    this.#isUnbounded = type.clauses.length === 0 && type.min === 0 && type.max === Infinity;
    this.#planner = new ObjectPlanner(type);
    const spelled = type.properties.map(({ key }, property) => ({ bytes: spell(key), property }));
    spelled.sort((a, b) => compareBytes(a.bytes, b.bytes));
    this.keys = spelled.map(({ bytes }) => bytes);
    this.properties = spelled.map(({ property }) => property);
    const named = new Set(type.clauses.flat().map(({ key }) => key));
    this.#inClauses = new Set(type.properties.flatMap(({ key }, at) => named.has(key) ? [at] : []));
    this.#ledgers.intern([0, 0, Math.min(others, UNLIMITED)]);
  }

  /** The ledger of an object without keys. */
  get start(): ObjectLedger {
    return 0;
  }

  /** The ledger after a declared key. */
  after(ledger: ObjectLedger, property: number): ObjectLedger {
    const list = this.#counted(ledger);
    if (this.#ordered) list[POSITION] = property + 1;
    if (!this.#ordered || this.#inClauses.has(property)) {
      list.push(property);
      const seen = list.splice(SEEN).sort((a, b) => a - b);
      list.push(...seen);
    }
    return this.#ledgers.intern(list);
  }

  /** The ledger after another key. */
  afterOther(ledger: ObjectLedger): ObjectLedger {
    const list = this.#counted(ledger);
    if (this.#ordered) list[POSITION] = this.type.properties.length;
    if (list[AVAILABLE] !== UNLIMITED) list[AVAILABLE]!--;
    return this.#ledgers.intern(list);
  }

  /** Whether the object may end. */
  isComplete(ledger: ObjectLedger): boolean {
    if (this.#ledgers.at(ledger, COUNT) < this.type.min) return false;
    const seen = new Set(this.#seen(ledger));
    const position = this.#ledgers.at(ledger, POSITION);
    const { properties, clauses } = this.type;
    if (properties.some((one, at) => one.required && at >= position && !seen.has(at))) return false;
    if (clauses.length === 0) return true;
    const present = new Set([...seen].map((at) => properties[at]!.key));
    return clauses.every((any) => any.some((one) => present.has(one.key) === one.present));
  }

  /** Whether another key may come next. */
  mayHaveOther(ledger: ObjectLedger): boolean {
    if (this.#ledgers.at(ledger, AVAILABLE) === 0) return false;
    // In order, another key gives up the declared ones that have not come.
    if (this.#ordered && this.#ledgers.at(ledger, POSITION) <= this.#lastRequired) return false;
    return this.isFeasible(this.afterOther(ledger));
  }

  /** Of how many of the sorted keys before each, and before the end, one may come next. */
  choices(ledger: ObjectLedger): Int32Array {
    let counts = this.#choices.get(ledger);
    if (!counts) {
      const allowed = new Set(this.#candidates(ledger));
      counts = new Int32Array(this.keys.length + 1);
      this.properties.forEach((property, at) => {
        counts![at + 1] = counts![at]! + Number(allowed.has(property));
      });
      this.#choices.set(ledger, counts);
    }
    return counts;
  }

  /** Whether any key may come next. */
  mayGoOn(ledger: ObjectLedger): boolean {
    return this.choices(ledger)[this.keys.length]! > 0 || this.mayHaveOther(ledger);
  }

  /** Whether the object can be completed. */
  isFeasible(ledger: ObjectLedger): boolean {
    let feasible = this.#feasible.get(ledger);
    if (feasible === undefined) {
      feasible = this.type.clauses.length === 0
        ? this.#isWithinBounds(ledger)
        : this.#planner.isFeasible(this.#placeOf(ledger));
      this.#feasible.set(ledger, feasible);
    }
    return feasible;
  }

  /** The keys that complete the object, at a small weight; undefined where none do. */
  plan(ledger: ObjectLedger, weights: KeyWeights): ObjectPlan | undefined {
    return this.#planner.plan(this.#placeOf(ledger), weights);
  }

  #placeOf(ledger: ObjectLedger): ObjectPlace {
    const available = this.#ledgers.at(ledger, AVAILABLE);
    return {
      position: this.#ledgers.at(ledger, POSITION),
      seen: this.#seen(ledger),
      count: this.#ledgers.at(ledger, COUNT),
      others: available === UNLIMITED ? Infinity : available,
    };
  }

  #candidates(ledger: ObjectLedger): number[] {
    const { properties, clauses } = this.type;
    if (clauses.length > 0) return this.#planner.next(this.#placeOf(ledger), this.#ordered);
    const seen = new Set(this.#seen(ledger));
    const candidates: number[] = [];
    for (let at = this.#ledgers.at(ledger, POSITION); at < properties.length; at++) {
      if (seen.has(at)) continue;
      if (this.#isUnbounded || this.isFeasible(this.after(ledger, at))) candidates.push(at);
      if (this.#ordered && properties[at]!.required) break;
    }
    return candidates;
  }

  /** Whether the number of keys can be met, which is all there is without clauses. */
  #isWithinBounds(ledger: ObjectLedger): boolean {
    if (this.#isUnbounded) return true;
    const { properties, min, max } = this.type;
    const seen = new Set(this.#seen(ledger));
    let required = 0;
    let declared = 0;
    for (let at = this.#ledgers.at(ledger, POSITION); at < properties.length; at++) {
      if (seen.has(at)) continue;
      declared++;
      required += Number(properties[at]!.required);
    }
    const count = this.#ledgers.at(ledger, COUNT);
    const possible = count + declared + this.#ledgers.at(ledger, AVAILABLE);
    return count + required <= max && possible >= min;
  }

  /** A copy of a ledger's list with one more key, as far as the number of keys matters. */
  #counted(ledger: ObjectLedger): number[] {
    const list = this.#ledgers.get(ledger);
    const { min, max } = this.type;
    list[COUNT] = max === Infinity ? Math.min(list[COUNT]! + 1, min) : list[COUNT]! + 1;
    return list;
  }

  #seen(ledger: ObjectLedger): number[] {
    return this.#ledgers.get(ledger).slice(SEEN);
  }
}

/** Orders byte strings, a prefix first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    if (a[index] !== b[index]) return a[index]! - b[index]!;
  }
  return a.length - b.length;
}
