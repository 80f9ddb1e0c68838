// OpenAI's harmony format, of gpt-oss: messages on the channels analysis (thinking), commentary
// (calls, and text before them) and final. The recipient of a message may be before or after the
// channel. Specified in OpenAI's cookbook, "OpenAI harmony response format".

import type { AnswerFamily } from "../types.ts";
import { readArguments } from "./json_calls.ts";
import type { MessageKind } from "./message_syntax.ts";
import { messageFormat } from "./messages.ts";
import { argumentsJson } from "./tool_schema.ts";

const HEADER = /^\s*(?:<\|start\|>)?(?:assistant)?\s*(?:to=|<\||$)/;

const RECIPIENT = /(?:^|[\s>])to=([^\s<]+)/;

const ANALYSIS = "<|channel|>analysis";

export const HARMONY: AnswerFamily = {
  name: "harmony",
  recognises: (template) => template.includes("<|channel|>") && template.includes("<|message|>"),
  format: messageFormat({
    name: "harmony",
    start: "<|start|>",
    begin: "<|message|>",
    ends: ["<|end|>", "<|call|>", "<|return|>"],
    thinking: { open: `${ANALYSIS}<|message|>`, close: "<|end|>" },
    kindOf,
    read: readArguments,
    isJson: true,
    body: (tool) => argumentsJson(tool),
    headers: {
      thinking: [ANALYSIS],
      note: ["<|channel|>commentary"],
      text: ["<|channel|>final"],
      call: (name) => [
        `<|channel|>commentary to=functions.${name} <|constrain|>json`,
        `<|channel|>commentary to=functions.${name} json`,
        ` to=functions.${name}<|channel|>commentary <|constrain|>json`,
        ` to=functions.${name}<|channel|>commentary json`,
      ],
    },
    next: "<|end|><|start|>assistant",
  }),
};

/** Built-in tools, such as python and browser.open, are called by their full names. */
function kindOf(header: string): MessageKind | undefined {
  if (!HEADER.test(header)) return undefined;
  const recipient = RECIPIENT.exec(header)?.[1]?.replace(/^functions\./, "");
  const isCall = recipient !== undefined && !["user", "assistant", "all"].includes(recipient);
  if (isCall) return { type: "call", name: recipient };
  return { type: header.includes(ANALYSIS) ? "thinking" : "text" };
}
