// The types that a machine runs: those that have a value, numbered without gaps. Whatever cannot
// occur is removed: properties whose type has no value, clauses that always hold, and items after
// which nothing can follow.

import { pollCancellation } from "../../cancellation.ts";
import type { NumberSet } from "../number/mod.ts";
import type {
  ArrayType,
  ItemPart,
  ObjectType,
  SchemaTypes,
  StringType,
  TypeId,
  ValueType,
} from "../types.ts";
import type { ClosedShape, SplitArray } from "./collect.ts";
import type { Inhabited } from "./emptiness.ts";
import { settle, undeclared } from "./objects.ts";
import { NONE, type ObjectShape, type Shape } from "./shape.ts";
import type { TypeGraph } from "./type_graph.ts";

/** Least count that is counted: automata with a few more states are walked faster. */
const MIN_COUNT = 16;

/** From here on all counts are equal: no document gets so far, and a machine counts in 32 bits. */
const MOST_COUNTED = 2 ** 30;

/** Bounds of a count, as far as documents can reach them. */
function bounds({ min, max }: { readonly min: number; readonly max: number }) {
  return { min: Math.min(min, MOST_COUNTED), max: max < MOST_COUNTED ? max : Infinity };
}

/** The types that `root` can reach and that have a value; `root` must have one. */
export function lowerTypes(
  graph: TypeGraph,
  shapes: ReadonlyMap<TypeId, ClosedShape>,
  inhabited: Inhabited,
  root: TypeId,
): SchemaTypes {
  const numbers = new Map<TypeId, TypeId>();
  const waiting: TypeId[] = [];
  const leaves = new Map<string, TypeId>();
  const byShape = new Map<Shape, TypeId>();
  const sets = new Map<NumberSet, number>();
  const numbered = (id: TypeId): TypeId => {
    let number = numbers.get(id);
    if (number !== undefined) return number;
    const leaf = leafKey(shapes.get(id)!, sets);
    // A reference has the shape of its target.
    const shape = graph.shape(id);
    number = leaf === undefined ? byShape.get(shape) : leaves.get(leaf);
    if (number === undefined) {
      number = waiting.push(id) - 1;
      if (leaf !== undefined) leaves.set(leaf, number);
    }
    byShape.set(shape, number);
    numbers.set(id, number);
    return number;
  };
  const types: ValueType[] = [];
  const lowering = { graph, inhabited, numbered };
  numbered(root);
  for (let next = 0; next < waiting.length; next++) {
    pollCancellation();
    types.push(lowerShape(lowering, shapes.get(waiting[next]!)!));
  }
  return { types, root: 0 };
}

/** An equal scalar type, since schemas repeat those a lot; undefined for all others. */
function leafKey(shape: ClosedShape, sets: Map<NumberSet, number>): string | undefined {
  if (shape.arrays.length > 0 || shape.objects.length > 0) return undefined;
  const { strings, numbers } = shape;
  if (numbers && !sets.has(numbers)) sets.set(numbers, sets.size);
  return [
    shape.null,
    shape.booleans,
    numbers && sets.get(numbers),
    strings?.language,
    strings?.min,
    strings?.max,
  ].join(" ");
}

interface Lowering {
  readonly graph: TypeGraph;
  readonly inhabited: Inhabited;
  numbered(id: TypeId): TypeId;
}

function lowerShape(lowering: Lowering, shape: ClosedShape): ValueType {
  const { inhabited } = lowering;
  const arrays = shape.arrays.filter((array) => inhabited.hasArray(array));
  const objects = shape.objects.filter((object) => inhabited.hasObject(object))
    .map((object) => lowerObject(lowering, object))
    .filter((object) => object !== undefined);
  return {
    ...(shape.null && { null: true }),
    ...(shape.booleans.length > 0 && { booleans: shape.booleans }),
    ...(shape.numbers && { numbers: shape.numbers }),
    ...(shape.strings && { strings: counted(lowering.graph, shape.strings) }),
    ...(arrays.length > 0 && { arrays: arrays.map((array) => lowerArray(lowering, array)) }),
    ...(objects.length > 0 && { objects }),
  };
}

/** Strings with a count of their language as bounds beside it, which saves states. */
function counted({ languages }: TypeGraph, { language, min, max }: StringType): StringType {
  const apart = languages.withoutCount(language);
  if ((apart.max < Infinity ? apart.max : apart.min) < MIN_COUNT) {
    return { language, ...bounds({ min, max }) };
  }
  return {
    language: apart.language,
    ...bounds({ min: Math.max(min, apart.min), max: Math.min(max, apart.max) }),
  };
}

function lowerArray({ inhabited, numbered }: Lowering, array: SplitArray): ArrayType {
  const ends = array.prefix.findIndex((item) => !inhabited.has(item));
  const items = ends < 0 ? array.prefix : array.prefix.slice(0, ends);
  const goesOn = ends < 0 && inhabited.has(array.rest);
  const splits = new Map<TypeId, readonly ItemPart[]>();
  for (const [item, parts] of array.splits) {
    if (!inhabited.has(item)) continue;
    const alive = parts.filter(({ type }) => inhabited.has(type));
    splits.set(
      numbered(item),
      alive.map(({ type, counts }) => ({ type: numbered(type), counts })),
    );
  }
  return {
    prefix: items.map(numbered),
    ...(goesOn && { rest: numbered(array.rest) }),
    ...bounds({
      min: array.min,
      max: goesOn ? array.max : Math.min(array.max, items.length),
    }),
    unique: array.unique,
    contains: array.contains.map(bounds),
    ...(array.contains.length > 0 && { splits }),
  };
}

function lowerObject(lowering: Lowering, object: ObjectShape): ObjectType | undefined {
  const { graph, inhabited, numbered } = lowering;
  const properties = new Map(
    [...object.properties].map(([key, { type, required }]) => [
      key,
      { type: inhabited.has(type) ? type : NONE, required },
    ]),
  );
  const others = object.others.filter(({ type }) => inhabited.has(type))
    .map(({ keys, type }) => ({ keys: undeclared(graph, keys, object), type }))
    .filter(({ keys }) => !graph.languages.isEmpty(keys));
  const settled = settle(graph, { ...object, properties, others });
  if (settled === undefined) return undefined;
  return {
    properties: [...settled.properties].filter(([, { type }]) => type !== NONE)
      .map(([key, { type, required }]) => ({ key, type: numbered(type), required })),
    others: settled.others.map(({ keys, type }) => ({ keys, type: numbered(type) })),
    ...bounds(settled),
    clauses: settled.clauses,
  };
}
