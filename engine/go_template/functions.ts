// The functions that a Go template can call: those of text/template and those that Ollama adds.
// `and` and `or` are in interpreter.ts, because they leave arguments unevaluated.

import {
  countItems,
  countRead,
  countSteps,
  countText,
  joinTexts,
  plain,
  taintLike,
  type Text,
} from "../../tokenizer/mod.ts";
import { escapeHtml, formatValue, print, printFormatted } from "./format.ts";
import { writeJson } from "./json.ts";
import { bare, Float64, type GoValue, isText, isTrue, Struct } from "./values.ts";

/** A function from values to a value. Errors: TypeError where Go has an error. */
export type GoFunction = (...values: GoValue[]) => GoValue;

const ASCENDING: Readonly<Record<string, (order: number) => boolean>> = {
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
};

/** The functions by name, without js, urlquery and call. @param clock the time of currentDate */
export function createFunctions(clock: () => Date): ReadonlyMap<string, GoFunction> {
  const date = (daysAgo: number) => {
    const now = clock();
    const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo);
    const pad = (value: number, width: number) => String(value).padStart(width, "0");
    return `${pad(day.getFullYear(), 4)}-${pad(day.getMonth() + 1, 2)}-${pad(day.getDate(), 2)}`;
  };
  const orders = Object.entries(ASCENDING).map(([name, holds]): [string, GoFunction] => [
    name,
    (left = null, right = null) => holds(order(left, right)),
  ]);
  return new Map<string, GoFunction>([
    ...orders,
    ["eq", (first = null, ...others) => others.some((other) => areEqual(first, other))],
    ["ne", (left = null, right = null) => !areEqual(left, right)],
    ["not", (value = null) => !isTrue(value)],
    ["len", (value = null) => lengthOf(value)],
    ["index", (value = null, ...keys) => keys.reduce(itemOf, value)],
    ["slice", slice],
    ["print", (...values) => print(values)],
    ["println", (...values) => joinTexts([joinTexts(values.map(formatValue), " "), "\n"])],
    ["printf", (format = null, ...values) => printFormatted(formatValue(format), values)],
    ["html", (...values) => escapeHtml(print(values))],
    ["json", (value = null) => writeJson(value)],
    ["currentDate", () => date(0)],
    ["yesterdayDate", () => date(1)],
    ["toTypeScriptType", (value = null) => typeScriptType(value)],
  ]);
}

function order(left: GoValue, right: GoValue): number {
  const [a, b] = [comparable(left), comparable(right)];
  if (typeof a !== typeof b || typeof a === "boolean" || a === null || b === null) {
    throw new TypeError("incompatible types for comparison");
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

function areEqual(left: GoValue, right: GoValue): boolean {
  const [a, b] = [comparable(left), comparable(right)];
  if (a !== null && b !== null && typeof a !== typeof b) {
    throw new TypeError("incompatible types for comparison");
  }
  return a === b;
}

function comparable(value: GoValue): null | boolean | number | string {
  const simple = bare(value);
  countSteps();
  if (simple instanceof Float64) return simple.value;
  if (isText(simple)) {
    countRead(simple.length);
    return plain(simple);
  }
  if (typeof simple === "object" && simple !== null) throw new TypeError("non-comparable type");
  return simple;
}

function bytesOf(text: Text): Uint8Array {
  countText(3 * text.length);
  return new TextEncoder().encode(plain(text));
}

function lengthOf(value: GoValue): number {
  const simple = bare(value);
  if (isText(simple)) return bytesOf(simple).length;
  if (Array.isArray(simple)) return simple.length;
  if (simple instanceof Map) return simple.size;
  throw new TypeError("len of a value that has none");
}

function itemOf(value: GoValue, key: GoValue): GoValue {
  const simple = bare(value);
  if (simple instanceof Map) return simple.get(plain(formatValue(key))) ?? null;
  if (!Array.isArray(simple) && !isText(simple)) {
    throw new TypeError("index of a value that has no items");
  }
  const items: ArrayLike<GoValue> = isText(simple) ? bytesOf(simple) : simple;
  const item = items[position(key, items.length - 1)];
  return item === undefined ? null : item;
}

function position(value: GoValue, highest: number): number {
  if (typeof value === "number" && value >= 0 && value <= highest) return value;
  throw new TypeError(`index out of range: ${plain(formatValue(value)).slice(0, 100)}`);
}

function slice(value: GoValue = null, ...bounds: GoValue[]): GoValue {
  const simple = bare(value);
  if (!Array.isArray(simple) && !isText(simple)) {
    throw new TypeError("slice of a value that has no items");
  }
  const items = isText(simple) ? bytesOf(simple) : simple;
  const end = position(bounds[1] ?? items.length, items.length);
  const start = position(bounds[0] ?? 0, end);
  countItems(end - start);
  if (!isText(simple)) return simple.slice(start, end);
  return taintLike(new TextDecoder().decode(items.slice(start, end) as Uint8Array), simple);
}

const TYPESCRIPT_TYPES: ReadonlyMap<string, string> = new Map([
  ["string", "string"],
  ["number", "number"],
  ["integer", "number"],
  ["boolean", "boolean"],
  ["array", "any[]"],
  ["object", "Record<string, any>"],
  ["null", "null"],
]);

/** TypeScript's type for a property of a tool's parameters. */
function typeScriptType(value: GoValue): string {
  countSteps();
  const property = bare(value);
  if (!(property instanceof Struct)) return "any";
  const alternatives = bare(property.get("AnyOf") ?? null);
  if (Array.isArray(alternatives) && alternatives.length > 0) {
    return alternatives.map(typeScriptType).join(" | ");
  }
  const types = bare(property.get("Type") ?? null);
  if (!Array.isArray(types) || types.length === 0) return "any";
  return types.map((type) => TYPESCRIPT_TYPES.get(plain(formatValue(type))) ?? "any").join(" | ");
}
