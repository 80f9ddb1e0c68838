// What of a tool's schema the grammar of a family does not hold that writes arguments one by one
// instead of as one JSON text: keywords about several of them at once. The values of arguments are
// held as far as they are texts.

import { isJsonObject } from "../../../../tokenizer/mod.ts";
import type { UnheldKeyword } from "../types.ts";
import { itemsOf, pointerOf, propertiesOf, type Schema, typesOf } from "./tool_schema.ts";

/** Keywords about a value of any type, which may tell something of its members. */
const ANY_TYPE = [
  ...["$dynamicRef", "$recursiveRef", "$ref", "allOf", "anyOf", "const", "enum", "if", "not"],
  "oneOf",
];

const OF_OBJECTS = [
  ...["dependencies", "dependentRequired", "dependentSchemas", "maxProperties", "minProperties"],
  ...["patternProperties", "propertyNames"],
];

const OF_LISTS = ["contains", "prefixItems", "unevaluatedItems", "uniqueItems"];

/** Most nesting of schemas that are examined. */
const MAX_DEPTH = 20;

/** What is not held of an object whose members are marked, and held, one by one. */
export function unheldOfObject(schema: Schema): UnheldKeyword[] {
  // If keys are declared, no others are written.
  const others = propertiesOf(schema) ? [] : ["unevaluatedProperties"];
  return keywordsOf(schema, [...ANY_TYPE, ...OF_OBJECTS, ...others]);
}

/**
 * What is not held of a value, objects and lists in which are marked, too.
 *
 * @param depth the deepest objects and lists that are held, counted from this value
 */
export function unheldWithin(schema: Schema, depth: number): UnheldKeyword[] {
  const found = new Map<string, UnheldKeyword>();
  const walk = (schema: Schema, level: number) => {
    const types = typesOf(schema);
    const own: UnheldKeyword[] = [];
    if (types.has("object")) {
      const properties = propertiesOf(schema);
      const isHeld = properties && level <= depth;
      own.push(...unheldOfObject(schema));
      own.push(...keywordsOf(schema, isHeld ? [] : ["properties", "additionalProperties"]));
      if (level < MAX_DEPTH && isHeld) properties.forEach((one) => walk(one.schema, level + 1));
    }
    if (types.has("array")) {
      const isHeld = level <= depth && (schema.items === undefined || isJsonObject(schema.items));
      own.push(...keywordsOf(schema, [...ANY_TYPE, ...OF_LISTS, ...isHeld ? [] : ["items"]]));
      if (level < MAX_DEPTH && isHeld) walk(itemsOf(schema), level + 1);
    }
    for (const one of own) found.set(`${one.pointer} ${one.keyword}`, one);
  };
  walk(schema, 0);
  return [...found.values()];
}

function keywordsOf(schema: Schema, keywords: readonly string[]): UnheldKeyword[] {
  const pointer = pointerOf(schema);
  return keywords.filter((keyword) => schema[keyword] !== undefined)
    .map((keyword) => ({ pointer, keyword }));
}
