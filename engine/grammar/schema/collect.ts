// Makes the types that the machine runs from the graph of types: all that the root can reach. Items
// of arrays with `contains` are split by the types for which they count. Objects that must have
// some key of a language (wanted keys) become objects with required keys, or with a least number of
// keys.

import type { TypeId } from "../types.ts";
import { settleArray } from "./arrays.ts";
import { intersectObjects, settle, undeclared } from "./objects.ts";
import { AlgebraError, SchemaError } from "./schema_error.ts";
import {
  anyObject,
  type ArrayShape,
  type Cell,
  NONE,
  type ObjectShape,
  type Shape,
} from "./shape.ts";
import type { TypeGraph } from "./type_graph.ts";

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

/** A shape without wanted keys, whose arrays are split. */
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

// Objects that must contain a key of some language, with a value of some type, as `not` of a closed
// object requires. The machine has no such rule, so here it becomes required keys, with one
// alternative for each possible key, or a least number of keys if any other key will do.

/** Most keys of a finite language that are tried one by one. */
const MAX_KEYS = 32;
/** Most optional keys whose presence is enumerated, so that other keys can be counted. */
const MAX_OPTIONAL = 6;

/**
 * Objects without wanted keys, as alternatives. If an object has no exact form, it is left out, so
 * that what is enforced is stricter than the schema, never looser. `failure` says why.
 */
function objectsWithWitnesses(
  graph: TypeGraph,
  shapes: readonly ObjectShape[],
): { objects: ObjectShape[]; failure: AlgebraError | undefined } {
  let failure: AlgebraError | undefined;
  const objects = shapes.flatMap((shape) => {
    try {
      return replaceAll(graph, shape);
    } catch (error) {
      if (!(error instanceof AlgebraError)) throw error;
      failure = error;
      return [];
    }
  });
  return { objects, failure };
}

function replaceAll(graph: TypeGraph, shape: ObjectShape): ObjectShape[] {
  let open = [shape];
  while (open.some(({ wantedKeys }) => wantedKeys.length > 0)) {
    open = open.flatMap((object) =>
      object.wantedKeys.length === 0 ? [object] : replaceFirst(graph, object)
    );
    if (open.length > MAX_KEYS * MAX_KEYS) throw new AlgebraError("it has too many alternatives");
  }
  return open;
}

function replaceFirst(graph: TypeGraph, object: ObjectShape): ObjectShape[] {
  const [wanted, ...wantedKeys] = object.wantedKeys as [Cell, ...Cell[]];
  const shape = { ...object, wantedKeys };
  const found: (ObjectShape | undefined)[] = [];
  const demand = (key: string) => {
    const properties = new Map([[key, { type: wanted.type, required: true }]]);
    found.push(intersectObjects(graph, shape, { ...anyObject(graph.languages), properties }));
  };
  for (const [key, { type }] of shape.properties) {
    if (type !== NONE && graph.languages.contains(wanted.keys, key)) demand(key);
  }
  for (const cell of shape.others) {
    const keys = undeclared(graph, graph.languages.intersect(cell.keys, wanted.keys), shape);
    if (graph.isKnownEmpty(graph.all([cell.type, wanted.type]))) continue;
    const members = graph.languages.finite(keys, MAX_KEYS);
    if (members !== undefined) members.forEach(demand);
    else found.push(...countOthers(graph, shape, wanted, cell));
  }
  return found.filter((alternative) => alternative !== undefined);
}

/** Objects with a key of `wanted` in a cell, by the number of their keys. */
function countOthers(
  graph: TypeGraph,
  shape: ObjectShape,
  wanted: Cell,
  cell: Cell,
): (ObjectShape | undefined)[] {
  const { languages } = graph;
  const outside = languages.intersect(cell.keys, languages.complement(wanted.keys));
  // The other keys of the cell must be few, so that all keys that are not counted can be declared.
  const apart = languages.finite(undeclared(graph, outside, shape), MAX_OPTIONAL);
  const accepts = graph.all([cell.type, wanted.type]) === cell.type;
  if (shape.others.length > 1 || apart === undefined || !accepts) throw noForm();
  const declared = new Map(shape.properties);
  const { keys: _, ...property } = cell;
  for (const key of apart) declared.set(key, { ...property, required: false });
  const optional = [...declared].filter(([, { type, required }]) => type !== NONE && !required);
  if (optional.length > MAX_OPTIONAL) throw noForm();
  const fixed = [...declared.values()].filter(({ required }) => required).length;
  return Array.from({ length: 2 ** optional.length }, (_, present) => {
    const properties = new Map(declared);
    let count = fixed;
    optional.forEach(([key, property], i) => {
      const required = Boolean(present & (1 << i));
      properties.set(key, { ...property, type: required ? property.type : NONE, required });
      count += Number(required);
    });
    return settle(graph, { ...shape, properties, min: Math.max(shape.min, count + 1) });
  });
}

function noForm(): AlgebraError {
  return new AlgebraError("that some key must break a rule cannot be enforced");
}
