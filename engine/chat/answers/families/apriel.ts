// A JSON list of calls in <tool_calls> tags, as Apriel of ServiceNow and Jamba write it. Apriel's
// text before [BEGIN FINAL RESPONSE] is thinking, whose first words are in the prompt.

import type { AnswerFamily } from "../types.ts";
import { jsonCalls } from "./json_calls.ts";

const REASONING = { open: "Here are my reasoning steps:\n", close: "[BEGIN FINAL RESPONSE]" };

export const APRIEL: AnswerFamily = {
  name: "apriel",
  recognises: (template) => template.includes("<tool_calls>["),
  thinking(template) {
    if (template.includes("[BEGIN FINAL RESPONSE]")) return REASONING;
    return template.includes("<think>") ? { open: "<think>", close: "</think>" } : undefined;
  },
  text: { open: [], close: ["[END FINAL RESPONSE]"] },
  calls: jsonCalls({
    openings: ["<tool_calls>"],
    closing: "</tool_calls>",
    list: ["[", ", ", "]"],
  }),
};
