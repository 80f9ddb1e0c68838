// What may still come in an array after its items so far. A progress is a number that stands for what
// the rules need to know of these items: how many there are, and how many count for each type of
// `contains`.

import { Work } from "../../language/mod.ts";
import type { ArrayType, ItemPart, TypeId } from "../../types.ts";
import { type CountedItems, type ItemRun, remainingItems } from "../solvers/mod.ts";
import { IntegerLists } from "../collections.ts";
import { MachineError } from "../errors.ts";

/** What the rules need to know of the items so far, by number. */
export type ArrayProgress = number;

/** The progress of an array that cannot be completed. */
export const IMPOSSIBLE = -1;

/** The rules of one array type. */
export class ArrayRules implements CountedItems {
  readonly type: ArrayType;
  /** Most items. */
  readonly most: number;
  readonly work: Work;
  /** Lists of the number of items, then the number that counts for each of `contains`. */
  readonly #lists = new IntegerLists();
  readonly #feasible = new Map<ArrayProgress, boolean>();

  /** @param work counts the steps of finding items that complete an array */
  constructor(type: ArrayType, work = new Work()) {
    this.type = type;
    this.work = work;
    this.most = type.rest === undefined ? Math.min(type.max, type.prefix.length) : type.max;
    this.#lists.intern([0, ...type.contains.map(() => 0)]);
  }

  /** The progress of an array without items. */
  get start(): ArrayProgress {
    return 0;
  }

  /** The types that the next item may have, and the rules for which an item of each counts. */
  partsAt(progress: ArrayProgress): readonly ItemPart[] {
    const count = this.#lists.at(progress, 0);
    if (count >= this.most) return [];
    const type = count < this.type.prefix.length ? this.type.prefix[count] : this.type.rest;
    return type === undefined ? [] : this.#split(type);
  }

  /** The progress after an item; IMPOSSIBLE if the array could not be completed. */
  after(progress: ArrayProgress, part: ItemPart): ArrayProgress {
    const next = this.add(progress, part);
    return next !== IMPOSSIBLE && this.isFeasible(next) ? next : IMPOSSIBLE;
  }

  /** Whether the array may end. */
  isComplete(progress: ArrayProgress): boolean {
    return this.#lists.at(progress, 0) >= this.type.min &&
      this.type.contains.every(({ min }, at) => this.#lists.at(progress, at + 1) >= min);
  }

  /** The number of items, up to the number that matters. */
  count(progress: ArrayProgress): number {
    return this.#lists.at(progress, 0);
  }

  /** Whether the array can be completed. */
  isFeasible(progress: ArrayProgress): boolean {
    if (this.type.contains.length === 0) return this.type.min <= this.most;
    let feasible = this.#feasible.get(progress);
    if (feasible === undefined) {
      feasible = this.remainingItems(progress, () => 1) !== undefined;
      this.#feasible.set(progress, feasible);
    }
    return feasible;
  }

  /** Light items that complete the array; undefined if none are found. */
  remainingItems(
    progress: ArrayProgress,
    weight: (type: TypeId) => number,
  ): readonly ItemRun[] | undefined {
    return remainingItems(this, progress, weight);
  }

  /** The number of items, and the numbers that count for each of `contains`. */
  countsOf(progress: ArrayProgress): readonly number[] {
    return this.#lists.get(progress);
  }

  #split(type: TypeId): readonly ItemPart[] {
    if (this.type.contains.length === 0) return [{ type, counts: [] }];
    const parts = this.type.splits?.get(type);
    if (!parts) throw new MachineError("Cannot count items: their type is not split by contains");
    return parts;
  }

  /** The progress after items of a part; IMPOSSIBLE if more of them would count than may. */
  add(progress: ArrayProgress, { counts }: ItemPart, times = 1): ArrayProgress {
    const list = this.#lists.get(progress);
    const { prefix, min, contains } = this.type;
    const enough = this.most === Infinity ? Math.max(prefix.length, min) : Infinity;
    list[0] = Math.min(list[0]! + times, enough);
    for (let at = 0; at < contains.length; at++) {
      if (!counts[at]) continue;
      const { min: least, max: most } = contains[at]!;
      const counted = list[at + 1]! + times;
      list[at + 1] = most === Infinity ? Math.min(counted, least) : counted;
      if (counted > most) return IMPOSSIBLE;
    }
    return this.#lists.intern(list);
  }
}
