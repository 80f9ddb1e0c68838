// The items that complete an array whose items are counted by types of `contains`. The search is
// greedy, so it may miss a solution, but never reports a wrong one.

import type { Work } from "../../language/mod.ts";
import type { ArrayType, ItemPart, TypeId } from "../../types.ts";

/** Steps of work for examining what may come next. */
const LOOK_STEPS = 3;

/** Consecutive items of one type. */
export interface ItemRun {
  readonly type: TypeId;
  readonly times: number;
}

/** The counts of an array's items: a progress is a number that stands for the items so far. */
export interface CountedItems {
  readonly type: ArrayType;
  /** Most items. */
  readonly most: number;
  /** Limits how much masks search. */
  readonly work: Work;
  /** The number of items, and the numbers that count for each of `contains`. */
  countsOf(progress: number): readonly number[];
  /** Whether the array may end. */
  isComplete(progress: number): boolean;
  /** The types that the next item may have. */
  partsAt(progress: number): readonly ItemPart[];
  /** The progress after items of a part; negative if more of them would count than may. */
  add(progress: number, part: ItemPart, times?: number): number;
}

/**
 * Light items that complete an array: at each position an item of the part that counts for most of
 * what is missing, and among these the lightest. Undefined if that does not complete the array.
 */
export function remainingItems(
  items: CountedItems,
  start: number,
  weight: (type: TypeId) => number,
): readonly ItemRun[] | undefined {
  const runs: ItemRun[] = [];
  for (let progress = start; !items.isComplete(progress);) {
    items.work.charge(LOOK_STEPS);
    let best: { part: ItemPart; gain: number } | undefined;
    for (const part of items.partsAt(progress)) {
      if (items.add(progress, part) < 0) continue;
      const gain = gainOf(items, progress, part);
      const isBetter = !best || gain > best.gain ||
        (gain === best.gain && weight(part.type) < weight(best.part.type));
      if (isBetter) best = { part, gain };
    }
    if (!best) return undefined;
    const times = timesOf(items, progress, best.part, best.gain > 0);
    if (times <= 0) return undefined;
    runs.push({ type: best.part.type, times });
    progress = items.add(progress, best.part, times);
  }
  return runs;
}

/** Number of counters that an item brings closer to their minimum. */
function gainOf(items: CountedItems, progress: number, { counts }: ItemPart): number {
  const [, ...counted] = items.countsOf(progress);
  return items.type.contains.filter(({ min }, at) => counts[at] && counted[at]! < min).length;
}

/** The number of times for which the best item remains the best one. */
function timesOf(
  items: CountedItems,
  progress: number,
  { counts }: ItemPart,
  isGain: boolean,
): number {
  const [count, ...counted] = items.countsOf(progress) as [number, ...number[]];
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
