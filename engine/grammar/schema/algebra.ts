// The algebra of whole types: intersection, union and difference, JSON type by JSON type.

import * as numbers from "../number/mod.ts";
import { intersectArrays, subtractArray } from "./arrays.ts";
import {
  type ArrayShape,
  type Clause,
  MAX_ALTERNATIVES,
  mentionedByAny,
  NONE,
  type ObjectShape,
  type PropertyShape,
  type Shape,
  type TypeAlgebra,
} from "./shape.ts";
import { clauseKey, intersectObjects, propertyOf, settle, subtractObject } from "./objects.ts";
import { AlgebraError } from "./schema_error.ts";
import { intersectStrings, subtractStrings, uniteStrings } from "./strings.ts";

/** Most alternatives that the schema itself may list: a union costs only their sum. */
const MAX_LISTED = 4096;

/** The values that are in both. @throws {AlgebraError} over a cap */
export function intersectShapes(types: TypeAlgebra, a: Shape, b: Shape): Shape {
  return {
    null: a.null && b.null,
    booleans: a.booleans.filter((value) => b.booleans.includes(value)),
    numbers: someNumbers(
      a.numbers && b.numbers && numbers.intersect(a.numbers, b.numbers),
    ),
    strings: intersectStrings(types.languages, a.strings, b.strings),
    arrays: distinctArrays(product(a.arrays, b.arrays, (x, y) => intersectArrays(types, x, y))),
    objects: uniteObjects(
      types,
      product(a.objects, b.objects, (x, y) => intersectObjects(types, x, y)),
    ),
    mentioned: a.mentioned | b.mentioned,
  };
}

/** The values that are in at least one. @throws {AlgebraError} over a cap */
export function uniteShapes(types: TypeAlgebra, shapes: readonly Shape[]): Shape {
  const arrays = distinctArrays(shapes.flatMap((shape) => shape.arrays));
  const objects = uniteObjects(types, shapes.flatMap((shape) => shape.objects));
  if (Math.max(arrays.length, objects.length) > MAX_LISTED) throw tooMany(MAX_LISTED);
  const booleans = new Set(shapes.flatMap((shape) => shape.booleans));
  const sets = shapes.flatMap((shape) => shape.numbers ?? []);
  return {
    null: shapes.some((shape) => shape.null),
    booleans: [false, true].filter((value) => booleans.has(value)),
    numbers: halve(sets, numbers.union),
    strings: halve(
      shapes.flatMap((shape) => shape.strings ?? []),
      (a, b) => uniteStrings(types.languages, a, b)!,
    ),
    arrays,
    objects,
    mentioned: mentionedByAny(shapes),
  };
}

/** The values of `a` that are not in `b`. @throws {AlgebraError} over a cap */
export function subtractShapes(types: TypeAlgebra, a: Shape, b: Shape): Shape {
  return {
    null: a.null && !b.null,
    booleans: a.booleans.filter((value) => !b.booleans.includes(value)),
    numbers: someNumbers(
      a.numbers && b.numbers
        ? numbers.intersect(a.numbers, numbers.complement(b.numbers))
        : a.numbers,
    ),
    strings: subtractStrings(types.languages, a.strings, b.strings),
    arrays: b.arrays.reduce(
      (left, array) => withoutArray(types, left, array),
      a.arrays,
    ),
    objects: b.objects.reduce(
      (left, object) => withoutObject(types, left, object),
      a.objects,
    ),
    mentioned: a.mentioned,
  };
}

/** The arrays of alternatives that are not in another. */
export function withoutArray(
  types: TypeAlgebra,
  shapes: readonly ArrayShape[],
  array: ArrayShape,
): readonly ArrayShape[] {
  return capped(distinctArrays(
    shapes.flatMap((shape) =>
      intersectArrays(types, shape, array) ? subtractArray(types, shape, array) : [shape]
    ),
  ));
}

/** The objects of alternatives that are not in another. */
export function withoutObject(
  types: TypeAlgebra,
  shapes: readonly ObjectShape[],
  object: ObjectShape,
): readonly ObjectShape[] {
  return capped(uniteObjects(
    types,
    shapes.flatMap((shape) =>
      intersectObjects(types, shape, object) ? subtractObject(types, shape, object) : [shape]
    ),
  ));
}

function someNumbers(set: numbers.NumberSet | undefined): numbers.NumberSet | undefined {
  return set === undefined || numbers.isEmptyNumbers(set) ? undefined : set;
}

/** Combines neighbours in pairs, so that operands stay short as long as possible. */
export function halve<T>(items: readonly T[], join: (a: T, b: T) => T): T | undefined {
  while (items.length > 1) {
    items = Array.from(
      { length: Math.ceil(items.length / 2) },
      (_, i) => 2 * i + 1 < items.length ? join(items[2 * i]!, items[2 * i + 1]!) : items[2 * i]!,
    );
  }
  return items[0];
}

function product<T>(
  a: readonly T[],
  b: readonly T[],
  intersect: (a: T, b: T) => T | undefined,
): T[] {
  const found: T[] = [];
  for (const first of a) {
    for (const second of b) {
      const both = intersect(first, second);
      if (both !== undefined) found.push(both);
    }
    if (a.length > 1 && b.length > 1) capped(found);
  }
  return found;
}

function capped<T>(alternatives: T[]): T[] {
  if (alternatives.length > MAX_ALTERNATIVES) throw tooMany(MAX_ALTERNATIVES);
  return alternatives;
}

function tooMany(limit: number): AlgebraError {
  return new AlgebraError(`it has more than ${limit} alternatives once its parts are combined`);
}

function distinctArrays(arrays: readonly ArrayShape[]): ArrayShape[] {
  return [...new Map(arrays.map((shape) => [JSON.stringify(shape) + shape.max, shape])).values()];
}

// Keeps unions of object types short. Alternatives that differ in one key alone become one, and so
// do those that differ only in which keys are present: "a or b is required" is one object type with
// a clause, so that products of such unions do not grow.

/** Most clauses that a merged union may need. */
const MAX_CLAUSES = 16;
/** Longest unions in which alternatives are merged, because the search is quadratic. */
const MAX_SEARCHED = 512;

/** A union with fewer alternatives that allow what all of them allow. */
function uniteObjects(types: TypeAlgebra, shapes: readonly ObjectShape[]): ObjectShape[] {
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
      // A merged alternative may be merged again.
      united.splice(index - 1, 1);
      waiting.push(merged);
    }
  }
  return united;
}

/** The union of two object types as one; undefined if that is not exact. */
function merge(types: TypeAlgebra, a: ObjectShape, b: ObjectShape): ObjectShape | undefined {
  const same = a.min === b.min && a.max === b.max && sameCells(a.others, b.others) &&
    sameCells(a.wantedKeys, b.wantedKeys);
  if (!same) return undefined;
  const properties = new Map<string, PropertyShape>();
  const different: string[] = [];
  types.spend(1);
  for (const key of new Set([...a.properties.keys(), ...b.properties.keys()])) {
    const [first, second] = [propertyOf(types, a, key), propertyOf(types, b, key)];
    types.spend(1);
    properties.set(key, second.isDeclared ? { ...first, isDeclared: true } : first);
    if (first.type !== second.type) different.push(key);
    if (different.length > 1) return undefined;
  }
  if (different.length === 0) return mergePresence(types, a, b, properties);
  const key = different[0]!;
  const [first, second] = [propertyOf(types, a, key), propertyOf(types, b, key)];
  for (const [other, { required }] of properties) {
    if (other !== key && required !== propertyOf(types, b, other).required) return undefined;
  }
  if (!sameClauses(a.clauses, b.clauses)) return undefined;
  // If only one declares the key and the other is closed, they stay apart.
  const isKept = (a.isClosed || b.isClosed) && first.isDeclared !== second.isDeclared &&
    (first.isDeclared ? second : first).type !== NONE;
  if (isKept) return undefined;
  properties.set(key, {
    ...properties.get(key)!,
    type: types.any([first.type, second.type]),
    required: first.required && second.required,
  });
  return settle(types, { ...both(a, b), properties });
}

/** What two alternatives become apart from their keys: closed only if both are. */
function both(a: ObjectShape, b: ObjectShape): ObjectShape {
  return b.isClosed ? a : { ...a, isClosed: false };
}

function sameCells(a: ObjectShape["others"], b: ObjectShape["others"]): boolean {
  return a.length === b.length &&
    a.every((cell, i) =>
      cell.keys === b[i]!.keys && cell.type === b[i]!.type && cell.isDeclared === b[i]!.isDeclared
    );
}

function sameClauses(a: readonly Clause[], b: readonly Clause[]): boolean {
  const names = new Set(a.map(clauseKey));
  return a.length === b.length && b.every((clause) => names.has(clauseKey(clause)));
}

function objectKey(shape: ObjectShape): string {
  const { properties, others, min, max, clauses, wantedKeys, isClosed = false } = shape;
  return JSON.stringify([
    isClosed,
    [...properties].map(([key, { type, required, isDeclared }]) =>
      isDeclared ? [key, type, required, 1] : [key, type, required]
    ),
    others.map(({ keys, type, isDeclared }) => isDeclared ? [keys, type, 1] : [keys, type]),
    min,
    max === Infinity ? -1 : max,
    clauses.map(clauseKey),
    wantedKeys.map(({ keys, type }) => [keys, type]),
  ]);
}

/** The union of alternatives that differ only in which keys are present. */
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
  const optional = [...properties].map(([key, property]) =>
    [key, { ...property, required: false }] as const
  );
  return settle(types, {
    ...both(a, b),
    properties: new Map(optional),
    clauses: [...common, ...clauses],
  });
}

function presenceClauses(shape: ObjectShape): Map<string, Clause> {
  const clauses: Clause[] = [...shape.clauses];
  for (const [key, { required }] of shape.properties) {
    if (required) clauses.push([{ key, present: true }]);
  }
  return new Map(clauses.map((clause) => [clauseKey(clause), clause]));
}
