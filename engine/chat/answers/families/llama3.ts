// Llama 3.1 and later: {"name": ..., "parameters": {...}} as the whole answer, or after
// <|python_tag|>; several with semicolons between. Built-in tools are called as
// NAME.call(query="..."). Specified by Meta, "Llama 3.1 | Model Cards and Prompt formats".

import { isJsonObject } from "../../../../tokenizer/mod.ts";
import { choice, literal, optional, sequence } from "../../../grammar/mod.ts";
import type { AnswerFamily, CallableTool, LocatedArguments, ReadCall } from "../types.ts";
import { readJsonCalls } from "./json_calls.ts";
import { separated } from "./ordered.ts";
import { readPythonCalls } from "./python_call.ts";
import { argumentsJson } from "./tool_schema.ts";
import { parseJson } from "./typed_text.ts";

const PYTHON_TAG = "<|python_tag|>";

const BRACE = "{";

/** The keys of a call, in any order. */
const KEYS = new Set(["type", "name", "function", "parameters", "arguments", "id"]);

const FIRST_KEY = /^\s*\{\s*"([^"\\]*)"/;

const NAME = /^\s*\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"(?:name|function)"\s*:\s*"([^"\\]*)"/;

const ARGUMENTS = /^\s*,\s*"(?:parameters|arguments)"\s*:\s*(?=\{)/;

export const LLAMA3: AnswerFamily = {
  name: "llama3",
  recognises: (template) =>
    template.includes("<|start_header_id|>") && template.includes("ipython") &&
    /\\?"parameters\\?"/.test(template),
  calls: {
    openings: [PYTHON_TAG],
    leading: [BRACE, `; ${BRACE}`, `;${BRACE}`],
    read(body, opening, tools) {
      const calls = readCalls(wholeOf(body, opening));
      const areKnown = calls?.every(({ name }) => tools.some((tool) => tool.name === name));
      return areKnown ? calls : undefined;
    },
    locate,
    beginnings: (tools) => [PYTHON_TAG, ...tools.flatMap(({ name }) => headsOf(name))],
    grammar(tools, { parallel }) {
      const calls = tools.map((tool) =>
        sequence(
          choice(...headsOf(tool.name).map(literal)),
          literal(`, "parameters": `),
          argumentsJson(tool),
          literal("}"),
        )
      );
      const list = separated(choice(...calls), "; ", parallel);
      return sequence(optional(literal(PYTHON_TAG)), list);
    },
  },
};

function headsOf(name: string): string[] {
  return ["", `"type": "function", `].map((type) => `{${type}"name": ${JSON.stringify(name)}`);
}

/** The body with the opening brace, if that was the opening. */
function wholeOf(body: string, opening: string): string {
  return opening === PYTHON_TAG ? body : BRACE + body;
}

function locate(
  body: string,
  opening: string,
  tools: readonly CallableTool[],
): LocatedArguments | "text" | undefined {
  const text = wholeOf(body, opening);
  const [head = "", name] = NAME.exec(text) ?? [];
  if (opening !== PYTHON_TAG && !mayBeCall(text, name, tools)) return "text";
  const between = name === undefined ? null : ARGUMENTS.exec(text.slice(head.length));
  if (name === undefined || !between) return undefined;
  const start = head.length + between[0].length;
  return { name, arguments: start - (text.length - body.length) };
}

/** Whether a JSON text may still become the call of a tool. */
function mayBeCall(text: string, name: string | undefined, tools: readonly CallableTool[]) {
  if (name !== undefined) return tools.some((tool) => tool.name === name);
  const key = FIRST_KEY.exec(text)?.[1];
  return key === undefined ? /^\{\s*(?:"|$)/.test(text) : KEYS.has(key);
}

function readCalls(text: string): ReadCall[] | undefined {
  const json = parseJson(text) ?? parseJson(`[${text.replace(/\}\s*;\s*\{/g, "},{")}]`);
  if (json === undefined) {
    return readPythonCalls(text)?.map((call) => ({
      ...call,
      name: call.name.replace(/\.call$/, ""),
    }));
  }
  return readJsonCalls(JSON.stringify([json].flat().map(named)));
}

/** A call whose name is under the key "function", either directly or within an object. */
function named(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  if (isJsonObject(value.function)) return value.function;
  return typeof value.function === "string" ? { name: value.function, ...value } : value;
}
