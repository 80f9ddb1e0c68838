// The JSON types that a schema says something about: those of `type`, `const` and `enum`, and those that its
// other keywords restrict, as `properties` does objects. closed_types.ts leaves out the others.

import type { KeywordReader } from "./keyword_reader.ts";
import type { JsonTypes, Shape } from "./shape.ts";

/** The bits of {@linkcode JsonTypes}. Integers are numbers. */
export const BITS = {
  null: 1,
  boolean: 2,
  integer: 4,
  number: 4,
  string: 8,
  array: 16,
  object: 32,
} as const;

/** The keywords that restrict one JSON type. */
const KEYWORDS: ReadonlyMap<string, JsonTypes> = new Map(
  Object.entries(
    {
      number: "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
      string: "minLength maxLength pattern",
      array: "items prefixItems additionalItems unevaluatedItems minItems maxItems uniqueItems " +
        "contains minContains maxContains",
      object: "properties patternProperties additionalProperties unevaluatedProperties required " +
        "minProperties maxProperties propertyNames dependentRequired dependentSchemas dependencies",
    } as const,
  ).flatMap(([type, keywords]) =>
    keywords.split(" ").map((keyword) => [keyword, BITS[type as keyof typeof BITS]])
  ),
);

/**
 * The JSON types that a schema's own keywords mention, apart from those of `const` and `enum`.
 *
 * @param format the types of its format
 */
export function mentionedTypes(keywords: KeywordReader, format: JsonTypes): JsonTypes {
  const type = keywords.get("type");
  if (type !== undefined) return bitsOf([type].flat() as readonly string[]);
  const said = [...keywords.schema.keys()].filter((keyword) => keywords.has(keyword));
  return said.reduce((types, keyword) => types | (KEYWORDS.get(keyword) ?? 0), format);
}

/** The JSON types of which a shape has values, as far as it is known. */
export function typesOf(shape: Omit<Shape, "mentioned">): JsonTypes {
  return bitsOf([
    ...shape.null ? ["null"] : [],
    ...shape.booleans.length > 0 ? ["boolean"] : [],
    ...shape.numbers ? ["number"] : [],
    ...shape.strings ? ["string"] : [],
    ...shape.arrays.length > 0 ? ["array"] : [],
    ...shape.objects.length > 0 ? ["object"] : [],
  ]);
}

/** What a union mentions: an alternative that mentions nothing is meant with all its values. */
export function mentionedByAny(shapes: readonly Shape[]): JsonTypes {
  if (shapes.every(({ mentioned }) => mentioned === 0)) return 0;
  return shapes.reduce((types, shape) => {
    const own = typesOf(shape);
    return types | (own & shape.mentioned || own);
  }, 0);
}

function bitsOf(types: readonly string[]): JsonTypes {
  return types.reduce((bits, type) => bits | BITS[type as keyof typeof BITS], 0);
}
