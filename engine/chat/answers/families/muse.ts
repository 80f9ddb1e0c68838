// Muse: messages to itself (thinking), to the user, and to tools, whose parameters are in
// <atem:...> tags.

import type { AnswerFamily } from "../types.ts";
import type { MessageKind } from "./message_syntax.ts";
import { messageFormat } from "./messages.ts";
import { taggedCalls } from "./tagged_arguments.ts";

const SECTION = ["<atem:function_calls>\n", "</atem:function_calls>"] as const;

const CALL = taggedCalls({
  section: SECTION,
  call: { open: '<atem:invoke name="', named: '"', begin: ">\n", close: "</atem:invoke>\n" },
  argument: {
    open: '<atem:parameter name="',
    named: '"',
    begin: ">",
    close: "</atem:parameter>\n",
  },
});

export const MUSE: AnswerFamily = {
  name: "muse",
  recognises: (template) => template.includes("<atem:"),
  format: messageFormat({
    name: "muse",
    start: "<|start|>",
    begin: "<|message|>",
    ends: ["<|eom|>", "<|eot|>"],
    thinking: { open: " to=self<|message|>", close: "<|eom|>" },
    kindOf,
    read(body, _, tools) {
      const [open, close] = SECTION.map((mark) => mark.trim());
      const text = body.trim();
      if (!text.startsWith(open!) || !text.endsWith(close!)) return undefined;
      return CALL.read(text.slice(open!.length, -close!.length), open!, tools)?.[0]?.arguments;
    },
    isJson: false,
    body: (tool) => CALL.grammar([tool], { parallel: false }),
    unheld: CALL.unheld!,
    headers: {
      thinking: [" to=self"],
      note: [" to=user"],
      text: [" to=user"],
      call: (name) => [` to=${name}`],
    },
    next: "<|eom|><|start|>assistant",
    nextCall: "<|eom|><|start|>assistant",
  }),
};

function kindOf(header: string): MessageKind | undefined {
  const match = /^\s*(?:<\|start\|>)?(?:assistant)?\s*(?:to=(\S+))?\s*$/.exec(header);
  if (!match) return undefined;
  const name = match[1] ?? "user";
  if (name === "self") return { type: "thinking" };
  return name === "user" ? { type: "text" } : { type: "call", name };
}
