// Granite 3 of IBM: a list of JSON calls after a mark. Granite 4 writes Hermes calls.

import type { AnswerFamily } from "../types.ts";
import { jsonCalls } from "./json_calls.ts";

export const GRANITE_3: AnswerFamily = {
  name: "granite3",
  recognises: (template) => template.includes("<|tool_call|>"),
  text: { open: ["<response>"], close: ["</response>"] },
  calls: jsonCalls({ openings: ["<|tool_call|>"], list: ["[", ", ", "]"] }),
};
