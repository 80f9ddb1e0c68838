// Makes the types that the machine runs from the graph of types: all that the root can reach. Items
// of arrays with `contains` are split by the types for which they count. Objects that must have
// some key of a language (witnesses) become objects with required keys, or with a least number of
// keys.

import type { TypeId } from "../types.ts";
import { settleArray } from "./arrays.ts";
import { settle } from "./objects.ts";
import { SchemaError } from "./schema_error.ts";
import { type ArrayShape, NONE, type Shape } from "./shape.ts";
import type { TypeGraph } from "./type_graph.ts";
import { objectsWithWitnesses } from "./witnesses.ts";

/** Most types of `contains` by which items are split: the number of parts is two to this power. */
const MAX_CONTAINED = 6;

/** A part of an item type: the types of `contains` that it matches, and those that it does not. */
export interface ItemSplit {
  readonly type: TypeId;
  readonly counts: readonly boolean[];
}

/** An array type whose items are split. */
export interface SplitArray extends ArrayShape {
  readonly splits: ReadonlyMap<TypeId, readonly ItemSplit[]>;
}

/** A shape without witnesses, whose arrays are split. */
export interface ClosedShape extends Shape {
  readonly arrays: readonly SplitArray[];
}

/**
 * All types that a type can reach. Alternatives that the machine cannot express are left out if the
 * algebra made them; a schema that contains such a one itself is refused.
 *
 * @throws {SchemaError} if a schema cannot be expressed
 */
export function collectShapes(graph: TypeGraph, root: TypeId): Map<TypeId, ClosedShape> {
  const found = new Map<TypeId, ClosedShape>();
  const waiting = [root];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (found.has(id)) continue;
    const closed = closeShape(graph, id);
    found.set(id, closed);
    for (const child of childrenOf(closed)) waiting.push(child);
  }
  return found;
}

function closeShape(graph: TypeGraph, id: TypeId): ClosedShape {
  const shape = graph.shape(id);
  const settled = shape.objects.map((object) => settle(graph, object))
    .filter((object) => object !== undefined);
  const { objects, failure } = objectsWithWitnesses(graph, settled);
  if (failure && objects.length === 0 && graph.pointer(id) !== undefined) {
    throw new SchemaError(graph.pointer(id)!, "not", failure.message);
  }
  const arrays = shape.arrays.map((array) => settleArray(graph, array))
    .filter((array) => array !== undefined);
  if (arrays.some(({ contains }) => contains.length > MAX_CONTAINED)) {
    const reason = `more than ${MAX_CONTAINED} of them meet in one array`;
    throw new SchemaError(graph.pointer(id) ?? "", "contains", reason);
  }
  return { ...shape, objects, arrays: arrays.map((array) => splitItems(graph, array)) };
}

/** The types that values of a shape contain. */
export function childrenOf(shape: ClosedShape): Set<TypeId> {
  const children = new Set<TypeId>();
  for (const { prefix, rest, splits } of shape.arrays) {
    for (const item of prefix) children.add(item);
    children.add(rest);
    for (const parts of splits.values()) for (const { type } of parts) children.add(type);
  }
  for (const { properties, others } of shape.objects) {
    for (const { type } of properties.values()) children.add(type);
    for (const { type } of others) children.add(type);
  }
  children.delete(NONE);
  return children;
}

function splitItems(graph: TypeGraph, array: ArrayShape): SplitArray {
  const splits = new Map<TypeId, ItemSplit[]>();
  if (array.contains.length === 0) return { ...array, splits };
  for (const item of new Set([...array.prefix, array.rest])) {
    if (item === NONE) continue;
    let parts: ItemSplit[] = [{ type: item, counts: [] }];
    for (const { item: counted } of array.contains) {
      parts = parts.flatMap(({ type, counts }) => [
        { type: graph.all([type, counted]), counts: [...counts, true] },
        { type: graph.all([type, graph.not(counted)]), counts: [...counts, false] },
      ]).filter(({ type }) => !graph.isKnownEmpty(type));
    }
    splits.set(item, parts);
  }
  return { ...array, splits };
}
