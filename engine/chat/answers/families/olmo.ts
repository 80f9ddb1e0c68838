// OLMo 3 of Ai2: calls in Python's syntax, one per line.

import { literal, sequence } from "../../../grammar/mod.ts";
import type { AnswerFamily } from "../types.ts";
import { separated } from "./ordered.ts";
import { pythonCall, readPythonCalls } from "./python_call.ts";
import { argumentsOf } from "./tool_schema.ts";
import { unheldOfObject } from "./unheld.ts";

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
