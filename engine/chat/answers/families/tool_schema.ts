// The facts of a tool's JSON Schema that families need to write arguments in other forms than JSON:
// its keys and the types of their values. What it does not understand counts as "anything"; the
// grammar's own compiler implements all of JSON Schema (draft 2020-12).

import { isJsonObject, numberText } from "../../../../tokenizer/mod.ts";
import { json, type JsonGrammar } from "../../../grammar/mod.ts";
import type { CallableTool } from "../types.ts";

/** A schema with the definitions that it refers to. */
export type Schema = Readonly<Record<string, unknown>>;

/** Types of JSON values. Integers are numbers. */
export type JsonType = "null" | "boolean" | "number" | "string" | "array" | "object";

/** One key of an object. */
export interface Property {
  readonly key: string;
  readonly schema: Schema;
  readonly required: boolean;
}

const ALL_TYPES: readonly JsonType[] = ["null", "boolean", "number", "string", "array", "object"];

const DEFINITIONS = ["$defs", "definitions"] as const;

/** Most references that lead to other references. */
const MAX_STEPS = 16;

/** Most schemas that are examined for the types of one. */
const MAX_SCHEMAS = 200;

/** The schema of a tool's arguments. */
export function argumentsOf(tool: CallableTool): Schema {
  return resolve(isJsonObject(tool.parameters) ? tool.parameters : {});
}

/** The tool with a name. An unknown tool may have any arguments. */
export function toolOf(name: string, tools: readonly CallableTool[]): CallableTool {
  return tools.find((tool) => tool.name === name) ?? { name, parameters: {} };
}

/** JSON of a tool's schema, or of one within it. What is not enforced was told with the tool. */
export function toolJson(schema: Schema): JsonGrammar {
  return { ...json(schema), isQuiet: true };
}

/** The keys that a schema declares, in its order; undefined if it declares none. */
export function propertiesOf(schema: Schema): Property[] | undefined {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return undefined;
  const names = new Set<unknown>(Array.isArray(required) ? required : []);
  return Object.entries(properties).map(([key, value]) => ({
    key,
    schema: part(schema, value),
    required: names.has(key),
  }));
}

/** The schema of one key's value. */
export function propertyOf(schema: Schema, key: string): Schema {
  const { properties } = schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) {
    return part(schema, properties[key]);
  }
  return part(schema, schema.additionalProperties);
}

/** The schema of a list's items. */
export function itemsOf(schema: Schema): Schema {
  return part(schema, schema.items);
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
  const inner = (one: unknown) => typesOf(part(schema, one), budget);
  for (const options of [anyOf, oneOf]) {
    if (Array.isArray(options)) allow(new Set(options.flatMap((one) => [...inner(one)])));
  }
  if (Array.isArray(allOf)) allOf.forEach((one) => allow(inner(one)));
  return new Set(types.length > 0 ? types : ALL_TYPES);
}

/** The texts that a schema of strings allows, if it lists them. */
export function listedTexts(schema: Schema): string[] | undefined {
  const values = schema.const !== undefined ? [schema.const] : schema.enum;
  if (!Array.isArray(values)) return undefined;
  return values.filter((value) => typeof value === "string");
}

/** The type of a JSON value. */
export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return numberText(value) === undefined ? typeof value as JsonType : "number";
}

/** A schema within another, with the definitions of the other. */
function part(root: Schema, value: unknown): Schema {
  const schema: Record<string, unknown> = isJsonObject(value) ? { ...value } : {};
  for (const key of DEFINITIONS) {
    if (schema[key] === undefined && root[key] !== undefined) schema[key] = root[key];
  }
  return resolve(schema);
}

/** The target of a schema that is only a reference to a definition. */
function resolve(schema: Schema, steps = MAX_STEPS): Schema {
  const { $ref } = schema;
  const match = typeof $ref === "string" && /^#?\/(\$defs|definitions)\/([^/]*)$/.exec($ref);
  if (!match || steps === 0) return schema;
  const [, group = "", name = ""] = match;
  const definitions = schema[group];
  const key = decodePointer(name);
  const target = isJsonObject(definitions) && Object.hasOwn(definitions, key) && definitions[key];
  if (!isJsonObject(target)) return schema;
  const { $ref: _, ...siblings } = schema;
  return resolve({ ...siblings, ...target }, steps - 1);
}

/** A token of a JSON Pointer in a URI fragment (RFC 6901, section 6). */
function decodePointer(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return token;
  }
}
