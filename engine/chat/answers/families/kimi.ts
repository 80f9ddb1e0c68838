// Kimi of Moonshot AI. K2 writes JSON after an id that contains the name, functions.NAME:0. K3
// marks every argument with its key and its type, and marks the response, too.

import { literal, repeat, sequence } from "../../../grammar/mod.ts";
import type { AnswerFamily } from "../types.ts";
import { markedCalls } from "./marked_calls.ts";
import { taggedCalls } from "./tagged_arguments.ts";

const NUMBER = repeat({ type: "characters", ranges: [[0x30, 0x39]] }, 1, 4);

export const KIMI_K2: AnswerFamily = {
  name: "kimi-k2",
  recognises: (template) => template.includes("<|tool_calls_section_begin|>"),
  calls: markedCalls({
    open: "<|tool_calls_section_begin|>",
    close: "<|tool_calls_section_end|>",
    begin: "<|tool_call_begin|>",
    end: "<|tool_call_end|>",
    head: /^\s*(?<id>(?:functions\.)?(?<name>[^<\s]+?)(?::\d+)?)\s*<\|tool_call_argument_begin\|>/,
    write: (name) =>
      sequence(literal(`functions.${name}:`), NUMBER, literal("<|tool_call_argument_begin|>")),
  }),
};

export const KIMI_K3: AnswerFamily = {
  name: "kimi-k3",
  recognises: (template) => template.includes("<|open|>") && template.includes("<|sep|>"),
  thinking: { open: "<|open|>think<|sep|>", close: "<|close|>think<|sep|>" },
  text: {
    open: ["<|open|>response<|sep|>"],
    close: ["<|close|>response<|sep|>", "<|close|>message<|sep|>"],
  },
  calls: taggedCalls({
    section: ["<|open|>tools<|sep|>", "<|close|>tools<|sep|>"],
    call: {
      open: '<|open|>call tool="',
      named: '"',
      begin: "<|sep|>",
      close: "<|close|>call<|sep|>",
    },
    callGap: sequence(literal(' index="'), NUMBER, literal('"')),
    argument: {
      open: '<|open|>argument key="',
      named: '"',
      begin: "<|sep|>",
      close: "<|close|>argument<|sep|>",
    },
    gap: (type) => ` type="${type}"`,
  }),
};
