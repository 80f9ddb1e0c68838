// The keys that can complete an object, and light ones among them: a search over the keys in
// clauses, and counting for the others. Satisfying clauses may take exponential time, so searches
// are limited.

import { Work } from "../../language/mod.ts";
import type { ArrayType, ItemPart, ObjectType, TypeId } from "../../types.ts";
import { MachineError } from "../errors.ts";
import { Clauses, type SearchEnd, type SearchGoal } from "./clauses.ts";

/** Most clauses that are examined for one object. */
const MAX_STEPS = 2_000_000;

/**
 * Most clauses that are examined for any keys that complete an object, if light ones are wanted.
 */
const MAX_STEPS_TO_FIND = 100_000;

/** Most clauses, times keys, that are examined for lighter keys than the first solution. */
const MAX_STEPS_TO_IMPROVE = 200_000;

/** Most clauses that are examined for all keys that may come next. */
const MAX_STEPS_AT_ONCE = 4_000_000;

/** The keys of an object so far. */
export interface KeysSoFar {
  /** Declared keys before this one may not come any more. */
  readonly position: number;
  /** Declared keys that the object has, as far as clauses or the order depend on them. */
  readonly seen: readonly number[];
  /** Number of keys that the object has. */
  readonly count: number;
  /** Number of other keys that may still come. */
  readonly others: number;
}

export interface KeyWeights {
  readonly weight: (property: number) => number;
  readonly otherWeight: number;
}

/** Keys that complete an object. */
export interface RemainingKeys {
  /** Declared properties, in order. */
  readonly properties: readonly number[];
  readonly others: number;
  readonly weight: number;
}

/** Counts of keys on the way to an object's end. */
interface Counts {
  /** Keys that the object has or requires, except for those that only clauses require. */
  certain: number;
  /** Keys that may come and are in no clause, declared or not. */
  fillers: number;
  /** Number of true variables among the keys that are certain. */
  readonly knownTrues: number;
}

/** Finds the keys that complete objects of a type. */
export class RemainingKeysSolver {
  readonly #type: ObjectType;
  readonly #clauses: Clauses;
  /** By property: its variable; -1 if it is in no clause. */
  readonly #variables: readonly number[];
  /** Whether the clauses can be satisfied at all. */
  readonly #isPossible: boolean;

  constructor(type: ObjectType, work = new Work()) {
    this.#type = type;
    const keys = new Map<string, number>();
    const clauses = type.clauses.map((clause) =>
      clause.map(({ key, present }) => {
        if (!keys.has(key)) keys.set(key, keys.size);
        return { variable: keys.get(key)!, isTrue: present };
      })
    );
    this.#clauses = new Clauses(keys.size, clauses, work);
    this.#variables = type.properties.map(({ key }) => keys.get(key) ?? -1);
    const declared = new Set(this.#variables);
    this.#isPossible = clauses.every((clause) => clause.length > 0) &&
      [...keys.values()].every((variable) =>
        declared.has(variable) || this.#clauses.assume({ variable, isTrue: false })
      );
  }

  /** Whether any keys complete an object. @throws MachineError if finding out takes too long */
  isFeasible(soFar: KeysSoFar): boolean {
    const end = this.#within(soFar, (counts) => this.#search(counts, MAX_STEPS));
    if (end === "given up") {
      throw new MachineError("Cannot tell which keys may go together: it takes too long");
    }
    return end === "found";
  }

  /** The declared keys that may come next, without those for which finding out takes too long. */
  next(soFar: KeysSoFar, ordered: boolean): number[] {
    return this.#within(soFar, (counts) => this.#next(soFar, counts, ordered)) ?? [];
  }

  /** Light keys that complete an object; undefined if none are found. */
  lightest(soFar: KeysSoFar, weights: KeyWeights): RemainingKeys | undefined {
    return this.#within(soFar, (counts) => this.#lightest(soFar, counts, weights));
  }

  /**
   * Assumes what holds after some keys during a question about it; undefined if that is a contradiction.
   */
  #within<T>(soFar: KeysSoFar, ask: (counts: Counts) => T): T | undefined {
    if (!this.#isPossible) return undefined;
    const clauses = this.#clauses;
    const mark = clauses.mark;
    try {
      return this.#askAt(soFar, ask);
    } finally {
      clauses.undo(mark);
    }
  }

  #askAt<T>(soFar: KeysSoFar, ask: (counts: Counts) => T): T | undefined {
    const clauses = this.#clauses;
    const seen = new Set(soFar.seen);
    let fillers = soFar.others;
    let certain = soFar.count;
    let knownTrues = 0;
    const isConsistent = this.#type.properties.every(({ required }, at) => {
      const variable = this.#variables[at]!;
      const isSeen = seen.has(at);
      const isGone = at < soFar.position && !isSeen;
      if (!isSeen && !isGone) {
        if (required) certain++;
        else if (variable < 0) fillers++;
      }
      if (variable < 0 || (!isSeen && !isGone && !required)) return true;
      knownTrues += Number(!isGone);
      return clauses.assume({ variable, isTrue: !isGone });
    });
    return isConsistent ? ask({ certain, fillers, knownTrues }) : undefined;
  }

  #next({ position, seen }: KeysSoFar, counts: Counts, ordered: boolean): number[] {
    const clauses = this.#clauses;
    const known = new Set(seen);
    const next: number[] = [];
    const limit = clauses.steps + MAX_STEPS_AT_ONCE;
    for (let at = position; at < this.#variables.length && clauses.steps < limit; at++) {
      if (known.has(at)) continue;
      const variable = this.#variables[at]!;
      const { required } = this.#type.properties[at]!;
      const mark = clauses.mark;
      const isFiller = variable < 0 && !required;
      if (isFiller) counts.fillers--;
      const after = isFiller ? { ...counts, certain: counts.certain + 1 } : counts;
      if (variable < 0 || clauses.assume({ variable, isTrue: true })) {
        if (this.#search(after, MAX_STEPS) === "found") next.push(at);
      }
      clauses.undo(mark);
      if (!ordered) counts.fillers += Number(isFiller);
      else if (required || (variable >= 0 && !clauses.assume({ variable, isTrue: false }))) break;
    }
    return next;
  }

  #search(counts: Counts, maxSteps: number): SearchEnd {
    return this.#clauses.search({ ...this.#bounds(counts), found: () => true }, maxSteps);
  }

  /** The condition that the number of keys imposes on a search. */
  #bounds({ certain, fillers, knownTrues }: Counts): Omit<SearchGoal, "found"> {
    const clauses = this.#clauses;
    const { min, max } = this.#type;
    const count = () => certain + clauses.trues - knownTrues;
    return {
      isPromising: () => count() <= max && count() + clauses.open + fillers >= min,
      needsMore: () => count() + fillers < min,
    };
  }

  #lightest(soFar: KeysSoFar, counts: Counts, weights: KeyWeights): RemainingKeys | undefined {
    const clauses = this.#clauses;
    const { properties } = this.#type;
    const seen = new Set(soFar.seen);
    const left = properties.map((_, at) => at).filter((at) =>
      at >= soFar.position && !seen.has(at)
    );
    const fillers = left
      .filter((at) => this.#variables[at]! < 0 && !properties[at]!.required)
      .sort((a, b) => weights.weight(a) - weights.weight(b));
    const chosen = () =>
      left.filter((at) =>
        properties[at]!.required ||
        (this.#variables[at]! >= 0 && clauses.isTrue(this.#variables[at]!))
      );
    const weigh = (keys: readonly number[]) =>
      keys.reduce((sum, at) => sum + weights.weight(at), 0);
    let best: RemainingKeys | undefined;
    const bounds = this.#bounds(counts);
    const goal: SearchGoal = {
      ...bounds,
      isPromising: () => bounds.isPromising() && (!best || weigh(chosen()) < best.weight),
      found: () => {
        const keys = this.#fill(chosen(), soFar, fillers, weights);
        const isFirst = best === undefined;
        if (keys && (!best || keys.weight < best.weight)) best = keys;
        return isFirst && best !== undefined;
      },
    };
    if (clauses.search(goal, MAX_STEPS_TO_FIND) === "found" && left.length > 0) {
      clauses.search(goal, MAX_STEPS_TO_IMPROVE / left.length);
    }
    return best;
  }

  /** The lightest of all keys that include some declared ones, up to the least number of keys. */
  #fill(
    keys: readonly number[],
    { count, others: available }: KeysSoFar,
    fillers: readonly number[],
    { weight, otherWeight }: KeyWeights,
  ): RemainingKeys | undefined {
    const missing = Math.max(0, this.#type.min - count - keys.length);
    if (count + keys.length + missing > this.#type.max) return undefined;
    const light = fillers.findIndex((at) => weight(at) > otherWeight);
    const preferred = Math.min(missing, light < 0 ? fillers.length : light);
    const others = Math.min(available, missing - preferred);
    if (missing - others > fillers.length) return undefined;
    const properties = [...keys, ...fillers.slice(0, missing - others)];
    const ofOthers = others === 0 ? 0 : others * otherWeight;
    return {
      properties: properties.sort((a, b) => a - b),
      others,
      weight: properties.reduce((sum, at) => sum + weight(at), ofOthers),
    };
  }
}

// The items that complete an array whose items are counted by types of `contains`. The search is
// greedy, so it may miss a solution, but never reports a wrong one.

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
