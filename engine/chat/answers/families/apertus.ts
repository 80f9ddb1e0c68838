// Apertus of the Swiss AI Initiative: a list of objects whose only key is the tool's name.

import { isJsonObject } from "../../../../tokenizer/mod.ts";
import { choice, literal, sequence } from "../../../grammar/mod.ts";
import type { AnswerFamily } from "../types.ts";
import { jsonCall, readArguments } from "./json_calls.ts";
import { separated } from "./ordered.ts";
import { parseJson } from "./typed_text.ts";

export const APERTUS: AnswerFamily = {
  name: "apertus",
  recognises: (template) => template.includes("<|tools_prefix|>"),
  thinking: { open: "<|inner_prefix|>", close: "<|inner_suffix|>" },
  calls: {
    openings: ["<|tools_prefix|>"],
    closing: "<|tools_suffix|>",
    read(body) {
      const list = parseJson(body);
      if (!Array.isArray(list) || list.length === 0) return undefined;
      const calls = list.map((item) => {
        const [[name, value] = [], ...others] = isJsonObject(item) ? Object.entries(item) : [];
        const members = readArguments(value);
        return name !== undefined && others.length === 0 && members
          ? { name, arguments: members }
          : undefined;
      });
      return calls.every((call) => call !== undefined) ? calls : undefined;
    },
    grammar(tools, { parallel }) {
      const call = choice(
        ...tools.map((tool) => jsonCall(tool, literal(`{${JSON.stringify(tool.name)}: `))),
      );
      const open = literal("<|tools_prefix|>[");
      return sequence(open, separated(call, ", ", parallel), literal("]<|tools_suffix|>"));
    },
  },
};
