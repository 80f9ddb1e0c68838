// A JSON list of calls between <tool_calls> tags, as Apriel of ServiceNow and Jamba write it. What
// Apriel writes before [BEGIN FINAL RESPONSE] is thinking, whose first words the prompt holds.

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
