// Calls that are JSON objects with a name and arguments, alone or in a list, between marks. Each
// family gives its marks and the names of the keys.

import { isJsonObject } from "../../../../tokenizer/mod.ts";
import { choice, type Grammar, literal, sequence } from "../../../grammar/mod.ts";
import type { CallableTool, CallSyntax, ReadCall } from "../types.ts";
import { separated } from "./ordered.ts";
import { argumentsJson } from "./tool_schema.ts";
import { parseJson } from "./typed_text.ts";

/** How a family writes JSON calls. */
export interface JsonCallSyntax {
  /** Marks before the calls, including white space. The grammar writes the first one. */
  readonly openings: readonly string[];
  /** Mark after the calls. Missing: the end of the answer. */
  readonly closing?: string;
  /** Text around and between calls. Missing: one call, alone. */
  readonly list?: readonly [open: string, separator: string, close: string];
  /**
   * The beginning of a call up to its arguments, after which comes `}`. Default: `{"name": …,
   * "arguments": `.
   */
  head?(name: string): Grammar;
}

/** The calls of such a family. */
export function jsonCalls(syntax: JsonCallSyntax): CallSyntax {
  const { openings, closing, list, head = headOf } = syntax;
  const [open = "", separator = "", close = ""] = list ?? [];
  return {
    openings: openings.map((opening) => opening.trim()),
    ...closing !== undefined && { closing: closing.trim() },
    read: readJsonCalls,
    locate: locateJsonCall,
    grammar(tools, { parallel }) {
      const call = choice(...tools.map((tool) => jsonCall(tool, head(tool.name))));
      const calls = list ? separated(call, separator, parallel) : call;
      return sequence(literal(openings[0] + open), calls, literal(close + (closing ?? "")));
    },
  };
}

/** The grammar of one call. */
export function jsonCall(tool: CallableTool, head = headOf(tool.name)): Grammar {
  return sequence(head, argumentsJson(tool), literal("}"));
}

/** The calls in a JSON text: an object, a list of objects, or one object after another. */
export function readJsonCalls(text: string): ReadCall[] | undefined {
  // JSON strings contain no line breaks, so this only joins objects.
  const value = parseJson(text) ?? parseJson(`[${text.replace(/\}[ \t\r]*\n\s*\{/g, "},{")}]`);
  const calls = (Array.isArray(value) ? value : [value]).map(readCall);
  return calls.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
}

/** A call in JSON: name and arguments, under any of the keys that families use. */
function readCall(value: unknown): ReadCall | undefined {
  if (!isJsonObject(value)) return undefined;
  const name = value.name ?? value.tool_name;
  const members = readArguments(value.arguments ?? value.parameters);
  if (typeof name !== "string" || name === "" || !members) return undefined;
  return { name, arguments: members, ...typeof value.id === "string" && { id: value.id } };
}

/** Arguments as an object, or as the text of an object; empty if nothing is written. */
export function readArguments(value: unknown): Record<string, unknown> | undefined {
  const members = typeof value === "string" ? parseJson(value.trim() || "{}") : value ?? {};
  return isJsonObject(members) ? members : undefined;
}

const HEAD =
  /^\s*\[?\s*\{\s*(?:"tool_call_id"\s*:\s*"[^"\\]*"\s*,\s*)?"(?:tool_)?name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"(?:arguments|parameters)"\s*:/;

/** The name and the beginning of the arguments of the first call. */
function locateJsonCall(body: string): { name: string; arguments: number } | undefined {
  const match = HEAD.exec(body);
  const name = match && parseJson(match[1]!);
  return match && typeof name === "string" ? { name, arguments: match[0].length } : undefined;
}

function headOf(name: string): Grammar {
  return literal(`{"name": ${JSON.stringify(name)}, "arguments": `);
}
