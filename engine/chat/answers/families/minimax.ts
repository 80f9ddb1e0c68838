// MiniMax. M1 writes JSON objects, one per line; M2 writes parameters in tags. M3, whose tags are
// nested, has a file of its own.

import type { AnswerFamily } from "../types.ts";
import { jsonCalls } from "./json_calls.ts";
import { taggedCalls } from "./tagged_arguments.ts";

export const MINIMAX_M1: AnswerFamily = {
  name: "minimax-m1",
  recognises: (template) => /<tool_calls>(?:\\n|\n)/.test(template),
  thinking: { open: "<think>", close: "</think>" },
  calls: jsonCalls({
    openings: ["<tool_calls>\n"],
    closing: "\n</tool_calls>",
    list: ["", "\n", ""],
  }),
};

export const MINIMAX_M2: AnswerFamily = {
  name: "minimax-m2",
  recognises: (template) => template.includes("minimax:tool_call"),
  calls: taggedCalls({
    section: ["<minimax:tool_call>\n", "</minimax:tool_call>"],
    call: { open: '<invoke name="', named: '"', begin: ">\n", close: "</invoke>\n" },
    argument: { open: '<parameter name="', named: '"', begin: ">", close: "</parameter>\n" },
  }),
};
