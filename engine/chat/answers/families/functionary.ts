// Functionary of MeetKai. Version 3.1 writes <function=NAME>{JSON}</function>. Version 3.2 writes
// messages, each with a line that names its recipient: ">>>all", or ">>>NAME" before a call's JSON.

import { choice, literal, sequence } from "../../../grammar/mod.ts";
import type { AnswerFamily } from "../types.ts";
import { readArguments } from "./json_calls.ts";
import { messageFormat } from "./messages.ts";
import { separated } from "./ordered.ts";
import { argumentsJson } from "./tool_schema.ts";

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
