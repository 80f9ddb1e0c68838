// The algebra of whole types: intersection, union and difference, JSON type by JSON type.

import * as numbers from "../number/mod.ts";
import { intersectArrays, subtractArray } from "./arrays.ts";
import { intersectObjects, subtractObject } from "./objects.ts";
import { mentionedByAny } from "./mentioned.ts";
import { uniteObjects } from "./unions.ts";
import { AlgebraError } from "./schema_error.ts";
import {
  type ArrayShape,
  MAX_ALTERNATIVES,
  type ObjectShape,
  type Shape,
  type TypeAlgebra,
} from "./shape.ts";
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
