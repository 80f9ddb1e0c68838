// Arguments that are plain text between marks: the value of a text by the tool's schema, and the
// grammar of such texts.

import { choice, type Grammar, literal, textWithout } from "../../../grammar/mod.ts";
import { parseExactJson } from "../../../../tokenizer/mod.ts";
import { readLiteral } from "./literals.ts";
import {
  type JsonType,
  jsonTypeOf,
  listedTexts,
  type Schema,
  toolJson,
  typesOf,
} from "./tool_schema.ts";

/**
 * The value of a text: the text itself if the schema wants a string, else its JSON, or the nearest
 * interpretation.
 */
export function valueOfText(text: string, schema: Schema): unknown {
  const types = typesOf(schema);
  if (types.has("string") && types.size === 1) return text;
  let value = parseJson(text);
  const mayBeLiteral = !types.has("string") || /^\s*[[{]/.test(text);
  if (value === undefined && mayBeLiteral) value = readLiteral(text);
  return value !== undefined && types.has(jsonTypeOf(value)) ? value : text;
}

/** The texts for the values of a schema, without the mark that ends them. */
export function textGrammar(schema: Schema, closing: string): Grammar {
  return typesOf(schema).has("string") ? stringGrammar(schema, closing) : toolJson(schema);
}

/** The texts of strings. */
export function stringGrammar(schema: Schema, closing: string): Grammar {
  const isText = typesOf(schema).size === 1;
  const texts = isText ? listedTexts(schema) : undefined;
  return texts?.length ? choice(...texts.map(literal)) : textWithout(closing);
}

/** JSON of those values of a schema that have one of these types. */
export function jsonOfTypes(schema: Schema, types: readonly JsonType[]): Grammar {
  const { type } = schema;
  const isInteger = type === "integer" || Array.isArray(type) && type.includes("integer");
  const wanted = types.map((one) => one === "number" && isInteger ? "integer" : one);
  return toolJson({ ...schema, type: wanted });
}

/** The JSON value of a text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
