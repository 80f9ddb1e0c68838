// How the schema tests ask: which of some values a schema's types allow, and how a schema is refused.

import { assertEquals, assertThrows } from "@std/assert";
import { fromPlain } from "../../../../engine/grammar/json/mod.ts";
import { readSchema, SchemaError } from "../../../../engine/grammar/schema/mod.ts";
import { accepts } from "./accepts.ts";

/** Fails unless a schema allows the first values and none of the second. */
export function assertAllows(schema: unknown, valid: unknown[], invalid: unknown[]): void {
  const { types, languages } = readSchema(fromPlain(schema));
  const allowed = (value: unknown) => accepts(types, languages, fromPlain(value));
  for (const value of valid) {
    assertEquals(allowed(value), true, `${JSON.stringify(value)} must be allowed`);
  }
  for (const value of invalid) {
    assertEquals(allowed(value), false, `${JSON.stringify(value)} must not be allowed`);
  }
}

/** Fails unless a schema is refused at a place, for a keyword. Returns the message. */
export function assertRefuses(schema: unknown, pointer: string, keyword: string): string {
  const error = assertThrows(() => readSchema(fromPlain(schema)), SchemaError);
  assertEquals([error.pointer, error.keyword], [pointer, keyword], error.message);
  return error.message;
}
