// What the keywords of one schema say of arrays (JSON Schema Core 10.3.1, Validation 6.4). `items` is a
// list in older drafts, and then `additionalItems` is about the rest.

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
