// Schemas of drafts 4 to 7 as Ajv reads them: it takes none of draft 4, and looks at what stands beside
// a reference, which those drafts leave out.

type Schema = Record<string, unknown>;

/** Keywords that hold schemas, and how: one, a list, either, or by name. */
const HOLDERS: Readonly<Record<string, "one" | "list" | "either" | "named">> = {
  additionalItems: "one",
  additionalProperties: "one",
  allOf: "list",
  anyOf: "list",
  contains: "one",
  definitions: "named",
  $defs: "named",
  dependencies: "named",
  else: "one",
  if: "one",
  items: "either",
  not: "one",
  oneOf: "list",
  patternProperties: "named",
  properties: "named",
  propertyNames: "one",
  then: "one",
};

/** Keywords that came with each draft; before, they say nothing. */
const LATER: Readonly<Record<string, number>> = {
  const: 6,
  contains: 6,
  propertyNames: 6,
  if: 7,
  then: 7,
  else: 7,
  dependentRequired: 8,
  dependentSchemas: 8,
  prefixItems: 8,
  unevaluatedItems: 8,
  unevaluatedProperties: 8,
  minContains: 8,
  maxContains: 8,
};

/** A schema of a draft up to 7 with the same meaning in draft 7. */
export function modernize(schema: unknown, draft: number): unknown {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema;
  const modern: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if ((LATER[keyword] ?? 0) > draft) continue;
    if ("$ref" in schema && !["$ref", "definitions", "$defs"].includes(keyword)) continue;
    modern[keyword] = modernizeHeld(value, HOLDERS[keyword], draft);
  }
  return draft === 4 ? withDraftFourBounds(modern) : modern;
}

function modernizeHeld(value: unknown, holds: string | undefined, draft: number): unknown {
  const isList = Array.isArray(value);
  if (holds === undefined || typeof value !== "object" || value === null) return value;
  if (isList) return holds === "one" ? value : value.map((item) => modernize(item, draft));
  if (holds !== "named") return modernize(value, draft);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, modernize(inner, draft)]),
  );
}

/** Draft 4 says with booleans whether a bound is out itself, and calls `$id` `id`. */
function withDraftFourBounds({ id, $id: _, ...schema }: Schema): Schema {
  if (typeof id === "string") schema.$id = id;
  for (const [flag, bound] of [["exclusiveMinimum", "minimum"], ["exclusiveMaximum", "maximum"]]) {
    if (typeof schema[flag!] !== "boolean") continue;
    const isOut = schema[flag!];
    delete schema[flag!];
    if (!isOut || !(bound! in schema)) continue;
    schema[flag!] = schema[bound!];
    delete schema[bound!];
  }
  return schema;
}
