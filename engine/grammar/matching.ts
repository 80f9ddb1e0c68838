// Whether positions can get values that all differ: a matching of positions and values, extended by
// augmenting paths (Kuhn, "The Hungarian method for the assignment problem", 1955). It is needed
// for items of unique arrays, when a schema is read and when a mask is made.

import type { Work } from "./language/mod.ts";

/** Steps of work for trying a value. */
const TRIAL_STEPS = 0.5;

/**
 * Whether each position can have a value of its own. Errors: OutOfWork if a mask's budget is spent.
 */
export function canDiffer(positions: readonly Iterable<string>[], work: Work): boolean {
  const owners = new Map<string, number>();
  const give = (position: number, tried: Set<string>): boolean => {
    for (const value of positions[position]!) {
      work.charge(TRIAL_STEPS);
      if (tried.has(value)) continue;
      tried.add(value);
      const owner = owners.get(value);
      if (owner !== undefined && !give(owner, tried)) continue;
      owners.set(value, position);
      return true;
    }
    return false;
  };
  return positions.every((_, position) => give(position, new Set()));
}
