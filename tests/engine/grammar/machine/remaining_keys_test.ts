// Keys that complete objects against all subsets of keys, for objects of a few keys and random clauses.

import { assert, assertEquals } from "@std/assert";
import { RemainingKeysSolver } from "../../../../engine/grammar/machine/solvers/mod.ts";
import type { ObjectType } from "../../../../engine/grammar/types.ts";
import { createDraw } from "../language/random.ts";

const KEYS = ["a", "b", "c", "d", "e", "f"];
const WEIGHTS = [3, 1, 4, 1, 5, 9];
const OTHER_WEIGHT = 2;

function randomType(draw: (bound: number) => number): ObjectType {
  const clauses = Array.from(
    { length: draw(6) + 1 },
    () =>
      Array.from({ length: draw(3) + 1 }, () => ({
        // The last of them is no property.
        key: [...KEYS, "none"][draw(KEYS.length + 1)]!,
        present: draw(2) === 0,
      })),
  );
  const min = draw(5);
  return {
    properties: KEYS.map((key) => ({ key, type: 0, required: draw(6) === 0 })),
    others: [],
    min,
    max: draw(3) === 0 ? Infinity : min + draw(4),
    clauses,
  };
}

/** All sets of declared keys and numbers of other keys that make an object of the type. */
function wholeObjects(type: ObjectType, others: number) {
  const found: { keys: number[]; others: number; weight: number }[] = [];
  for (let subset = 0; subset < 1 << KEYS.length; subset++) {
    const keys = KEYS.map((_, at) => at).filter((at) => subset >> at & 1);
    const isThere = (key: string) => keys.includes(KEYS.indexOf(key));
    const fits = type.properties.every(({ key, required }) => !required || isThere(key)) &&
      type.clauses.every((any) => any.some(({ key, present }) => isThere(key) === present));
    for (let more = 0; fits && more <= others; more++) {
      const count = keys.length + more;
      if (count < type.min || count > type.max) continue;
      const weight = keys.reduce((sum, at) => sum + WEIGHTS[at]!, more * OTHER_WEIGHT);
      found.push({ keys, others: more, weight });
    }
  }
  return found;
}

Deno.test("RemainingKeysSolver finds what all subsets of keys show, in order and in any order", () => {
  const draw = createDraw(11);
  for (let round = 0; round < 3000; round++) {
    const type = randomType(draw);
    const others = draw(3);
    const whole = wholeObjects(type, others);
    const solver = new RemainingKeysSolver(type);
    const start = { position: 0, seen: [], count: 0, others };
    assertEquals(solver.isFeasible(start), whole.length > 0);
    const found = solver.lightest(start, {
      weight: (at) => WEIGHTS[at]!,
      otherWeight: OTHER_WEIGHT,
    });
    assertEquals(found !== undefined, whole.length > 0);
    if (found) {
      const keys = found.properties;
      assertEquals(
        whole.find((one) => one.others === found.others && one.keys.join() === keys.join())?.weight,
        found.weight,
      );
    }
    const first = new Set(whole.map(({ keys }) => keys[0]).filter((at) => at !== undefined));
    assertEquals(solver.next(start, true), [...first].sort());
    const any = new Set(whole.flatMap(({ keys }) => keys));
    assertEquals(solver.next(start, false), [...any].sort());
    // After one key, in order.
    const [key] = first;
    if (key === undefined) continue;
    const after = { position: key + 1, seen: [key], count: 1, others };
    assert(solver.isFeasible(after));
    const second = new Set(
      whole.filter(({ keys }) => keys[0] === key && keys.length > 1).map(({ keys }) => keys[1]!),
    );
    assertEquals(solver.next(after, true), [...second].sort());
  }
});
