// JSON values that keep what JSON.parse loses: the order of keys, keys such as __proto__, and the
// exact values of numbers. Made from a text by parseJson, or from plain values here.

import { numberText } from "../../../tokenizer/mod.ts";
import { pollCancellation } from "../../cancellation.ts";
import { Decimal } from "./decimal.ts";
import { JsonError } from "./errors.ts";

/** A JSON value. Objects keep the order of their keys. */
export type JsonValue = null | boolean | string | Decimal | JsonArray | JsonObject;

/** A JSON array. */
export type JsonArray = readonly JsonValue[];

/** A JSON object. */
export type JsonObject = ReadonlyMap<string, JsonValue>;

/** Deepest nesting. Deeper values are refused, so that functions can recurse over values. */
export const MAX_DEPTH = 512;
/**
 * Most values, ten times as many as the largest schemas in use have. More would take over a second;
 * and a plain value can contain another one several times, so that its size grows exponentially.
 */
export const MAX_VALUES = 160_000;

/**
 * The JSON value of a plain value, as JSON.stringify sees it: members that are undefined are left
 * out, undefined items are null. Numbers that keep their text (JsonNumber) and bigints are exact.
 *
 * @throws JsonError for functions, symbols, numbers that are not finite, values that are nested more
 * than 512 deep, such as cyclic ones, and more than 160,000 values
 */
export function fromPlain(value: unknown): JsonValue {
  return convert(value, 0, { left: MAX_VALUES });
}

function convert(value: unknown, depth: number, values: { left: number }): JsonValue {
  if (depth > MAX_DEPTH) {
    throw new JsonError(`Read a plain value: it is nested more than ${MAX_DEPTH} deep`);
  }
  pollCancellation();
  if (values.left-- === 0) {
    throw new JsonError(`Read a plain value: there are more than ${MAX_VALUES} values in it`);
  }
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (value instanceof Decimal) return value;
  const number = numberText(value);
  if (number !== undefined) return Decimal.parse(number);
  if (Array.isArray(value)) {
    return Array.from(value, (item) => convert(item ?? null, depth + 1, values));
  }
  if (typeof value === "object") {
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    return new Map(
      entries.filter(([, member]) => member !== undefined)
        .map(([key, member]) => [String(key), convert(member, depth + 1, values)]),
    );
  }
  throw new JsonError(`Read a plain value: ${String(value)} is no JSON`);
}
