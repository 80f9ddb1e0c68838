// DeepSeek. V3 and R1 write "function", the name and a block of JSON. V3.1 writes the name and bare
// JSON. V3.2 and V4 write DSML, an XML-like language that marks which parameters are strings.

import { literal } from "../../../grammar/mod.ts";
import type { AnswerFamily, CallSyntax } from "../types.ts";
import { markedCalls } from "./marked_calls.ts";
import { taggedCalls } from "./tagged_arguments.ts";

const SEPARATOR = "<｜tool▁sep｜>";

/** "function", the name and the beginning of a block, or the name alone. */
const HEAD =
  /^\s*(?:function<｜tool▁sep｜>(?=[^\n<]+\n\s*```))?(?<name>[^\n<]+)(?:\n\s*```(?:json)?|<｜tool▁sep｜>)/;

const THINKING = { open: "<think>", close: "</think>" };

export const DEEPSEEK_V3: AnswerFamily = {
  name: "deepseek-v3",
  recognises: (template) => template.includes(SEPARATOR) && template.includes("```json"),
  thinking: THINKING,
  calls: marked(`function${SEPARATOR}`, "\n```json\n", "\n```", "\n"),
};

export const DEEPSEEK_V3_1: AnswerFamily = {
  name: "deepseek-v3.1",
  recognises: (template) => template.includes(SEPARATOR),
  thinking: THINKING,
  calls: marked("", SEPARATOR, "", ""),
};

export const DEEPSEEK_V3_2 = dsml("deepseek-v3.2", "function_calls");

export const DEEPSEEK_V4 = dsml("deepseek-v4", "tool_calls");

/** Calls with JSON arguments. The parser accepts both forms, the grammar writes one. */
function marked(before: string, named: string, tail: string, between: string): CallSyntax {
  return markedCalls({
    open: "<｜tool▁calls▁begin｜>",
    close: "<｜tool▁calls▁end｜>",
    begin: "<｜tool▁call▁begin｜>",
    end: "<｜tool▁call▁end｜>",
    between,
    head: HEAD,
    write: (name) => literal(before + name + named),
    tail,
  });
}

function dsml(name: string, section: string): AnswerFamily {
  return {
    name,
    recognises: (template) => template.includes("｜DSML｜") && template.includes(section),
    thinking: THINKING,
    calls: taggedCalls({
      section: [`<｜DSML｜${section}>\n`, `</｜DSML｜${section}>`],
      call: {
        open: '<｜DSML｜invoke name="',
        named: '"',
        begin: ">\n",
        close: "</｜DSML｜invoke>\n",
      },
      argument: {
        open: '<｜DSML｜parameter name="',
        named: '"',
        begin: ">",
        close: "</｜DSML｜parameter>\n",
      },
      gap: (type) => ` string="${type === "string"}"`,
    }),
  };
}
