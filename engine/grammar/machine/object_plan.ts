// Which keys complete an object at the least weight, by branch and bound over the keys that clauses
// speak of; the rest is counting. The clauses are a satisfiability problem, hence the cap.

import type { ObjectType } from "../types.ts";

/** Branches that are tried before the answer is that no keys complete the object. */
const MAX_BRANCHES = 20_000;

/** Where an object is, and what keys weigh. */
export interface ObjectPlanInput {
  /** Declared keys before it do not come any more. */
  readonly position: number;
  /** Declared keys that are there, as far as clauses or their order ask. */
  readonly seen: readonly number[];
  /** Number of keys that are there. */
  readonly count: number;
  /** Number of other keys that can still come. */
  readonly others: number;
  readonly weight: (property: number) => number;
  readonly otherWeight: number;
}

/** Keys that complete an object. */
export interface ObjectPlan {
  /** Declared properties, in order. */
  readonly properties: readonly number[];
  /** Number of other keys. */
  readonly others: number;
  readonly weight: number;
}

/** The keys that complete an object at the least weight; undefined where none do. */
export function planObject(type: ObjectType, input: ObjectPlanInput): ObjectPlan | undefined {
  const seen = new Set(input.seen);
  const indices = type.properties
    .map((_, at) => at)
    .filter((at) => at >= input.position && !seen.has(at));
  const named = new Map<string, number>();
  if (type.clauses.length > 0) {
    const inClauses = new Set(type.clauses.flat().map(({ key }) => key));
    for (const at of indices) {
      const { key, required } = type.properties[at]!;
      if (inClauses.has(key) && !required) named.set(key, at);
    }
  }
  const free = new Set(named.values());
  const required = indices.filter((at) => type.properties[at]!.required);
  const fillers = indices
    .filter((at) => !type.properties[at]!.required && !free.has(at))
    .sort((a, b) => input.weight(a) - input.weight(b));

  /** What is decided of each key that clauses speak of; missing: undecided. */
  const decided = new Map<string, boolean>();
  for (const { key } of type.clauses.flat()) if (!named.has(key)) decided.set(key, false);
  for (const at of [...input.seen, ...required]) decided.set(type.properties[at]!.key, true);

  let best: ObjectPlan | undefined;
  let branches = 0;
  const keysOf = () => [...named].filter(([key]) => decided.get(key)).map(([, at]) => at);

  /** Decides one key after the other; recursion is as deep as clauses have keys. */
  function branch(): void {
    if (++branches > MAX_BRANCHES) return;
    const open = type.clauses.find((any) =>
      !any.some(({ key, present }) => decided.get(key) === present)
    );
    if (open) return tryEach(open.filter(({ key }) => !decided.has(key)));
    const chosen = [...required, ...keysOf()];
    const missing = type.min - input.count - chosen.length;
    if (missing > fillers.length + input.others) {
      const next = [...named.keys()].find((key) => !decided.has(key));
      if (next !== undefined) {
        tryEach([{ key: next, present: true }, { key: next, present: false }]);
      }
      return;
    }
    if (input.count + chosen.length + Math.max(missing, 0) > type.max) return;
    consider(chosen, missing);
  }

  function tryEach(literals: readonly { key: string; present: boolean }[]): void {
    for (const { key, present } of literals) {
      decided.set(key, present);
      branch();
      decided.delete(key);
    }
  }

  function consider(chosen: number[], missing: number): void {
    let others = 0;
    for (let filler = 0, left = missing; left > 0; left--) {
      const at = fillers[filler];
      const mustUse = others === input.others;
      if (at !== undefined && (mustUse || input.weight(at) <= input.otherWeight)) {
        chosen.push(at);
        filler++;
      } else others++;
    }
    const otherWeight = others === 0 ? 0 : others * input.otherWeight;
    const weight = chosen.reduce((sum, at) => sum + input.weight(at), otherWeight);
    if (best && best.weight <= weight) return;
    best = { properties: chosen.sort((a, b) => a - b), others, weight };
  }

  branch();
  return best;
}
