// Nemotron Nano v2 of NVIDIA: a list of JSON calls between marks. Nemotron 3 writes Qwen's tags.

import type { AnswerFamily } from "../types.ts";
import { jsonCalls } from "./json_calls.ts";

export const NEMOTRON_NANO: AnswerFamily = {
  name: "nemotron-nano",
  recognises: (template) => template.includes("<TOOLCALL>"),
  calls: jsonCalls({ openings: ["<TOOLCALL>"], closing: "</TOOLCALL>", list: ["[", ", ", "]"] }),
};
