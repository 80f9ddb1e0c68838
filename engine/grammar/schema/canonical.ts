// Values as canonical texts, which are equal if the values are, whatever the order of keys and the
// spelling of numbers. And the few scalars of a shape, as such texts.

import { Decimal, type JsonValue } from "../json/mod.ts";
import type { Languages } from "../language/mod.ts";
import { finiteNumbers } from "../number/mod.ts";
import type { Shape } from "./shape.ts";

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
