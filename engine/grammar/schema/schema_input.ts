// A schema as it is given, a plain value or JSON text, and the options for what JSON Schema leaves
// open.

import { fromPlain, JsonError, type JsonValue, parseJson } from "../json/mod.ts";
import { SchemaError } from "./schema_error.ts";

/** Longest schema as text, in UTF-16 units. */
const MAX_TEXT = 5_000_000;

/** Options for reading a schema. */
export interface SchemaOptions {
  /**
   * Which formats `format` enforces: all known ones (the default), "standard" for those of JSON
   * Schema without those that only OpenAPI and ajv-formats have, or none.
   */
  readonly formats?: boolean | "standard";
  /**
   * Whether objects may have keys, and values JSON types, that the schema does not mention, as in
   * JSON Schema (the default), or only if the schema mentions none.
   */
  readonly openObjects?: boolean;
}

/** The JSON value of a schema. @throws {SchemaError} if it is not JSON, or too large */
export function schemaValue(schema: unknown): JsonValue {
  if (typeof schema === "string" && schema.length > MAX_TEXT) {
    throw new SchemaError("", "", `it has ${schema.length} characters, more than ${MAX_TEXT}`);
  }
  try {
    return typeof schema === "string" ? parseJson(schema) : fromPlain(schema);
  } catch (error) {
    throw error instanceof JsonError ? new SchemaError("", "", error.message) : error;
  }
}
