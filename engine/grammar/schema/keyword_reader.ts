// The keywords of one schema, with the types that JSON Schema requires of their values. A malformed
// one is an error with its location, never a guess.

import { Decimal, type JsonObject, type JsonValue } from "../json/mod.ts";
import { SchemaError } from "./schema_error.ts";

/** Greater counts are reduced to this one. No value is that long. */
const MAX_COUNT = 2 ** 40;

/** The keywords of one schema. */
export class KeywordReader {
  readonly #locate: () => string;

  /**
   * @param locate gives the location of the schema
   * @param draft the edition that it uses
   */
  constructor(readonly schema: JsonObject, locate: () => string, readonly draft: Draft) {
    this.#locate = locate;
  }

  /** The JSON pointer of the schema. */
  get pointer(): string {
    return this.#locate();
  }

  /** Whether the schema has a keyword. */
  has(keyword: string): boolean {
    return this.get(keyword) !== undefined;
  }

  /** The value of a keyword, unchecked; undefined if the edition does not have the keyword. */
  get(keyword: string): JsonValue | undefined {
    return (SINCE.get(keyword) ?? 4) <= this.draft ? this.schema.get(keyword) : undefined;
  }

  /** A number of characters, items or properties. @throws {SchemaError} if it is none */
  count(keyword: string, missing: number): number {
    const value = this.get(keyword);
    if (value === undefined) return missing;
    const count = value instanceof Decimal ? value.toNumber() : NaN;
    if (!(count >= 0) || Number.isFinite(count) && !Number.isInteger(count)) {
      throw this.error(keyword, "it must be an integer of at least 0");
    }
    return Math.min(count, MAX_COUNT);
  }

  /** A number. @throws {SchemaError} if it is none */
  number(keyword: string): Decimal | undefined {
    const value = this.get(keyword);
    if (value === undefined || value instanceof Decimal) return value;
    throw this.error(keyword, "it must be a number");
  }

  /** A string. @throws {SchemaError} if it is none */
  text(keyword: string): string | undefined {
    const value = this.get(keyword);
    if (value === undefined || typeof value === "string") return value;
    throw this.error(keyword, "it must be a string");
  }

  /** A list of strings. @throws {SchemaError} if it is none */
  texts(keyword: string): readonly string[] {
    const value = this.get(keyword) ?? [];
    return textList(value) ?? fail(this.error(keyword, "it must be a list of strings"));
  }

  /** A list. @throws {SchemaError} if it is none */
  list(keyword: string): readonly JsonValue[] | undefined {
    const value = this.get(keyword);
    if (value === undefined || Array.isArray(value)) return value;
    throw this.error(keyword, "it must be a list");
  }

  /** Values by name. @throws {SchemaError} if it is no object */
  named(keyword: string): JsonObject {
    const value = this.get(keyword);
    if (value === undefined) return new Map();
    if (value instanceof Map) return value;
    throw this.error(keyword, "it must be an object");
  }

  error(keyword: string, reason: string): SchemaError {
    return new SchemaError(this.pointer, keyword, reason);
  }
}

/** The strings of a list of strings; undefined for any other value. */
export function textList(value: JsonValue): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.every((item) => typeof item === "string") ? value : undefined;
}

function fail(error: Error): never {
  throw error;
}

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
const SINCE: ReadonlyMap<string, Draft> = new Map([
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
