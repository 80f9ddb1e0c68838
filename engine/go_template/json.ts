// Values as Go's encoding/json writes them: no spaces, and the characters of HTML escaped.

import { bare, Float64, type GoValue, isTrue, Stringer, Struct } from "./values.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** The value as JSON. */
export function writeJson(value: GoValue): string {
  if (value instanceof Stringer) return writeJson(value.json);
  if (value instanceof Float64) return JSON.stringify(value.value);
  if (typeof value === "string") return writeText(value);
  if (Array.isArray(value)) return `[${value.map(writeJson).join(",")}]`;
  if (value instanceof Map) {
    return `{${Array.from(value, ([key, item]) => writeMember(key, item)).join(",")}}`;
  }
  if (value instanceof Struct) {
    const shown = value.fields.filter((field) => !field.omitsEmpty || !isEmpty(field.value));
    return `{${shown.map((field) => writeMember(field.key, field.value)).join(",")}}`;
  }
  return JSON.stringify(value);
}

function writeMember(key: string, value: GoValue): string {
  return `${writeText(key)}:${writeJson(value)}`;
}

function writeText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(/[<>&\u2028\u2029]/g, (c) => ESCAPES[c]!);
}

function isEmpty(value: GoValue): boolean {
  return !(bare(value) instanceof Struct) && !isTrue(value);
}
