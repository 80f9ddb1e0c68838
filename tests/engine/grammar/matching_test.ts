// Whether values can be given to places so that all differ, against a trial of all ways to give them.

import { assertEquals } from "@std/assert";
import { canDiffer } from "../../../engine/grammar/matching.ts";
import { Work } from "../../../engine/grammar/language/work.ts";

function differs(places: readonly (readonly string[])[], taken: readonly string[] = []): boolean {
  const [first, ...others] = places;
  if (!first) return true;
  return first.some((value) => !taken.includes(value) && differs(others, [...taken, value]));
}

Deno.test("canDiffer() agrees with a trial of all values", () => {
  let state = 1;
  const below = (limit: number) => {
    state = Math.imul(state, 1_664_525) + 1_013_904_223 | 0;
    return (state >>> 8) % limit;
  };
  const found = new Set<boolean>();
  for (let trial = 0; trial < 500; trial++) {
    const places = Array.from(
      { length: below(6) },
      () => Array.from({ length: below(4) }, () => "abcde"[below(5)]!),
    );
    const answer = canDiffer(places, new Work());
    assertEquals(answer, differs(places), JSON.stringify(places));
    found.add(answer);
  }
  assertEquals(found.size, 2);
});

Deno.test("canDiffer() counts each value that it tries as work", () => {
  const work = new Work();
  canDiffer(Array.from({ length: 40 }, () => Array.from({ length: 40 }, (_, at) => `${at}`)), work);
  assertEquals(work.done >= 400, true);
});
