// Keeps unions of object types short. Alternatives that differ in one
// key alone become one, and so do those that differ only in which keys are there: (a or b
// required) is one object type with a clause, so that products of such unions do not multiply.

import { clauseKey, settle, typeOfKey } from "./objects.ts";
import { type Clause, type ObjectShape, type PropertyShape, type TypeAlgebra } from "./shape.ts";

/** Most clauses that a merged union may need. */
const MAX_CLAUSES = 16;
/** Longest unions that are searched for what can be merged: the search is quadratic. */
const MAX_SEARCHED = 512;

/** The same union with fewer alternatives. */
export function uniteObjects(types: TypeAlgebra, shapes: readonly ObjectShape[]): ObjectShape[] {
  const distinct = new Map<string, ObjectShape>();
  for (const shape of shapes) distinct.set(objectKey(shape), shape);
  if (distinct.size > MAX_SEARCHED) return [...distinct.values()];
  const united: ObjectShape[] = [];
  const waiting = [...distinct.values()].reverse();
  for (let shape = waiting.pop(); shape !== undefined; shape = waiting.pop()) {
    let index = 0;
    let merged: ObjectShape | undefined;
    for (; index < united.length && merged === undefined; index++) {
      merged = merge(types, united[index]!, shape);
    }
    if (merged === undefined) {
      united.push(shape);
    } else if (merged !== united[index - 1]) {
      // A merged alternative may merge again.
      united.splice(index - 1, 1);
      waiting.push(merged);
    }
  }
  return united;
}

/** The union of two object types as one; undefined where that is not exact. */
function merge(types: TypeAlgebra, a: ObjectShape, b: ObjectShape): ObjectShape | undefined {
  const same = a.min === b.min && a.max === b.max && sameCells(a.others, b.others) &&
    sameCells(a.witnesses, b.witnesses);
  if (!same) return undefined;
  const properties = new Map<string, PropertyShape>();
  const different: string[] = [];
  types.spend(1);
  for (const key of new Set([...a.properties.keys(), ...b.properties.keys()])) {
    const [first, second] = [coordinate(types, a, key), coordinate(types, b, key)];
    types.spend(1);
    properties.set(key, first);
    if (first.type !== second.type) different.push(key);
    if (different.length > 1) return undefined;
  }
  if (different.length === 0) return mergePresence(types, a, b, properties);
  const key = different[0]!;
  const [first, second] = [coordinate(types, a, key), coordinate(types, b, key)];
  for (const [other, { required }] of properties) {
    if (other !== key && required !== coordinate(types, b, other).required) return undefined;
  }
  if (!sameClauses(a.clauses, b.clauses)) return undefined;
  properties.set(key, {
    type: types.any([first.type, second.type]),
    required: first.required && second.required,
  });
  return settle(types, { ...a, properties });
}

function coordinate(types: TypeAlgebra, shape: ObjectShape, key: string): PropertyShape {
  return shape.properties.get(key) ?? { type: typeOfKey(types, shape, key), required: false };
}

function sameCells(a: ObjectShape["others"], b: ObjectShape["others"]): boolean {
  return a.length === b.length &&
    a.every(({ keys, type }, i) => keys === b[i]!.keys && type === b[i]!.type);
}

function sameClauses(a: readonly Clause[], b: readonly Clause[]): boolean {
  const names = new Set(a.map(clauseKey));
  return a.length === b.length && b.every((clause) => names.has(clauseKey(clause)));
}

function objectKey(shape: ObjectShape): string {
  const { properties, others, min, max, clauses, witnesses } = shape;
  return JSON.stringify([
    [...properties].map(([key, { type, required }]) => [key, type, required]),
    others.map(({ keys, type }) => [keys, type]),
    min,
    max === Infinity ? -1 : max,
    clauses.map(clauseKey),
    witnesses.map(({ keys, type }) => [keys, type]),
  ]);
}

/** Alternatives that differ only in which keys are there. */
function mergePresence(
  types: TypeAlgebra,
  a: ObjectShape,
  b: ObjectShape,
  properties: Map<string, PropertyShape>,
): ObjectShape | undefined {
  const [first, second] = [presenceClauses(a), presenceClauses(b)];
  const common = [...first].filter(([name]) => second.has(name)).map(([, clause]) => clause);
  const onlyFirst = [...first].filter(([name]) => !second.has(name)).map(([, clause]) => clause);
  const onlySecond = [...second].filter(([name]) => !first.has(name)).map(([, clause]) => clause);
  if (onlyFirst.length * onlySecond.length > MAX_CLAUSES) return undefined;
  const clauses = onlyFirst.flatMap((one) => onlySecond.map((two) => [...one, ...two]));
  const optional = [...properties].map(([key, { type }]) =>
    [key, { type, required: false }] as const
  );
  return settle(types, { ...a, properties: new Map(optional), clauses: [...common, ...clauses] });
}

function presenceClauses(shape: ObjectShape): Map<string, Clause> {
  const clauses: Clause[] = [...shape.clauses];
  for (const [key, { required }] of shape.properties) {
    if (required) clauses.push([{ key, present: true }]);
  }
  return new Map(clauses.map((clause) => [clauseKey(clause), clause]));
}
