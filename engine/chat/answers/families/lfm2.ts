// LFM2 of Liquid AI: calls in Python's syntax. Some of its templates contain tools and no calls.

import { literal, sequence } from "../../../grammar/mod.ts";
import type { AnswerFamily } from "../types.ts";
import { readJsonCalls } from "./json_calls.ts";
import { separated } from "./ordered.ts";
import { pythonCall, readPythonCalls } from "./python_call.ts";
import { argumentsOf } from "./tool_schema.ts";
import { unheldOfObject } from "./unheld.ts";

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
