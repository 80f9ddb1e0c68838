// The keywords of JSON Schema that contain schemas, and those that constrain values. All others are
// annotations, as the specification requires (JSON Schema Core 6.5).

/** Keywords by their content: a schema, a list of schemas, either of these, or schemas by name. */
export const SUBSCHEMAS: ReadonlyMap<string, "one" | "list" | "either" | "named"> = new Map([
  ["additionalItems", "one"],
  ["additionalProperties", "one"],
  ["allOf", "list"],
  ["anyOf", "list"],
  ["contains", "one"],
  ["contentSchema", "one"],
  ["definitions", "named"],
  ["$defs", "named"],
  ["dependencies", "named"],
  ["dependentSchemas", "named"],
  ["else", "one"],
  ["if", "one"],
  ["items", "either"],
  ["not", "one"],
  ["oneOf", "list"],
  ["patternProperties", "named"],
  ["prefixItems", "list"],
  ["properties", "named"],
  ["propertyNames", "one"],
  ["then", "one"],
  ["unevaluatedItems", "one"],
  ["unevaluatedProperties", "one"],
]);

const ANNOTATIONS = new Set(["$defs", "contentSchema", "definitions"]);

/** Keywords that constrain values. */
export const CONSTRAINTS: ReadonlySet<string> = new Set([
  ...[...SUBSCHEMAS.keys()].filter((keyword) => !ANNOTATIONS.has(keyword)),
  "$dynamicRef",
  "$recursiveRef",
  "$ref",
  "const",
  "dependentRequired",
  "enum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "format",
  "maxItems",
  "maxLength",
  "maxProperties",
  "maximum",
  "minItems",
  "minLength",
  "minProperties",
  "minimum",
  "multipleOf",
  "pattern",
  "required",
  "type",
  "uniqueItems",
]);

/** Editions of JSON Schema, as far as they differ here. */
export type Draft = 4 | 6 | 7 | 2019 | 2020;

/** The edition that introduced a keyword, for those that older editions do not have. */
export const SINCE: ReadonlyMap<string, Draft> = new Map([
  ["const", 6],
  ["contains", 6],
  ["propertyNames", 6],
  ["else", 7],
  ["if", 7],
  ["then", 7],
  ["dependentRequired", 2019],
  ["dependentSchemas", 2019],
  ["maxContains", 2019],
  ["minContains", 2019],
  ["unevaluatedItems", 2019],
  ["unevaluatedProperties", 2019],
  ["prefixItems", 2020],
]);
