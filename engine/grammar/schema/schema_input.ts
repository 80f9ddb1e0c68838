// A schema as it is given, a plain value or JSON text, and the options for what JSON Schema leaves
// open.

import { Decimal, fromPlain, JsonError, type JsonValue, parseJson } from "../json/mod.ts";
import type { Languages } from "../language/mod.ts";
import { finiteNumbers } from "../number/mod.ts";
import { SchemaError } from "./schema_error.ts";
import type { Shape } from "./shape.ts";

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

// Values as canonical texts, which are equal if the values are, whatever the order of keys and the
// spelling of numbers. And the few scalars of a shape, as such texts.

/** Canonical texts of values; undefined if the values are many, or not easily found. */
export type FewValues = ReadonlySet<string> | undefined;

/** One text per value: keys sorted, numbers by value. */
export function canonical(value: JsonValue): string {
  return textOf(value, (number) => number.toString());
}

/** One text per value as it is written: keys sorted, but 1 and 1.0 differ. */
export function canonicalAsWritten(value: JsonValue): string {
  return textOf(value, (number) => number.written ?? number.toString());
}

function textOf(value: JsonValue, ofNumber: (number: Decimal) => string): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Decimal) return ofNumber(value);
  if (value instanceof Map) {
    const members = [...value].map(([key, member]) =>
      `${JSON.stringify(key)}:${textOf(member, ofNumber)}`
    );
    return `{${members.sort().join(",")}}`;
  }
  return `[${(value as readonly JsonValue[]).map((item) => textOf(item, ofNumber)).join(",")}]`;
}

/**
 * The strings, numbers and booleans of a shape without arrays and objects, at most `limit` of a
 * kind.
 */
export function fewScalars(languages: Languages, shape: Shape, limit: number): FewValues {
  const { strings, numbers } = shape;
  const texts = strings ? languages.finite(strings.language, limit) : [];
  const values = numbers ? finiteNumbers(numbers, limit) : [];
  if (texts === undefined || values === undefined) return undefined;
  const fitting = texts.filter((text) => {
    const length = [...text].length;
    return length >= strings!.min && length <= strings!.max;
  });
  return new Set([
    ...(shape.null ? ["null"] : []),
    ...[...shape.booleans, ...values, ...fitting].map(canonical),
  ]);
}
