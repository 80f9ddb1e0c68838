// Objects that must contain a key of some language, with a value of some type, as `not` of a closed
// object requires. The machine has no such rule, so here it becomes required keys, with one
// alternative for each possible key, or a least number of keys if any other key will do.

import { intersectObjects, settle, undeclared } from "./objects.ts";
import { AlgebraError } from "./schema_error.ts";
import { anyObject, type Cell, NONE, type ObjectShape } from "./shape.ts";
import type { TypeGraph } from "./type_graph.ts";

/** Most keys of a finite language that are tried one by one. */
const MAX_KEYS = 32;
/** Most optional keys whose presence is enumerated, so that other keys can be counted. */
const MAX_OPTIONAL = 6;

/**
 * Objects without witnesses, as alternatives. If an object has no exact form, it is left out, so
 * that what is enforced is stricter than the schema, never looser. `failure` says why.
 */
export function objectsWithWitnesses(
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
  while (open.some(({ witnesses }) => witnesses.length > 0)) {
    open = open.flatMap((object) =>
      object.witnesses.length === 0 ? [object] : replaceFirst(graph, object)
    );
    if (open.length > MAX_KEYS * MAX_KEYS) throw new AlgebraError("it has too many alternatives");
  }
  return open;
}

function replaceFirst(graph: TypeGraph, object: ObjectShape): ObjectShape[] {
  const [witness, ...witnesses] = object.witnesses as [Cell, ...Cell[]];
  const shape = { ...object, witnesses };
  const found: (ObjectShape | undefined)[] = [];
  const demand = (key: string) => {
    const properties = new Map([[key, { type: witness.type, required: true }]]);
    found.push(intersectObjects(graph, shape, { ...anyObject(graph.languages), properties }));
  };
  for (const [key, { type }] of shape.properties) {
    if (type !== NONE && graph.languages.contains(witness.keys, key)) demand(key);
  }
  for (const cell of shape.others) {
    const keys = undeclared(graph, graph.languages.intersect(cell.keys, witness.keys), shape);
    if (graph.isKnownEmpty(graph.all([cell.type, witness.type]))) continue;
    const members = graph.languages.finite(keys, MAX_KEYS);
    if (members !== undefined) members.forEach(demand);
    else found.push(...countOthers(graph, shape, witness, cell));
  }
  return found.filter((alternative) => alternative !== undefined);
}

/** Objects with a key of `witness` in a cell, by the number of their keys. */
function countOthers(
  graph: TypeGraph,
  shape: ObjectShape,
  witness: Cell,
  cell: Cell,
): (ObjectShape | undefined)[] {
  const { languages } = graph;
  const outside = languages.intersect(cell.keys, languages.complement(witness.keys));
  // The other keys of the cell must be few, so that all keys that are not counted can be declared.
  const apart = languages.finite(undeclared(graph, outside, shape), MAX_OPTIONAL);
  const accepts = graph.all([cell.type, witness.type]) === cell.type;
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
