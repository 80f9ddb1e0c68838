// A schema as whoever asks for it gives it: a plain value, or JSON text.

import { fromPlain, JsonError, type JsonValue, parseJson } from "../json/mod.ts";
import { SchemaError } from "./schema_error.ts";

/** Longest schema as text, in UTF-16 units. */
const MAX_TEXT = 5_000_000;

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
