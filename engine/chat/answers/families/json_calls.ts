// Calls that are JSON objects with a name and arguments, alone or in a list, between marks. Each
// family gives its marks and the names of the keys.

import { isJsonObject } from "../../../../tokenizer/mod.ts";
import { choice, type Grammar, literal, repeat, sequence } from "../../../grammar/mod.ts";
import type { AnswerFamily, CallableTool, CallSyntax, ReadCall } from "../types.ts";
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

// Families that write calls as JSON objects, alone or in a list, between marks.

/** A list as it is usually written. */
const LIST = ["[", ", ", "]"] as const;

// Nous Research's Hermes format, of Qwen 2.5 and 3, Granite 4 and many others:
// <tool_call>{"name": ..., "arguments": {...}}</tool_call>, one element for each call.
// Documented by Nous Research, "Hermes Function Calling".

const CALL = jsonCalls({ openings: ["<tool_call>\n"], closing: "\n</tool_call>" });

export const HERMES: AnswerFamily = {
  name: "hermes",
  recognises: (template) => template.includes("<tool_call>") && /\\?"arguments\\?"/.test(template),
  calls: {
    ...CALL,
    grammar: (tools, options) => separated(CALL.grammar(tools, options), "\n", options.parallel),
  },
};

/** Granite 3 of IBM: a list of JSON calls after a mark. Granite 4 writes Hermes calls. */
export const GRANITE_3: AnswerFamily = {
  name: "granite3",
  recognises: (template) => template.includes("<|tool_call|>"),
  text: { open: ["<response>"], close: ["</response>"] },
  calls: jsonCalls({ openings: ["<|tool_call|>"], list: LIST }),
};

/** GigaChat 3 of Sber: one JSON call, in a message of its own (3.0) or after a token (3.1). */
export const GIGACHAT_3_1: AnswerFamily = {
  name: "gigachat-3.1",
  recognises: (template) => template.includes("<|function_call|>"),
  calls: jsonCalls({ openings: ["<|function_call|>"] }),
};

const HEADER = "function call<|role_sep|>\n";

export const GIGACHAT_3: AnswerFamily = {
  name: "gigachat-3",
  recognises: (template) => template.includes("function call") && template.includes("<|role_sep|>"),
  calls: jsonCalls({ openings: [`<|message_sep|>\n\n${HEADER}`, HEADER] }),
};

// A JSON list of calls in <tool_calls> tags, as Apriel of ServiceNow and Jamba write it. Apriel's
// text before [BEGIN FINAL RESPONSE] is thinking, whose first words are in the prompt.

const REASONING = { open: "Here are my reasoning steps:\n", close: "[BEGIN FINAL RESPONSE]" };

export const APRIEL: AnswerFamily = {
  name: "apriel",
  recognises: (template) => template.includes("<tool_calls>["),
  thinking(template) {
    if (template.includes("[BEGIN FINAL RESPONSE]")) return REASONING;
    return template.includes("<think>") ? { open: "<think>", close: "</think>" } : undefined;
  },
  text: { open: [], close: ["[END FINAL RESPONSE]"] },
  calls: jsonCalls({ openings: ["<tool_calls>"], closing: "</tool_calls>", list: LIST }),
};

/** Apertus of the Swiss AI Initiative: a list of objects whose only key is the tool's name. */
export const APERTUS: AnswerFamily = {
  name: "apertus",
  recognises: (template) => template.includes("<|tools_prefix|>"),
  thinking: { open: "<|inner_prefix|>", close: "<|inner_suffix|>" },
  calls: {
    openings: ["<|tools_prefix|>"],
    closing: "<|tools_suffix|>",
    read(body) {
      const list = parseJson(body);
      if (!Array.isArray(list) || list.length === 0) return undefined;
      const calls = list.map((item) => {
        const [[name, value] = [], ...others] = isJsonObject(item) ? Object.entries(item) : [];
        const members = readArguments(value);
        return name !== undefined && others.length === 0 && members
          ? { name, arguments: members }
          : undefined;
      });
      return calls.every((call) => call !== undefined) ? calls : undefined;
    },
    grammar(tools, { parallel }) {
      const call = choice(
        ...tools.map((tool) => jsonCall(tool, literal(`{${JSON.stringify(tool.name)}: `))),
      );
      const open = literal("<|tools_prefix|>[");
      return sequence(open, separated(call, ", ", parallel), literal("]<|tools_suffix|>"));
    },
  },
};

// Cohere's Command models. Since R7B: thinking, a list of actions and the response, each between
// marks. Command R and R+: "Action:" and a list in a block of JSON.

const INDEX = repeat({ type: "characters", ranges: [[0x30, 0x39]] }, 1, 4);

const ACTIONS = ["[\n    ", ",\n    ", "\n]"] as const;

export const COMMAND_R7B: AnswerFamily = {
  name: "command-r7b",
  recognises: (template) => template.includes("<|START_ACTION|>"),
  thinking: {
    open: "<|START_THINKING|>",
    close: "<|END_THINKING|>",
    lead: "<|END_THINKING|><|START_RESPONSE|>",
  },
  text: {
    open: ["<|START_RESPONSE|>", "<|START_TEXT|>"],
    close: ["<|END_RESPONSE|>", "<|END_TEXT|>"],
  },
  calls: jsonCalls({
    openings: ["<|START_ACTION|>"],
    closing: "<|END_ACTION|>",
    list: ACTIONS,
    // These ids count from 0 in every answer, so they do not identify calls for the caller and are
    // ignored.
    head: (name) =>
      sequence(
        literal('{"tool_call_id": "'),
        INDEX,
        literal(`", "tool_name": ${JSON.stringify(name)}, "parameters": `),
      ),
  }),
};

export const COMMAND_R: AnswerFamily = {
  name: "command-r",
  recognises: (template) => /Action:(?:\\n|\n)?```json/.test(template),
  calls: jsonCalls({
    openings: ["Action:\n```json\n", "Action:```json\n", "Action: ```json\n"],
    closing: "```",
    list: ACTIONS,
    head: (name) =>
      literal(`{\n        "tool_name": ${JSON.stringify(name)},\n        "parameters": `),
  }),
};

/**
 * Nemotron Nano v2 of NVIDIA: a list of JSON calls between marks. Nemotron 3 writes Qwen's tags.
 */
export const NEMOTRON_NANO: AnswerFamily = {
  name: "nemotron-nano",
  recognises: (template) => template.includes("<TOOLCALL>"),
  calls: jsonCalls({ openings: ["<TOOLCALL>"], closing: "</TOOLCALL>", list: LIST }),
};

// Phi 4 mini of Microsoft and FireFunction v2: a list of JSON calls after "functools", or between
// marks of its own.

/** "functools[" before a list, up to the end of the answer. */
export const FUNCTOOLS: AnswerFamily = {
  name: "functools",
  recognises: (template) => template.includes("functools["),
  calls: {
    ...jsonCalls({ openings: ["functools"], list: LIST }),
    openings: ["functools["],
    read: (body) => readJsonCalls(`[${body}`),
  },
};

export const PHI_4: AnswerFamily = {
  name: "phi4",
  recognises: (template) => template.includes("<|/tool|>"),
  calls: {
    ...jsonCalls({ openings: ["<|tool_call|>"], closing: "<|/tool_call|>", list: LIST }),
    openings: ["<|tool_call|>", "functools["],
    read: (body, opening) => readJsonCalls(opening === "functools[" ? `[${body}` : body),
  },
};
