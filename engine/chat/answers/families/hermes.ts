// Nous Research's Hermes format, of Qwen 2.5 and 3, Granite 4 and many others:
// <tool_call>{"name": ..., "arguments": {...}}</tool_call>, one element for each call.
// Documented by Nous Research, "Hermes Function Calling".

import type { AnswerFamily } from "../types.ts";
import { jsonCalls } from "./json_calls.ts";
import { separated } from "./ordered.ts";

const CALL = jsonCalls({ openings: ["<tool_call>\n"], closing: "\n</tool_call>" });

export const HERMES: AnswerFamily = {
  name: "hermes",
  recognises: (template) => template.includes("<tool_call>") && /\\?"arguments\\?"/.test(template),
  calls: {
    ...CALL,
    grammar: (tools, options) => separated(CALL.grammar(tools, options), "\n", options.parallel),
  },
};
