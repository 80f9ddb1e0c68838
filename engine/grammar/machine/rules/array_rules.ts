// What may still come in an array after its items so far. A ledger is a number that stands for what
// the rules need to know of these items: how many there are, and how many count for each type of
// `contains`.

import { Work } from "../../language/mod.ts";
import type { ArrayType, ItemPart, TypeId } from "../../types.ts";
import { type CountedItems, type ItemRun, remainingItems } from "../solvers/mod.ts";
import { IntegerLists } from "../collections.ts";
import { MachineError } from "../errors.ts";

/** What the rules need to know of the items so far, by number. */
export type ArrayLedger = number;

/** The ledger of an array that cannot be completed. */
export const NO_LEDGER = -1;

/** The rules of one array type. */
export class ArrayRules implements CountedItems {
  readonly type: ArrayType;
  /** Most items. */
  readonly most: number;
  readonly work: Work;
  /** Lists of the number of items, then the number that counts for each of `contains`. */
  readonly #ledgers = new IntegerLists();
  readonly #feasible = new Map<ArrayLedger, boolean>();

  /** @param work counts the steps of finding items that complete an array */
  constructor(type: ArrayType, work = new Work()) {
    this.type = type;
    this.work = work;
    this.most = type.rest === undefined ? Math.min(type.max, type.prefix.length) : type.max;
    this.#ledgers.intern([0, ...type.contains.map(() => 0)]);
  }

  /** The ledger of an array without items. */
  get start(): ArrayLedger {
    return 0;
  }

  /** The types that the next item may have, and the rules for which an item of each counts. */
  partsAt(ledger: ArrayLedger): readonly ItemPart[] {
    const count = this.#ledgers.at(ledger, 0);
    if (count >= this.most) return [];
    const type = count < this.type.prefix.length ? this.type.prefix[count] : this.type.rest;
    return type === undefined ? [] : this.#split(type);
  }

  /** The ledger after an item; NO_LEDGER if the array could not be completed. */
  after(ledger: ArrayLedger, part: ItemPart): ArrayLedger {
    const next = this.add(ledger, part);
    return next !== NO_LEDGER && this.isFeasible(next) ? next : NO_LEDGER;
  }

  /** Whether the array may end. */
  isComplete(ledger: ArrayLedger): boolean {
    return this.#ledgers.at(ledger, 0) >= this.type.min &&
      this.type.contains.every(({ min }, at) => this.#ledgers.at(ledger, at + 1) >= min);
  }

  /** The number of items, up to the number that matters. */
  count(ledger: ArrayLedger): number {
    return this.#ledgers.at(ledger, 0);
  }

  /** Whether the array can be completed. */
  isFeasible(ledger: ArrayLedger): boolean {
    if (this.type.contains.length === 0) return this.type.min <= this.most;
    let feasible = this.#feasible.get(ledger);
    if (feasible === undefined) {
      feasible = this.remainingItems(ledger, () => 1) !== undefined;
      this.#feasible.set(ledger, feasible);
    }
    return feasible;
  }

  /** Light items that complete the array; undefined if none are found. */
  remainingItems(
    ledger: ArrayLedger,
    weight: (type: TypeId) => number,
  ): readonly ItemRun[] | undefined {
    return remainingItems(this, ledger, weight);
  }

  /** The number of items, and the numbers that count for each of `contains`. */
  countsOf(ledger: ArrayLedger): readonly number[] {
    return this.#ledgers.get(ledger);
  }

  #split(type: TypeId): readonly ItemPart[] {
    if (this.type.contains.length === 0) return [{ type, counts: [] }];
    const parts = this.type.splits?.get(type);
    if (!parts) throw new MachineError("Cannot count items: their type is not split by contains");
    return parts;
  }

  /** The ledger after items of a part; NO_LEDGER if more of them would count than may. */
  add(ledger: ArrayLedger, { counts }: ItemPart, times = 1): ArrayLedger {
    const list = this.#ledgers.get(ledger);
    const { prefix, min, contains } = this.type;
    const enough = this.most === Infinity ? Math.max(prefix.length, min) : Infinity;
    list[0] = Math.min(list[0]! + times, enough);
    for (let at = 0; at < contains.length; at++) {
      if (!counts[at]) continue;
      const { min: least, max: most } = contains[at]!;
      const counted = list[at + 1]! + times;
      list[at + 1] = most === Infinity ? Math.min(counted, least) : counted;
      if (counted > most) return NO_LEDGER;
    }
    return this.#ledgers.intern(list);
  }
}
