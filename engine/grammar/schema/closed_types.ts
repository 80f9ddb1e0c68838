// JSON types as people mean them who have a schema filled in: `properties` without `type` means objects,
// although it says nothing of other values, which JSON Schema allows for that reason. Where a schema
// mentions some types, only those are written. If nothing would be left, as where only a value of another
// type fits the rest of the schema, the type stays as the schema has it.

import type { TypeId } from "../types.ts";
import { ifWhole, type LivingShapes } from "./closed_objects.ts";
import type { ClosedShape } from "./collect.ts";
import type { Inhabited } from "./emptiness.ts";
import { BITS, typesOf } from "./mentioned.ts";
import type { JsonTypes } from "./shape.ts";
import type { TypeGraph } from "./type_graph.ts";

/** The same types without values of JSON types that their schemas do not mention. */
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
