// Solar Open of Upstage: calls with ids and JSON arguments. Thinking, text and calls are messages,
// but their marks suffice to tell them apart without headers.

import { literal, repeat, sequence } from "../../../grammar/mod.ts";
import type { AnswerFamily } from "../types.ts";
import { markedCalls } from "./marked_calls.ts";

const LETTERS_AND_DIGITS = [[0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a]] as const;

const ID = repeat({ type: "characters", ranges: LETTERS_AND_DIGITS }, 1, 16);

export const SOLAR: AnswerFamily = {
  name: "solar",
  recognises: (template) => template.includes("<|tool_call:name|>"),
  thinking: {
    open: "<|think|>",
    close: "<|end|>",
    lead: "<|end|><|begin|>assistant<|content|>",
  },
  text: { open: ["<|begin|>assistant", "<|content|>"], close: ["<|end|>"] },
  calls: markedCalls({
    open: "<|tool_calls|>",
    close: "<|calls|>",
    endsAnswer: true,
    begin: "<|tool_call:begin|>",
    end: "<|tool_call:end|>",
    head: /^(?<id>[^<]*)<\|tool_call:name\|>(?<name>[^<]*)<\|tool_call:args\|>/,
    write: (name) => sequence(ID, literal(`<|tool_call:name|>${name}<|tool_call:args|>`)),
  }),
};
