// Families whose answers are messages with headers.

import { choice, literal, sequence } from "../../../grammar/mod.ts";
import type { AnswerFamily } from "../types.ts";
import { readArguments } from "./json_calls.ts";
import { messageFormat, type MessageKind } from "./messages.ts";
import { separated } from "./ordered.ts";
import { taggedCalls } from "./tagged_arguments.ts";
import { argumentsJson } from "./tool_schema.ts";

// OpenAI's harmony format, of gpt-oss: messages on the channels analysis (thinking), commentary
// (calls, and text before them) and final. The recipient of a message may be before or after the
// channel. Specified in OpenAI's cookbook, "OpenAI harmony response format".

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
    kindOf: kindOnChannel,
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
function kindOnChannel(header: string): MessageKind | undefined {
  if (!HEADER.test(header)) return undefined;
  const recipient = RECIPIENT.exec(header)?.[1]?.replace(/^functions\./, "");
  const isCall = recipient !== undefined && !["user", "assistant", "all"].includes(recipient);
  if (isCall) return { type: "call", name: recipient };
  return { type: header.includes(ANALYSIS) ? "thinking" : "text" };
}

// Muse: messages to itself (thinking), to the user, and to tools, whose parameters are in
// <atem:...> tags.

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
    kindOf: kindByRecipient,
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

function kindByRecipient(header: string): MessageKind | undefined {
  const match = /^\s*(?:<\|start\|>)?(?:assistant)?\s*(?:to=(\S+))?\s*$/.exec(header);
  if (!match) return undefined;
  const name = match[1] ?? "user";
  if (name === "self") return { type: "thinking" };
  return name === "user" ? { type: "text" } : { type: "call", name };
}

/**
 * Functionary of MeetKai. Version 3.1 writes <function=NAME>{JSON}</function>. Version 3.2 writes
 * messages, each with a line that names its recipient: ">>>all", or ">>>NAME" before a call's JSON.
 */
export const FUNCTIONARY_3_1: AnswerFamily = {
  name: "functionary-v3.1",
  recognises: (template) =>
    template.includes("<function=") && template.includes("</function>") &&
    !template.includes("<parameter="),
  calls: {
    openings: ["<function="],
    closing: "</function>",
    read(body) {
      const end = body.indexOf(">");
      const members = end > 0 ? readArguments(body.slice(end + 1)) : undefined;
      return members && [{ name: body.slice(0, end), arguments: members }];
    },
    locate(body) {
      const end = body.indexOf(">");
      return end > 0 ? { name: body.slice(0, end), arguments: end + 1 } : undefined;
    },
    grammar(tools, { parallel }) {
      const call = choice(
        ...tools.map((tool) =>
          sequence(
            literal(`<function=${tool.name}>`),
            argumentsJson(tool),
            literal("</function>"),
          )
        ),
      );
      return separated(call, "", parallel);
    },
  },
};

export const FUNCTIONARY_3_2: AnswerFamily = {
  name: "functionary-v3.2",
  recognises: (template) => template.includes(">>>all"),
  format: messageFormat({
    name: "functionary-v3.2",
    start: ">>>",
    begin: "\n",
    ends: ["<|eot_id|>"],
    kindOf(header, tools) {
      if (header === "all") return { type: "text" };
      return tools.some(({ name }) => name === header) ? { type: "call", name: header } : undefined;
    },
    read: readArguments,
    isJson: true,
    body: (tool) => argumentsJson(tool),
    headers: { thinking: [], note: ["all"], text: ["all"], call: (name) => [name] },
    next: ">>>",
    nextCall: ">>>",
  }),
};
