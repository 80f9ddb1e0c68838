// JSON types as people mean them who have a schema filled in: `properties` without `type` means objects,
// although it says nothing of other values, which JSON Schema allows for that reason. Where a schema
// mentions some types, only those are written. If nothing would be left, as where only a value of another
// type fits the rest of the schema, the type stays as the schema has it.

import type { TypeId } from "../types.ts";
import type { ClosedShape } from "./collect.ts";
import { Inhabited } from "./emptiness.ts";
import { BITS, type JsonTypes, NONE, type ObjectShape, typesOf } from "./shape.ts";
import { settle } from "./objects.ts";
import type { TypeGraph } from "./type_graph.ts";

/** The types of a graph without values of JSON types that their schemas do not mention. */
export function closeTypes(graph: TypeGraph, living: LivingShapes): LivingShapes {
  const closed = new Map<TypeId, ClosedShape>();
  for (const [id, shape] of living.shapes) {
    closed.set(id, withTypes(shape, shape.mentioned & inhabitedTypes(shape, living.inhabited)));
  }
  return ifWhole(graph, closed, living);
}

/** The JSON types of which a shape has values. */
function inhabitedTypes(shape: ClosedShape, inhabited: Inhabited): JsonTypes {
  return typesOf({
    ...shape,
    arrays: shape.arrays.filter((array) => inhabited.hasArray(array)),
    objects: shape.objects.filter((object) => inhabited.hasObject(object)),
  });
}

/** The values of some JSON types; all if there are none. */
function withTypes(shape: ClosedShape, types: JsonTypes): ClosedShape {
  if (types === 0) return shape;
  return {
    ...shape,
    null: shape.null && (types & BITS.null) !== 0,
    booleans: types & BITS.boolean ? shape.booleans : [],
    numbers: types & BITS.number ? shape.numbers : undefined,
    strings: types & BITS.string ? shape.strings : undefined,
    arrays: types & BITS.array ? shape.arrays : [],
    objects: types & BITS.object ? shape.objects : [],
  };
}

// Objects as people mean them who have a schema filled in: if the schema declares some keys, no
// others are written. JSON Schema allows others, and models would use that. Only keys are removed
// that are allowed because nothing is said about them, never values of declared keys. If nothing
// would be left, as with a minProperties above the number of declared keys, the type stays as the
// schema has it.

/** Types, and which of them have a value. */
interface LivingShapes {
  readonly shapes: ReadonlyMap<TypeId, ClosedShape>;
  readonly inhabited: Inhabited;
}

/** The types of a graph without undeclared keys. */
export function closeObjects(graph: TypeGraph, living: LivingShapes): LivingShapes {
  const { shapes, inhabited } = living;
  if (![...shapes.values()].some(({ objects }) => objects.some(({ isClosed }) => isClosed))) {
    return living;
  }
  const closed = new Map<TypeId, ClosedShape>();
  for (const [id, shape] of shapes) {
    const objects = shape.objects.map((object) => closedObject(graph, object))
      .filter((object) => object !== undefined)
      .filter((object) => inhabited.hasObject(object));
    closed.set(id, objects.length > 0 ? { ...shape, objects } : shape);
  }
  return ifWhole(graph, closed, living);
}

/** Types with fewer values, if all that had values still have some; else the types as they were. */
function ifWhole(
  graph: TypeGraph,
  closed: ReadonlyMap<TypeId, ClosedShape>,
  before: LivingShapes,
): LivingShapes {
  const { inhabited } = before;
  const left = new Inhabited(graph, closed);
  // Values that are needed within themselves, or in numbers that need others, are rare.
  const isWhole = [...closed].every(([id, { arrays }]) =>
    (left.has(id) || !inhabited.has(id)) &&
    arrays.every((array) => left.hasArray(array) || !inhabited.hasArray(array))
  );
  return isWhole ? { shapes: closed, inhabited: left } : before;
}

/** An object type without undeclared keys; undefined if it needs one. */
function closedObject(graph: TypeGraph, object: ObjectShape): ObjectShape | undefined {
  if (!object.isClosed) return object;
  const properties = new Map(object.properties);
  for (const [key, { type, required, isDeclared }] of properties) {
    if (isDeclared || type === NONE) continue;
    if (required) return undefined;
    properties.set(key, { type: NONE, required: false });
  }
  const others = object.others.filter(({ isDeclared }) => isDeclared);
  return settle(graph, { ...object, properties, others });
}
