// Families that write calls as JSON objects, alone or in a list, between marks.

import { isJsonObject } from "../../../../tokenizer/mod.ts";
import { choice, literal, repeat, sequence } from "../../../grammar/mod.ts";
import type { AnswerFamily } from "../types.ts";
import { jsonCall, jsonCalls, readArguments, readJsonCalls } from "./json_calls.ts";
import { separated } from "./ordered.ts";
import { parseJson } from "./typed_text.ts";

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
