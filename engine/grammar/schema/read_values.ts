// What the keywords of one schema say of each JSON type (JSON Schema Validation 6). Keywords say nothing
// of types that `type` leaves out, so there they are not even read.

import type { Decimal } from "../json/mod.ts";
import { PatternError } from "../language/mod.ts";
import type { Languages } from "../language/mod.ts";
import { NumberError } from "../number/mod.ts";
import * as numbers from "../number/mod.ts";
import type { StringType } from "../types.ts";
import type { KeywordReader } from "./keyword_reader.ts";
import { stringType } from "./strings.ts";

const TYPES = new Set(["null", "boolean", "integer", "number", "string", "array", "object"]);
/** Keywords by the JSON type that they are about, for the words of a contradiction. */
const ABOUT: Readonly<Record<string, readonly string[]>> = {
  number: [
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
  ],
  string: ["minLength", "maxLength", "pattern", "format"],
  array: ["minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"],
  object: ["minProperties", "maxProperties", "required", "additionalProperties", "propertyNames"],
};

/** The JSON types that a schema's `type` names; all without it. @throws {SchemaError} if it is malformed */
export function readTypes(keywords: KeywordReader): ReadonlySet<string> {
  const type = keywords.get("type");
  if (type === undefined) return TYPES;
  const names = typeof type === "string" ? [type] : keywords.texts("type");
  for (const name of names) {
    if (!TYPES.has(name)) throw keywords.error("type", `"${name}" is no type of JSON`);
  }
  return new Set(names);
}

/** The numbers that a schema allows. @throws {SchemaError} if a bound is malformed or unsupported */
export function readNumbers(
  keywords: KeywordReader,
  types: ReadonlySet<string>,
): numbers.NumberSet | undefined {
  if (!types.has("number") && !types.has("integer")) return undefined;
  try {
    let set = types.has("number") ? numbers.allNumbers() : numbers.integers();
    set = numbers.intersect(set, numbers.interval(readBounds(keywords)));
    const divisor = keywords.number("multipleOf");
    if (divisor !== undefined) set = numbers.intersect(set, numbers.multipleOf(divisor));
    return numbers.isEmptyNumbers(set) ? undefined : set;
  } catch (error) {
    if (error instanceof NumberError) throw keywords.error("multipleOf", error.message);
    throw error;
  }
}

function readBounds(keywords: KeywordReader): numbers.Interval {
  const [min, exclusiveMin] = readBound(keywords, "minimum", "exclusiveMinimum");
  const [max, exclusiveMax] = readBound(keywords, "maximum", "exclusiveMaximum");
  return {
    ...(min && { min }),
    ...(exclusiveMin && { exclusiveMin }),
    ...(max && { max }),
    ...(exclusiveMax && { exclusiveMax }),
  };
}

/** The bound, and the bound that is itself out. Draft 4 has a boolean that tells which a bound is. */
function readBound(
  keywords: KeywordReader,
  inclusive: string,
  exclusive: string,
): [Decimal | undefined, Decimal | undefined] {
  const bound = keywords.number(inclusive);
  const flag = keywords.get(exclusive);
  if (typeof flag !== "boolean") return [bound, keywords.number(exclusive)];
  return flag ? [undefined, bound] : [bound, undefined];
}

/** The strings that a schema allows. @throws {SchemaError} if its pattern is not supported */
export function readStrings(
  keywords: KeywordReader,
  languages: Languages,
  assertFormats: boolean,
): StringType | undefined {
  let language = languages.any();
  const pattern = keywords.text("pattern");
  if (pattern !== undefined) language = readPattern(keywords, languages, "pattern", pattern);
  const format = assertFormats ? keywords.get("format") : undefined;
  if (typeof format === "string") {
    const known = languages.format(format);
    if (known !== undefined) language = languages.intersect(language, known);
  }
  const max = keywords.count("maxLength", Infinity);
  return stringType(languages, language, keywords.count("minLength", 0), max);
}

/** The language of a regular expression. @throws {SchemaError} with the keyword if it is not supported */
export function readPattern(
  keywords: KeywordReader,
  languages: Languages,
  keyword: string,
  source: string,
): number {
  try {
    return languages.pattern(source);
  } catch (error) {
    if (error instanceof PatternError) throw keywords.error(keyword, error.message);
    throw error;
  }
}

/** Why a schema allows no value of a JSON type: all that it says of the type. */
export function contradiction(keywords: KeywordReader, type: string): [string, string] {
  const said = ABOUT[type === "integer" ? "number" : type]?.filter((name) => keywords.has(name)) ??
    [];
  const words = said.map((name) => `${name} ${brief(keywords.get(name))}`);
  return [said[0] ?? "type", `no ${type} satisfies ${words.join(" and ") || "it"}`];
}

function brief(value: unknown): string {
  const text = typeof value === "object" && value !== null && !(value instanceof Map) &&
      !Array.isArray(value)
    ? String(value)
    : JSON.stringify(value instanceof Map ? Object.fromEntries(value) : value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
