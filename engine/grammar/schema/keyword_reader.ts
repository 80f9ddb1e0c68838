// The keywords of one schema, with the types that JSON Schema requires of their values. A malformed
// one is an error with its place, never a guess.

import { Decimal, type JsonObject, type JsonValue } from "../json/mod.ts";
import { type Draft, SINCE } from "./keywords.ts";
import { SchemaError } from "./schema_error.ts";

/** Greater counts are reduced to this one. No value is that long. */
const MAX_COUNT = 2 ** 40;

/** The keywords of one schema. */
export class KeywordReader {
  readonly #locate: () => string;

  /**
   * @param locate gives the place of the schema
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

  /** An error at this schema. */
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
