// GigaChat 3 of Sber: one JSON call, in a message of its own (3.0) or after a token (3.1).

import type { AnswerFamily } from "../types.ts";
import { jsonCalls } from "./json_calls.ts";

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
