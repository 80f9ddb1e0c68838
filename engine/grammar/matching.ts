// Whether values can be given to places so that all differ: a matching of places and values, grown by
// augmenting paths (Kuhn, "The Hungarian method for the assignment problem", 1955). Items of unique arrays
// ask, when a schema is read and when a mask is made.

import type { Work } from "./language/mod.ts";

/** Steps of work that trying a value takes. */
const TRIAL_STEPS = 0.5;

/** Whether each place can have a value of its own. Errors: OutOfWork, where `work` is that of a mask. */
export function canDiffer(places: readonly Iterable<string>[], work: Work): boolean {
  const owners = new Map<string, number>();
  const give = (place: number, tried: Set<string>): boolean => {
    for (const value of places[place]!) {
      work.charge(TRIAL_STEPS);
      if (tried.has(value)) continue;
      tried.add(value);
      const owner = owners.get(value);
      if (owner !== undefined && !give(owner, tried)) continue;
      owners.set(value, place);
      return true;
    }
    return false;
  };
  return places.every((_, place) => give(place, new Set()));
}
