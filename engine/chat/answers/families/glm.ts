// The tags of GLM 4.5 and later, <arg_key> and <arg_value>, which Spark, Laguna, Ling and Hunyuan
// use, too. The families differ in line breaks; the parser accepts all.

import type { AnswerFamily } from "../types.ts";
import { taggedCalls, type TaggedSyntax } from "./tagged_arguments.ts";

/** GLM 4.5 and 4.6: every tag is in a line of its own. */
export const GLM_LINES: AnswerFamily = {
  name: "glm-lines",
  recognises: (template) => /<\/arg_key>(?:\\n|\n)<arg_value>/.test(template),
  calls: taggedCalls(syntax("\n", "\n", "\n", "")),
};

/** Ling: a line break before a value, none after it. */
export const LING: AnswerFamily = {
  name: "ling",
  recognises: (template) => /'\\n<arg_value>'/.test(template),
  calls: taggedCalls(syntax("\n", "\n", "", "\n")),
};

/** GLM 4.7 and later: no line breaks. */
export const GLM: AnswerFamily = {
  name: "glm",
  recognises: (template) => template.includes("<arg_key>"),
  calls: taggedCalls(syntax("", "", "", "")),
};

/** Hunyuan 3: tags with a suffix, and one more around all calls. */
export const HUNYUAN: AnswerFamily = {
  name: "hunyuan",
  recognises: (template) => template.includes("<tool_sep{}>") && template.includes(":opensource"),
  thinking: { open: "<think:opensource>", close: "</think:opensource>" },
  calls: taggedCalls({
    section: ["<tool_calls:opensource>\n", "</tool_calls:opensource>"],
    call: {
      open: "<tool_call:opensource>",
      named: "<tool_sep:opensource>",
      begin: "\n",
      close: "</tool_call:opensource>\n",
    },
    argument: {
      open: "<arg_key:opensource>",
      named: "</arg_key:opensource>",
      begin: "\n<arg_value:opensource>",
      close: "</arg_value:opensource>\n",
    },
  }),
};

/** The white space after the name, before a value, after it, and before the end. */
function syntax(name: string, before: string, after: string, end: string): TaggedSyntax {
  return {
    section: ["<tool_call>", `${end}</tool_call>`],
    between: name,
    call: { open: "", named: name, begin: "", close: "" },
    argument: {
      open: "<arg_key>",
      named: "</arg_key>",
      begin: `${before}<arg_value>`,
      close: `</arg_value>${after}`,
    },
  };
}
