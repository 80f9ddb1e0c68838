// Arguments that are plain text between marks: the value of a text by the tool's schema, and the
// grammar of such texts.

import { both, choice, type Grammar, type JsonType } from "../../../grammar/mod.ts";
import { parseExactJson } from "../../../../tokenizer/mod.ts";
import { readLiteral } from "./literals.ts";
import {
  jsonTypeOf,
  type Schema,
  tellsOnlyTypes,
  toolJson,
  toolStrings,
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

/**
 * The texts for the values of a schema.
 *
 * @param text the texts that may stand there at all, such as those without the mark that ends them
 * @param types the types of values that are written as text
 */
export function textGrammar(
  schema: Schema,
  text: Grammar,
  types: ReadonlySet<JsonType> = typesOf(schema),
): Grammar {
  if (!types.has("string")) return toolJson(schema, [...types]);
  const strings = stringGrammar(schema, text);
  const all = typesOf(schema);
  // Whatever the text is taken for, the schema allows it.
  if (all.size === 1 || tellsOnlyTypes(schema)) return strings;
  const bare: Grammar = { type: "pattern", source: `^(?!${jsonTexts(all).join("|")})` };
  return choice(toolJson(schema, [...types]), both(strings, bare));
}

/** The texts of the strings of a schema. @param text as for {@linkcode textGrammar} */
export function stringGrammar(schema: Schema, text: Grammar): Grammar {
  return tellsOnlyTypes(schema) ? text : both(toolStrings(schema), text);
}

const BLANK = "[ \\t\\n\\r]*";

/** How JSON values are written, and strings are that are taken for them. */
const JSON_TEXTS: Readonly<Record<JsonType, string>> = {
  null: `${BLANK}null${BLANK}$`,
  boolean: `${BLANK}(?:true|false)${BLANK}$`,
  number: `${BLANK}-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+\\-]?[0-9]+)?${BLANK}$`,
  string: `${BLANK}"(?:[^"\\\\\\u0000-\\u001f]|\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"${BLANK}$`,
  array: "\\s*\\[",
  object: "\\s*\\{",
};

/** Patterns of the beginnings of texts that valueOfText() may take for a value of these types. */
function jsonTexts(types: ReadonlySet<JsonType>): string[] {
  return [...types].map((type) => JSON_TEXTS[type]);
}

/** The JSON value of a text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
