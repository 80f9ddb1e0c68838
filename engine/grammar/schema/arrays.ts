// The algebra of arrays: intersection, and difference as a union of the ways to violate an array type.

import {
  ANY,
  ANY_ARRAY,
  type ArrayShape,
  type Contained,
  MAX_ALTERNATIVES,
  NONE,
  type TypeAlgebra,
} from "./shape.ts";
import { AlgebraError } from "./schema_error.ts";

/** The arrays that are in both; undefined if there are surely none. */
export function intersectArrays(
  types: TypeAlgebra,
  a: ArrayShape,
  b: ArrayShape,
): ArrayShape | undefined {
  const length = Math.max(a.prefix.length, b.prefix.length);
  const prefix = Array.from({ length }, (_, i) => types.all([itemAt(a, i), itemAt(b, i)]));
  return settleArray(types, {
    prefix,
    rest: types.all([a.rest, b.rest]),
    min: Math.max(a.min, b.min),
    max: Math.min(a.max, b.max),
    unique: a.unique || b.unique,
    contains: [...a.contains, ...b.contains],
  });
}

/** The arrays of `a` that are not in `b`, as alternatives. */
export function subtractArray(types: TypeAlgebra, a: ArrayShape, b: ArrayShape): ArrayShape[] {
  const settled = settleArray(types, b);
  if (settled === undefined) return [a];
  return violations(types, a, settled)
    .map((violation) => intersectArrays(types, a, violation))
    .filter((shape) => shape !== undefined);
}

/** The type of the item at an index. */
export function itemAt(shape: ArrayShape, index: number): number {
  return shape.prefix[index] ?? shape.rest;
}

/** Brings an array type to its simplest form; undefined if there are surely no such arrays. */
export function settleArray(types: TypeAlgebra, shape: ArrayShape): ArrayShape | undefined {
  let { min, max, rest } = shape;
  const contains = new Map<number, Contained>();
  for (const entry of shape.contains) {
    if (entry.item === ANY) {
      min = Math.max(min, entry.min);
      max = Math.min(max, entry.max);
    } else if (entry.item === NONE) {
      if (entry.min > 0) return undefined;
    } else if (entry.min > 0 || entry.max < Infinity) {
      const known = contains.get(entry.item);
      contains.set(entry.item, {
        item: entry.item,
        min: Math.max(entry.min, known?.min ?? 0),
        max: Math.min(entry.max, known?.max ?? Infinity),
      });
    }
  }
  const first = shape.prefix.findIndex((item, i) =>
    i < min ? types.isKnownEmpty(item) : item === NONE
  );
  if (first >= 0) max = Math.min(max, first);
  if (rest === NONE) max = Math.min(max, shape.prefix.length);
  if (min > shape.prefix.length && types.isKnownEmpty(rest)) return undefined;
  const prefix = max < shape.prefix.length ? shape.prefix.slice(0, max) : [...shape.prefix];
  if (max <= prefix.length) rest = NONE;
  while (prefix.length > 0 && prefix.at(-1) === rest) prefix.pop();
  const counted = [...contains.values()];
  for (const entry of counted) {
    if (entry.min > entry.max || entry.min > max) return undefined;
  }
  if (min > max) return undefined;
  return { prefix, rest, min, max, unique: shape.unique && max > 1, contains: counted };
}

/** The ways not to be in `b`, as far as they matter to members of `a`. */
function violations(types: TypeAlgebra, a: ArrayShape, b: ArrayShape): ArrayShape[] {
  const found: ArrayShape[] = [];
  if (b.min > 0) found.push({ ...ANY_ARRAY, max: b.min - 1 });
  if (b.max < Infinity) found.push({ ...ANY_ARRAY, min: b.max + 1 });
  const itemAtIndex = (index: number, item: number) => {
    if (item === ANY) return;
    const before = Array.from({ length: index }, () => ANY);
    found.push({ ...ANY_ARRAY, prefix: [...before, types.not(item)], min: index + 1 });
  };
  b.prefix.forEach((item, index) => itemAtIndex(index, item));
  if (b.rest !== ANY && b.rest !== NONE) {
    if (b.prefix.length === 0) {
      const wrong = { item: types.not(b.rest), min: 1, max: Infinity };
      found.push({ ...ANY_ARRAY, contains: [wrong] });
    } else if (a.max <= MAX_ALTERNATIVES) {
      for (let i = b.prefix.length; i < Math.min(a.max, b.max); i++) itemAtIndex(i, b.rest);
    } else {
      throw new AlgebraError(
        "the items after a prefix cannot be negated where there is no maxItems",
      );
    }
  }
  for (const { item, min, max } of b.contains) {
    if (min > 0) found.push({ ...ANY_ARRAY, contains: [{ item, min: 0, max: min - 1 }] });
    if (max < Infinity) {
      found.push({ ...ANY_ARRAY, contains: [{ item, min: max + 1, max: Infinity }] });
    }
  }
  if (b.unique && !a.unique && a.max > 1) {
    throw new AlgebraError("an array that must have equal items is not supported");
  }
  return found;
}
