// Types that say only whether a key is there: what dependentSchemas hangs on.

import type { TypeId } from "../types.ts";
import { ANY, anyObject, anyShape, NO_SHAPE, NONE } from "./shape.ts";
import type { TypeGraph } from "./type_graph.ts";

/** All values but objects with a key. */
export function withoutKey(graph: TypeGraph, key: string): TypeId {
  const any = anyShape(graph.languages);
  const properties = new Map([[key, { type: NONE, required: false }]]);
  return graph.constant({ ...any, objects: [{ ...anyObject(graph.languages), properties }] });
}

/** All objects with a key. */
export function withKey(graph: TypeGraph, key: string): TypeId {
  const properties = new Map([[key, { type: ANY, required: true }]]);
  return graph.constant({
    ...NO_SHAPE,
    objects: [{ ...anyObject(graph.languages), properties }],
  });
}
