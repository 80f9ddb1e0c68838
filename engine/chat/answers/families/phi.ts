// Phi 4 mini of Microsoft and FireFunction v2: a list of JSON calls after "functools", or between
// marks of its own.

import type { AnswerFamily } from "../types.ts";
import { jsonCalls, readJsonCalls } from "./json_calls.ts";

const LIST = ["[", ", ", "]"] as const;

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
