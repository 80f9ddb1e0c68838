// A schema as it is given, a plain value or JSON text, and how it is read where JSON Schema leaves that
// open. Says nothing of how documents are written.

import { fromPlain, JsonError, type JsonValue, parseJson } from "../json/mod.ts";
import { SchemaError } from "./schema_error.ts";

/** Longest schema as text, in UTF-16 units. */
const MAX_TEXT = 5_000_000;

/** How a schema is read. */
export interface SchemaOptions {
  /**
   * Whether `format` binds: all formats that are known, which is the default; "standard", those of JSON
   * Schema, but not those that only OpenAPI and ajv-formats have; or none.
   */
  readonly formats?: boolean | "standard";
  /**
   * Whether objects may have keys that nothing is said of, as JSON Schema has it, which is the default;
   * or only where the schema declares none, which is what those mean who fill schemas in.
   */
  readonly openObjects?: boolean;
}

/** The JSON value of a schema. @throws {SchemaError} for what is no JSON, or too large */
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
