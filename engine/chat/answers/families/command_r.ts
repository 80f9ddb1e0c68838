// Cohere's Command models. Since R7B: thinking, a list of actions and the response, each between
// marks. Command R and R+: "Action:" and a list in a block of JSON.

import { literal, repeat, sequence } from "../../../grammar/mod.ts";
import type { AnswerFamily } from "../types.ts";
import { jsonCalls } from "./json_calls.ts";

const INDEX = repeat({ type: "characters", ranges: [[0x30, 0x39]] }, 1, 4);

const LIST = ["[\n    ", ",\n    ", "\n]"] as const;

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
    list: LIST,
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
    list: LIST,
    head: (name) =>
      literal(`{\n        "tool_name": ${JSON.stringify(name)},\n        "parameters": `),
  }),
};
