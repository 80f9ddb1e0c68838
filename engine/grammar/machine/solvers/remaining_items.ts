// Which items complete an array whose items are counted by types of `contains`: greedily, so that an
// array may be taken for one that nothing completes, but never the other way round.

import type { Work } from "../../language/mod.ts";
import type { ArrayType, ItemPart, TypeId } from "../../types.ts";

/** Steps of work that a look at what may come next takes. */
const LOOK_STEPS = 3;

/** Items of one type in a row. */
export interface ItemRun {
  readonly type: TypeId;
  readonly times: number;
}

/** An array's items as they are counted: a ledger is what matters of those so far, by number. */
export interface CountedItems {
  readonly type: ArrayType;
  /** Most items. */
  readonly most: number;
  /** Limits how much masks search. */
  readonly work: Work;
  /** How many items there are, and how many count for each of `contains`. */
  countsOf(ledger: number): readonly number[];
  /** Whether the array may end. */
  isComplete(ledger: number): boolean;
  /** What the next item may be. */
  partsAt(ledger: number): readonly ItemPart[];
  /** The ledger after items of a part; negative where more of them count than may. */
  add(ledger: number, part: ItemPart, times?: number): number;
}

/**
 * Items that complete an array, of little weight: at each place the part that most of what is missing is
 * counted by, then the lightest. Undefined where that does not complete it.
 */
export function remainingItems(
  items: CountedItems,
  start: number,
  weight: (type: TypeId) => number,
): readonly ItemRun[] | undefined {
  const runs: ItemRun[] = [];
  for (let ledger = start; !items.isComplete(ledger);) {
    items.work.charge(LOOK_STEPS);
    let best: { part: ItemPart; gain: number } | undefined;
    for (const part of items.partsAt(ledger)) {
      if (items.add(ledger, part) < 0) continue;
      const gain = gainOf(items, ledger, part);
      const isBetter = !best || gain > best.gain ||
        (gain === best.gain && weight(part.type) < weight(best.part.type));
      if (isBetter) best = { part, gain };
    }
    if (!best) return undefined;
    const times = timesOf(items, ledger, best.part, best.gain > 0);
    if (times <= 0) return undefined;
    runs.push({ type: best.part.type, times });
    ledger = items.add(ledger, best.part, times);
  }
  return runs;
}

/** Number of counters that an item brings closer to their minimum. */
function gainOf(items: CountedItems, ledger: number, { counts }: ItemPart): number {
  const [, ...counted] = items.countsOf(ledger);
  return items.type.contains.filter(({ min }, at) => counts[at] && counted[at]! < min).length;
}

/** How often an item that is the best one stays the best one. */
function timesOf(
  items: CountedItems,
  ledger: number,
  { counts }: ItemPart,
  isGain: boolean,
): number {
  const [count, ...counted] = items.countsOf(ledger) as [number, ...number[]];
  const { prefix, min, contains } = items.type;
  if (count < prefix.length) return 1;
  let times = isGain ? items.most - count : min - count;
  contains.forEach(({ min: least, max }, at) => {
    if (!counts[at]) return;
    if (counted[at]! < least) times = Math.min(times, least - counted[at]!);
    times = Math.min(times, max - counted[at]!);
  });
  return times;
}
