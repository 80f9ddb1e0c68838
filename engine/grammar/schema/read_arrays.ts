// The keywords for arrays of one schema (JSON Schema Core 10.3.1, Validation 6.4) as array types.
// Before 2020-12 `items` may be a list for the first items; `additionalItems` is then for all later
// ones.

import type { JsonValue } from "../json/mod.ts";
import type { TypeId } from "../types.ts";
import type { KeywordReader } from "./keyword_reader.ts";
import { ANY, ANY_ARRAY, type ArrayShape, type Contained } from "./shape.ts";

const KEYWORDS = [
  "additionalItems",
  "contains",
  "items",
  "maxItems",
  "minItems",
  "prefixItems",
  "uniqueItems",
];

/** The arrays that a schema allows on its own. @throws {SchemaError} if a keyword is malformed */
export function readArrays(
  keywords: KeywordReader,
  typeOf: (schema: JsonValue) => TypeId,
): ArrayShape {
  if (!KEYWORDS.some((keyword) => keywords.has(keyword))) return ANY_ARRAY;
  const { prefix, rest } = arrayItems(keywords);
  return {
    prefix: prefix.map(typeOf),
    rest: rest === undefined ? ANY : typeOf(rest),
    min: keywords.count("minItems", 0),
    max: keywords.count("maxItems", Infinity),
    unique: keywords.get("uniqueItems") === true,
    contains: readContains(keywords, typeOf),
  };
}

/** The schemas of the first items, and of those after them. */
export function arrayItems(
  keywords: KeywordReader,
): { prefix: readonly JsonValue[]; rest: JsonValue | undefined } {
  const items = keywords.get("items");
  if (Array.isArray(items) && !keywords.has("prefixItems")) {
    return { prefix: items, rest: keywords.get("additionalItems") };
  }
  return { prefix: keywords.list("prefixItems") ?? [], rest: items };
}

function readContains(
  keywords: KeywordReader,
  typeOf: (schema: JsonValue) => TypeId,
): Contained[] {
  const schema = keywords.get("contains");
  if (schema === undefined) return [];
  return [{
    item: typeOf(schema),
    min: keywords.count("minContains", 1),
    max: keywords.count("maxContains", Infinity),
  }];
}
