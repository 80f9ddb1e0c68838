// Whether places of an array can have values that all differ, of few values each: a matching of places
// and values (Kuhn, "The Hungarian method for the assignment problem", 1955).

import type { Work } from "../../language/mod.ts";

/** Steps of work that trying a value takes. */
const TRIAL_STEPS = 0.5;

/** Whether each place can have a value of its own. */
export function canDiffer(places: readonly (readonly string[])[], work: Work): boolean {
  const owner = new Map<string, number>();
  const give = (place: number, tried: Set<string>): boolean =>
    places[place]!.some((value) => {
      work.charge(TRIAL_STEPS);
      if (tried.has(value)) return false;
      tried.add(value);
      const other = owner.get(value);
      if (other !== undefined && !give(other, tried)) return false;
      owner.set(value, place);
      return true;
    });
  return places.every((_, place) => give(place, new Set()));
}
