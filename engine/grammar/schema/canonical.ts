// Values as texts that are equal where the values are, whatever the order of keys and the spelling of numbers.

import { Decimal, type JsonValue } from "../json/mod.ts";

/** One text per value: keys sorted, numbers by value. */
export function canonical(value: JsonValue): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Decimal) return value.toString();
  if (value instanceof Map) {
    const members = [...value].map(([key, member]) =>
      `${JSON.stringify(key)}:${canonical(member)}`
    );
    return `{${members.sort().join(",")}}`;
  }
  return `[${(value as readonly JsonValue[]).map(canonical).join(",")}]`;
}
