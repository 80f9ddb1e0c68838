// Classes of characters that an expression cannot tell apart: one derivative serves a whole class.

import type { CharacterSet } from "./character_set.ts";
import { type Expression, Flag, Kind } from "./expression_store.ts";
import type { Expressions } from "./expressions.ts";

/** The sets that affect the derivatives of `expression`. */
export function firstSets(expressions: Expressions, expression: Expression): CharacterSet[] {
  const { store } = expressions;
  const { kinds, first, second } = store;
  const sets = new Set<CharacterSet>();
  const seen = new Set<Expression>();
  const pending: Expression[] = [expression];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const kind = kinds[next]!;
    if (kind === Kind.Set) sets.add(expressions.sets[first[next]!]!);
    if (kind < Kind.Concat) continue;
    pending.push(first[next]!);
    if (kind === Kind.Or || kind === Kind.And) pending.push(second[next]!);
    // A later part matters if it can come first, or contains a Behind that is carried along.
    if (kind === Kind.Concat) {
      const reached = store.has(first[next]!, Flag.Skippable);
      if (reached || store.has(second[next]!, Flag.Behind)) pending.push(second[next]!);
    }
  }
  return [...sets];
}

/** A division of the numbers from 0 on into segments, each with the number of its block. */
export interface Partition {
  /** The first code point of each segment; the first is 0. */
  readonly starts: readonly number[];
  /** The block of each segment: segments of one block are in the same sets. */
  readonly blocks: readonly number[];
  /** Number of blocks. */
  readonly count: number;
}

/** The coarsest partition in which each set is a union of blocks. */
export function partition(sets: readonly CharacterSet[]): Partition {
  const cuts = new Set([0]);
  for (const set of sets) {
    for (let i = 0; i < set.length; i += 2) cuts.add(set[i]!).add(set[i + 1]! + 1);
  }
  const starts = [...cuts].sort((a, b) => a - b);
  let blocks = new Array<number>(starts.length).fill(0);
  let count = 1;
  for (const set of sets) {
    const renamed = new Map<number, number>();
    let interval = 0;
    blocks = blocks.map((block, i) => {
      while (interval < set.length && set[interval + 1]! < starts[i]!) interval += 2;
      const inside = interval < set.length && set[interval]! <= starts[i]!;
      const key = 2 * block + (inside ? 1 : 0);
      const name = renamed.get(key) ?? renamed.size;
      renamed.set(key, name);
      return name;
    });
    count = renamed.size;
  }
  return { starts, blocks, count };
}
