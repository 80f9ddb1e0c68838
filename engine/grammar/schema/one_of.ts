// The values that are in exactly one of several types, for oneOf. Scalars are counted: those in one
// type, and those in two. Objects and arrays are reduced by those of the other branches, which
// takes long; so objects that some key distinguishes, as in discriminated unions, are not compared.

import * as numbers from "../number/mod.ts";
import type { StringType } from "../types.ts";
import { halve, intersectShapes, uniteShapes, withoutArray, withoutObject } from "./algebra.ts";
import type { FewValues } from "./schema_input.ts";
import {
  mentionedByAny,
  NO_SHAPE,
  type ObjectShape,
  type Shape,
  type TypeAlgebra,
} from "./shape.ts";
import { intersectStrings, subtractStrings, uniteStrings } from "./strings.ts";

/** Most keys that are tried to distinguish objects. */
const MAX_KEYS = 64;

/** The values of `within` that are in exactly one of the branches. @throws {AlgebraError} over a cap */
export function onlyOne(types: TypeAlgebra, within: Shape, branches: readonly Shape[]): Shape {
  const narrowed = branches.map((branch) => intersectShapes(types, within, branch));
  const objects = objectsOfOne(types, narrowed.map((branch) => branch.objects));
  const withArrays = narrowed.flatMap(({ arrays }, i) => arrays.length > 0 ? [i] : []);
  const compound = narrowed.map(({ arrays }, i): Shape => ({
    ...NO_SHAPE,
    arrays: withArrays.reduce(
      (left, j) =>
        i === j
          ? left
          : narrowed[j]!.arrays.reduce((kept, array) => withoutArray(types, kept, array), left),
      arrays,
    ),
    objects: objects[i]!,
  }));
  const { languages } = types;
  const once = (holds: (branch: Shape) => boolean) => narrowed.filter(holds).length === 1;
  return {
    ...uniteShapes(types, compound),
    null: once((branch) => branch.null),
    booleans: [false, true].filter((value) => once(({ booleans }) => booleans.includes(value))),
    numbers: single(narrowed.flatMap((branch) => branch.numbers ?? []), {
      unite: numbers.union,
      intersect: (a, b) => nonEmpty(numbers.intersect(a, b)),
      subtract: (a, b) => nonEmpty(numbers.intersect(a, numbers.complement(b))),
    }),
    strings: single<StringType>(narrowed.flatMap((branch) => branch.strings ?? []), {
      unite: (a, b) => uniteStrings(languages, a, b)!,
      intersect: (a, b) => intersectStrings(languages, a, b),
      subtract: (a, b) => subtractStrings(languages, a, b),
    }),
    mentioned: mentionedByAny(narrowed),
  };
}

/** The algebra of a kind of sets; undefined is the empty set. */
interface Sets<T> {
  unite(a: T, b: T): T;
  intersect(a: T, b: T): T | undefined;
  subtract(a: T, b: T): T | undefined;
}

/** The values that are in exactly one of several sets. */
function single<T>(sets: readonly T[], { unite, intersect, subtract }: Sets<T>): T | undefined {
  interface Counted {
    readonly once: T;
    readonly twice: T | undefined;
  }
  const counted = halve(
    sets.map((once): Counted => ({ once, twice: undefined })),
    (a, b) => {
      const more = [a.twice, b.twice, intersect(a.once, b.once)].filter((set) => set !== undefined);
      return { once: unite(a.once, b.once), twice: halve(more, unite) };
    },
  );
  return counted?.twice === undefined ? counted?.once : subtract(counted.once, counted.twice);
}

function nonEmpty(set: numbers.NumberSet): numbers.NumberSet | undefined {
  return numbers.isEmptyNumbers(set) ? undefined : set;
}

/** The objects of each branch that are in no other one. */
function objectsOfOne(
  types: TypeAlgebra,
  branches: readonly (readonly ObjectShape[])[],
): (readonly ObjectShape[])[] {
  const all = branches.flatMap((objects, branch) => objects.map((object) => ({ object, branch })));
  const near = neighbours(types, all.map(({ object }) => object));
  let index = 0;
  return branches.map((objects, branch) =>
    objects.flatMap((object) => {
      let left: readonly ObjectShape[] = [object];
      for (const other of near(index++)) {
        if (all[other]!.branch !== branch) left = withoutObject(types, left, all[other]!.object);
      }
      return left;
    })
  );
}

/**
 * By index: the objects with which one may have values in common, because no key distinguishes
 * them.
 */
function neighbours(
  types: TypeAlgebra,
  objects: readonly ObjectShape[],
): (index: number) => Iterable<number> {
  const everything = objects.map((_, index) => index);
  const keys = new Set(
    objects.flatMap(({ properties }) =>
      [...properties].filter(([, { required }]) => required).map(([key]) => key)
    ),
  );
  let best = { values: [] as FewValues[], byValue: new Map<string, number[]>() };
  for (const key of [...keys].slice(0, MAX_KEYS)) {
    const values = objects.map(({ properties }) => {
      const property = properties.get(key);
      return property?.required ? types.fewValues(property.type) : undefined;
    });
    const byValue = new Map<string, number[]>();
    for (const [index, few] of values.entries()) {
      for (const value of few ?? []) {
        const alike = byValue.get(value);
        if (alike) alike.push(index);
        else byValue.set(value, [index]);
      }
    }
    if (byValue.size > best.byValue.size) best = { values, byValue };
  }
  const { values, byValue } = best;
  const others = everything.filter((index) => values[index] === undefined);
  return (index) => {
    const few = values[index];
    if (few === undefined) return everything;
    return new Set([...others, ...[...few].flatMap((value) => byValue.get(value)!)]);
  };
}
