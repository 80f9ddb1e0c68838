// The keywords for null, booleans, numbers and strings of one schema (JSON Schema Validation 6) as
// types. Keywords for a JSON type that `type` does not allow have no effect and are not read.

import { Decimal, type JsonValue } from "../json/mod.ts";
import { type Languages, PatternError } from "../language/mod.ts";
import * as numbers from "../number/mod.ts";
import { NumberError } from "../number/mod.ts";
import type { StringType } from "../types.ts";
import { canonical, type SchemaOptions } from "./schema_input.ts";
import type { KeywordReader } from "./keyword_reader.ts";
import { BITS, type JsonTypes } from "./shape.ts";
import { SchemaError, type SchemaWarning } from "./schema_error.ts";
import { stringType } from "./strings.ts";

const TYPES = new Set(["null", "boolean", "integer", "number", "string", "array", "object"]);
/** Keywords by the JSON type that they restrict, for messages about contradictions. */
const ABOUT: Readonly<Record<string, readonly string[]>> = {
  number: ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "format"],
  string: ["minLength", "maxLength", "pattern", "format"],
  array: ["minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"],
  object: ["minProperties", "maxProperties", "required", "additionalProperties", "propertyNames"],
};
/** Keywords that restrict all JSON types. */
const ABOUT_ALL = ["const", "enum", "not", "anyOf", "oneOf", "if", "then", "else"];

/** The formats of JSON Schema (Validation 7.3). */
const STANDARD_FORMATS = new Set([
  ...["date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname"],
  ...["ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template"],
  ...["json-pointer", "relative-json-pointer", "regex"],
]);

/**
 * The JSON types that a schema's `type` names; all if it has none. @throws {SchemaError} if it is
 * malformed
 */
export function readTypes(keywords: KeywordReader): ReadonlySet<string> {
  const type = keywords.get("type");
  if (type === undefined) return TYPES;
  const names = typeof type === "string" ? [type] : keywords.texts("type");
  if (names.length === 0) throw keywords.error("type", "it lists no type");
  for (const name of names) {
    if (TYPES.has(name)) continue;
    throw keywords.error("type", `"${name}" is none of ${[...TYPES].join(", ")}`);
  }
  return new Set(names);
}

/** The numbers that a schema allows. @throws {SchemaError} if a bound is malformed or unsupported */
export function readNumbers(
  keywords: KeywordReader,
  types: ReadonlySet<string>,
  formats: SchemaOptions["formats"],
): numbers.NumberSet | undefined {
  if (!types.has("number") && !types.has("integer")) return undefined;
  try {
    let set = types.has("number") ? numbers.allNumbers() : numbers.integers();
    set = numbers.intersect(set, numbers.interval(readBounds(keywords)));
    const divisor = keywords.number("multipleOf");
    if (divisor !== undefined) {
      if (divisor.sign <= 0) throw keywords.error("multipleOf", "it must be greater than 0");
      set = numbers.intersect(set, numbers.multipleOf(divisor));
    }
    const known = NUMBER_FORMATS.get(formatOf(keywords, formats) ?? "");
    if (known !== undefined) set = numbers.intersect(set, known);
    if (numbers.isEmptyNumbers(set)) return undefined;
    numbers.checkSpelling(set);
    return set;
  } catch (error) {
    if (!(error instanceof NumberError)) throw error;
    const [keyword] = contradiction(keywords, "number");
    throw keywords.error(keyword, error.message);
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

/**
 * The inclusive and the exclusive bound. In draft 4 the exclusive keyword is a boolean that says
 * how the other is meant.
 */
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
  formats: SchemaOptions["formats"],
): StringType | undefined {
  let language = languages.any();
  const pattern = keywords.text("pattern");
  if (pattern !== undefined) language = readPattern(keywords, languages, pattern);
  const known = languages.format(formatOf(keywords, formats) ?? "");
  if (known !== undefined) language = languages.intersect(language, known);
  const max = keywords.count("maxLength", Infinity);
  return stringType(languages, language, keywords.count("minLength", 0), max);
}

/** The name of the format, if it is enforced. */
function formatOf(
  keywords: KeywordReader,
  formats: SchemaOptions["formats"],
): string | undefined {
  const format = keywords.get("format");
  if (!formats || typeof format !== "string") return undefined;
  return formats === "standard" && !STANDARD_FORMATS.has(format) ? undefined : format;
}

/** The JSON types of which the format of a schema says something. */
export function formatTypes(
  keywords: KeywordReader,
  languages: Languages,
  formats: SchemaOptions["formats"],
): JsonTypes {
  const name = formatOf(keywords, formats);
  if (name === undefined) return 0;
  return (NUMBER_FORMATS.has(name) ? BITS.number : 0) |
    (languages.format(name) === undefined ? 0 : BITS.string);
}

/** The warning about a format that nobody defines, which JSON Schema takes as an annotation. */
export function formatWarning(
  keywords: KeywordReader,
  languages: Languages,
  formats: SchemaOptions["formats"],
): SchemaWarning | undefined {
  const name = formats === true ? formatOf(keywords, formats) : undefined;
  if (name === undefined || formatTypes(keywords, languages, formats) !== 0) return undefined;
  const reason = `no format ${brief(name)} is known, so it restricts nothing; a "pattern" would`;
  return { pointer: keywords.pointer, keyword: "format", reason };
}

/** The language of a `pattern`. @throws {SchemaError} if it is not supported */
function readPattern(keywords: KeywordReader, languages: Languages, source: string): number {
  return patternAt(keywords.pointer, "pattern", languages, source);
}

/**
 * The language of one of the `patternProperties`. @throws {SchemaError} at that one, so that the
 * others can do without it, if it is not supported
 */
export function readKeyPattern(
  keywords: KeywordReader,
  languages: Languages,
  source: string,
): number {
  return patternAt(`${keywords.pointer}/patternProperties`, source, languages, source);
}

function patternAt(pointer: string, member: string, languages: Languages, source: string): number {
  try {
    return languages.pattern(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const column = error.column === undefined ? "" : `column ${error.column} of `;
    throw new SchemaError(pointer, member, `${column}${brief(source)}: ${error.reason}`);
  }
}

/**
 * Why a schema allows no value: the keyword at fault and its values. @param type undefined: any
 * type
 */
export function contradiction(keywords: KeywordReader, type?: string): [string, string] {
  const about = ABOUT[type === "integer" ? "number" : type ?? ""] ?? [];
  const said = [...about, ...ABOUT_ALL].filter((name) => keywords.has(name));
  const words = said.map((name) => `${name} ${brief(keywords.get(name)!)}`);
  const keyword = said[0] ?? (type === undefined ? "" : "type");
  return [keyword, `no ${type ?? "value"} satisfies ${words.join(" and ") || "it"}`];
}

function brief(value: JsonValue): string {
  const text = canonical(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

const NUMBER_FORMATS: ReadonlyMap<string, numbers.NumberSet> = new Map([
  ...["decimal", "decimal128", "double", "float", "time-delta"]
    .map((name) => [name, numbers.allNumbers()] as const),
  ...[8, 16, 32, 64, 128].map((bits) =>
    [`int${bits}`, integers(-(2n ** (BigInt(bits) - 1n)), bits)] as const
  ),
  ...[8, 16, 32, 64, 128].map((bits) => [`uint${bits}`, integers(0n, bits)] as const),
  ["int", integers(-(2n ** 63n), 64)],
  ["uint", integers(0n, 64)],
  ["double-int", numbers.intersect(numbers.integers(), between(1n - 2n ** 53n, 2n ** 53n))],
  ["unixtime", numbers.integers()],
]);

/** The integers of a number of bits, from a least one on. */
function integers(min: bigint, bits: number): numbers.NumberSet {
  return numbers.intersect(numbers.integers(), between(min, min + 2n ** BigInt(bits)));
}

function between(min: bigint, exclusiveMax: bigint): numbers.NumberSet {
  return numbers.interval({ min: Decimal.from(min), exclusiveMax: Decimal.from(exclusiveMax) });
}
