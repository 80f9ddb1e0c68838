// Small things that the builders of requests share. Pure.

import { RequestError } from "../../engine/mod.ts";

/** The members that are there. */
export function given(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/**
 * A JSON Schema as a value.
 *
 * @throws {RequestError} if it is a text that is no JSON
 */
export function schemaOf({ schema }: { schema: unknown }): unknown {
  if (typeof schema !== "string") return schema;
  try {
    return JSON.parse(schema);
  } catch (error) {
    throw new RequestError("Cannot read the JSON Schema of the format: it is no JSON", {
      cause: error,
    });
  }
}
