// Calls in Python's syntax, [f(a=1, b="x"), g()], with keyword arguments. Values may be JSON, too.

import {
  choice,
  type Grammar,
  literal,
  optional,
  repeat,
  sequence,
  textWithout,
} from "../../../grammar/mod.ts";
import type { AnswerFamily, CallableTool, ReadCall } from "../types.ts";
import { readJsonCalls } from "./json_calls.ts";
import { LiteralReader } from "./literals.ts";
import { ordered, separated } from "./ordered.ts";
import {
  argumentsOf,
  othersOf,
  propertiesOf,
  type Schema,
  toolJson,
  typesOf,
  unheldOfObject,
} from "./tool_schema.ts";
import { stringGrammar } from "./typed_text.ts";

const NAME = /[^\s()[\]{},='"]+/y;

/** The calls of a list, or one after the other; undefined if the text is something else. */
export function readPythonCalls(text: string): ReadCall[] | undefined {
  const reader = new LiteralReader(text);
  const calls: (ReadCall | undefined)[] = [];
  if (reader.take("[")) calls.push(...reader.list("]", () => readCall(reader)) ?? [undefined]);
  else do calls.push(readCall(reader)); while (calls.at(-1) && !reader.isAtEnd());
  const isWhole = calls.length > 0 && reader.isAtEnd();
  return isWhole && calls.every((call) => call !== undefined) ? calls : undefined;
}

function readCall(reader: LiteralReader): ReadCall | undefined {
  const name = reader.match(NAME);
  if (name === undefined || !reader.take("(")) return undefined;
  const members = reader.list<[string, unknown]>(")", () => {
    const key = reader.match(NAME);
    if (key === undefined || !reader.take("=")) return undefined;
    const value = reader.value();
    return value === undefined ? undefined : [key, value];
  });
  return members && { name, arguments: Object.fromEntries(members) };
}

export function pythonCall(tools: readonly CallableTool[]): Grammar {
  return choice(...tools.map(callGrammar));
}

function callGrammar(tool: CallableTool): Grammar {
  const schema = argumentsOf(tool);
  const properties = propertiesOf(schema);
  const members = properties
    ? ordered(properties, ({ key, schema }) => sequence(literal(`${key}=`), value(schema)), ", ")
    : anyArguments(schema);
  return sequence(literal(`${tool.name}(`), members, literal(")"));
}

/** JSON is valid Python except for its constants. Strings may also have Python's other quotes. */
function value(schema: Schema): Grammar {
  const types = typesOf(schema);
  if (types.size === 1 && types.has("string")) {
    const text = stringGrammar(schema, textWithout("'", "\\"));
    return choice(toolJson(schema), sequence(literal("'"), text, literal("'")));
  }
  const isAnyBoolean = types.size === 1 && types.has("boolean") && !listsValues(schema);
  return isAnyBoolean ? choice(literal("True"), literal("False")) : toolJson(schema);
}

function listsValues(schema: Schema): boolean {
  return schema.enum !== undefined || schema.const !== undefined;
}

/** Arguments of a tool that declares none. */
function anyArguments(schema: Schema): Grammar {
  if (schema.additionalProperties === false) return sequence();
  const one = sequence(
    { type: "pattern", source: "^[A-Za-z_][A-Za-z_0-9]*$" },
    literal("="),
    toolJson(othersOf(schema)),
  );
  return optional(sequence(one, repeat(sequence(literal(", "), one))));
}

/** OLMo 3 of Ai2: calls in Python's syntax, one per line. */
export const OLMO: AnswerFamily = {
  name: "olmo",
  recognises: (template) => template.includes("<function_calls>"),
  calls: {
    openings: ["<function_calls>"],
    closing: "</function_calls>",
    read: readPythonCalls,
    grammar: (tools, { parallel }) =>
      sequence(
        literal("<function_calls>"),
        separated(pythonCall(tools), "\n", parallel),
        literal("</function_calls>"),
      ),
    unheld: (tool) => unheldOfObject(argumentsOf(tool)),
  },
};

// LFM2 of Liquid AI: calls in Python's syntax. Some of its templates contain tools and no calls.

const MARKS = ["<|tool_call_start|>", "<|tool_list_start|>", '"List of tools: ["'];

export const LFM2: AnswerFamily = {
  name: "lfm2",
  recognises: (template) => MARKS.some((mark) => template.includes(mark)),
  calls: {
    openings: ["<|tool_call_start|>"],
    closing: "<|tool_call_end|>",
    // The models write JSON if the system message asks for it.
    read: (body) => readPythonCalls(body) ?? readJsonCalls(body),
    grammar: (tools, { parallel }) =>
      sequence(
        literal("<|tool_call_start|>["),
        separated(pythonCall(tools), ", ", parallel),
        literal("]<|tool_call_end|>"),
      ),
    unheld: (tool) => unheldOfObject(argumentsOf(tool)),
  },
};
