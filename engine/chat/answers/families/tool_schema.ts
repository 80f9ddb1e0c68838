// The facts of a tool's JSON Schema that families need to write arguments in other forms than JSON:
// its keys and the types of their values. What it does not understand counts as "anything"; the
// grammar's own compiler implements all of JSON Schema (draft 2020-12).

import { isJsonObject, numberText } from "../../../../tokenizer/mod.ts";
import {
  CONSTRAINTS,
  type JsonGrammar,
  type JsonType,
  type SchemaPointer,
  type StringGrammar,
} from "../../../grammar/mod.ts";
import type { CallableTool, UnheldKeyword } from "../types.ts";

/** Where a schema stands. */
const POINTER = Symbol("pointer");

/** A schema, and where it stands in that of its tool. */
export interface Schema extends Readonly<Record<string, unknown>> {
  readonly [POINTER]?: {
    readonly root: unknown;
    /** JSON pointer to it. */
    readonly pointer: string;
    /** JSON pointer to its keywords, which are elsewhere if it is a reference. */
    readonly inner: string;
  };
}

/** One key of an object. */
export interface Property {
  readonly key: string;
  readonly schema: Schema;
  readonly required: boolean;
}

const ALL_TYPES: readonly JsonType[] = ["null", "boolean", "number", "string", "array", "object"];

/** Most references that lead to other references. */
const MAX_STEPS = 16;

/** Most schemas that are examined for the types of one. */
const MAX_SCHEMAS = 200;

/** The schema of a tool's arguments. */
export function argumentsOf(tool: CallableTool): Schema {
  const root = isJsonObject(tool.parameters) ? tool.parameters : {};
  return resolve({ ...root, [POINTER]: { root, pointer: "", inner: "" } });
}

/** The tool with a name. An unknown tool may have any arguments. */
export function toolOf(name: string, tools: readonly CallableTool[]): CallableTool {
  return tools.find((tool) => tool.name === name) ?? { name, parameters: {} };
}

/** JSON of a tool's arguments. */
export function argumentsJson(tool: CallableTool): JsonGrammar {
  return toolJson(argumentsOf(tool), ["object"]);
}

/** JSON of a schema within that of a tool; if types are given, of its values of these. */
export function toolJson(schema: Schema, types?: readonly JsonType[]): JsonGrammar {
  return { type: "json", ...addressOf(schema), ...types && { types } };
}

/** The strings of a schema within that of a tool, as bare texts. */
export function toolStrings(schema: Schema): StringGrammar {
  return { type: "string", ...addressOf(schema) };
}

/** Where the grammar finds a schema. What of it is not enforced was told with the tool. */
function addressOf(schema: Schema): SchemaPointer {
  const { root = schema, pointer = "" } = schema[POINTER] ?? {};
  return { schema: root, at: pointer, isQuiet: true };
}

/** The JSON pointer, within the schema of a tool, to the keywords of a schema. */
export function pointerOf(schema: Schema): string {
  return schema[POINTER]?.inner ?? "";
}

/** Whether a schema tells nothing but the types of its values. */
export function tellsOnlyTypes(schema: Schema): boolean {
  return Object.keys(schema).every((key) => key === "type" || !CONSTRAINTS.has(key)) &&
    ![schema.type].flat().includes("integer");
}

/**
 * The keys that a schema declares, in its order, then those that it only requires; undefined if
 * there are neither.
 */
export function propertiesOf(schema: Schema): Property[] | undefined {
  const declared = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  if (!isJsonObject(schema.properties) && required.length === 0) return undefined;
  const names = new Set<unknown>(required);
  const others = [...names].filter((name) => typeof name === "string")
    .filter((key) => !Object.hasOwn(declared, key));
  return [...Object.keys(declared).filter((key) => declared[key] !== false), ...others]
    .map((key) => ({ key, schema: propertyOf(schema, key), required: names.has(key) }));
}

/** The schema of one key's value. */
export function propertyOf(schema: Schema, key: string): Schema {
  const { properties } = schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) {
    return part(schema, ["properties", key], properties[key]);
  }
  return othersOf(schema);
}

/** The schema of the values whose keys are not declared. */
export function othersOf(schema: Schema): Schema {
  return part(schema, ["additionalProperties"], schema.additionalProperties);
}

/** The schema of a list's items. */
export function itemsOf(schema: Schema): Schema {
  return part(schema, ["items"], schema.items);
}

/** The fewest and most items of a schema's lists. */
export function countsOf({ minItems, maxItems }: Schema): { min: number; max: number } {
  const isCount = (value: unknown) => typeof value === "number" && Number.isSafeInteger(value);
  const min = isCount(minItems) ? minItems as number : 0;
  return { min, max: isCount(maxItems) ? Math.max(maxItems as number, min) : Infinity };
}

/**
 * The types of a schema's values: at least one.
 *
 * @param budget schemas to examine, shared with nested ones, because references may be circular
 */
export function typesOf(schema: Schema, budget = { left: MAX_SCHEMAS }): ReadonlySet<JsonType> {
  const { type, enum: values, const: value, anyOf, oneOf, allOf } = schema;
  let types: JsonType[] = [...ALL_TYPES];
  const allow = (allowed: ReadonlySet<JsonType>) => {
    types = types.filter((one) => allowed.has(one));
  };
  if (typeof type === "string" || Array.isArray(type)) {
    allow(new Set([type].flat().map((one) => one === "integer" ? "number" : one)));
  }
  if (Array.isArray(values)) allow(new Set(values.map(jsonTypeOf)));
  if (value !== undefined) allow(new Set([jsonTypeOf(value)]));
  if (budget.left-- <= 0) return new Set(types);
  const inner = (one: unknown) => typesOf(part(schema, [], one), budget);
  for (const options of [anyOf, oneOf]) {
    if (Array.isArray(options)) allow(new Set(options.flatMap((one) => [...inner(one)])));
  }
  if (Array.isArray(allOf)) allOf.forEach((one) => allow(inner(one)));
  return new Set(types.length > 0 ? types : ALL_TYPES);
}

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return numberText(value) === undefined ? typeof value as JsonType : "number";
}

/** A schema within another. @param path keys that lead from the one to the other */
function part(outer: Schema, path: readonly string[], value: unknown): Schema {
  if (!isJsonObject(value)) return {};
  const { root, inner = "" } = outer[POINTER] ?? {};
  const steps = path.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  const pointer = inner + steps.join("");
  return resolve({ ...value, [POINTER]: { root, pointer, inner: pointer } });
}

/** The target of a schema that is only a reference into its document. */
function resolve(schema: Schema, steps = MAX_STEPS): Schema {
  const { $ref, ...siblings } = schema;
  const match = typeof $ref === "string" ? /^#?((?:\/[^]*)?)$/.exec($ref) : undefined;
  if (!match || steps === 0) return schema;
  const { root, pointer = "" } = schema[POINTER] ?? {};
  const inner = decode(match[1]!);
  const target = follow(root, inner);
  if (!isJsonObject(target)) return schema;
  const isAlone = Object.keys(siblings).every((key) => key === "type" || !CONSTRAINTS.has(key));
  if (!isAlone) return { ...siblings, allOf: [...[schema.allOf ?? []].flat(), target] };
  return resolve({ ...siblings, ...target, [POINTER]: { root, pointer, inner } }, steps - 1);
}

/** What a JSON pointer leads to. */
function follow(root: unknown, pointer: string): unknown {
  return pointer.split("/").slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((value, key) => {
      const isThere = typeof value === "object" && value !== null && Object.hasOwn(value, key);
      return isThere ? (value as Record<string, unknown>)[key] : undefined;
    }, root);
}

/** A JSON pointer of a URI's fragment (RFC 6901, section 6). */
function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

// What of a tool's schema the grammar of a family does not hold that writes arguments one by one
// instead of as one JSON text: keywords about several of them at once. The values of arguments are
// held as far as they are texts.

/** Keywords about a value of any type, which may tell something of its members. */
const ANY_TYPE = [
  ...["$dynamicRef", "$recursiveRef", "$ref", "allOf", "anyOf", "const", "enum", "if", "not"],
  "oneOf",
];

const OF_OBJECTS = [
  ...["dependencies", "dependentRequired", "dependentSchemas", "maxProperties", "minProperties"],
  ...["patternProperties", "propertyNames"],
];

const OF_LISTS = ["contains", "prefixItems", "unevaluatedItems", "uniqueItems"];

/** Most nesting of schemas that are examined. */
const MAX_DEPTH = 20;

/** What is not held of an object whose members are marked, and held, one by one. */
export function unheldOfObject(schema: Schema): UnheldKeyword[] {
  // If keys are declared, no others are written.
  const others = propertiesOf(schema) ? [] : ["unevaluatedProperties"];
  return keywordsOf(schema, [...ANY_TYPE, ...OF_OBJECTS, ...others]);
}

/**
 * What is not held of a value, objects and lists in which are marked, too.
 *
 * @param depth the deepest objects and lists that are held, counted from this value
 */
export function unheldWithin(schema: Schema, depth: number): UnheldKeyword[] {
  const found = new Map<string, UnheldKeyword>();
  const walk = (schema: Schema, level: number) => {
    const types = typesOf(schema);
    const own: UnheldKeyword[] = [];
    if (types.has("object")) {
      const properties = propertiesOf(schema);
      const isHeld = properties && level <= depth;
      own.push(...unheldOfObject(schema));
      own.push(...keywordsOf(schema, isHeld ? [] : ["properties", "additionalProperties"]));
      if (level < MAX_DEPTH && isHeld) properties.forEach((one) => walk(one.schema, level + 1));
    }
    if (types.has("array")) {
      const isHeld = level <= depth && (schema.items === undefined || isJsonObject(schema.items));
      own.push(...keywordsOf(schema, [...ANY_TYPE, ...OF_LISTS, ...isHeld ? [] : ["items"]]));
      if (level < MAX_DEPTH && isHeld) walk(itemsOf(schema), level + 1);
    }
    for (const one of own) found.set(`${one.pointer} ${one.keyword}`, one);
  };
  walk(schema, 0);
  return [...found.values()];
}

function keywordsOf(schema: Schema, keywords: readonly string[]): UnheldKeyword[] {
  const pointer = pointerOf(schema);
  return keywords.filter((keyword) => schema[keyword] !== undefined)
    .map((keyword) => ({ pointer, keyword }));
}
