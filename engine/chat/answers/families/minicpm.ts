// MiniCPM 5 of OpenBMB: parameters between tags; strings with characters that XML reserves stand
// in CDATA sections.

import type { AnswerFamily } from "../types.ts";
import { taggedCalls } from "./tagged_arguments.ts";

const CDATA = /^\s*<!\[CDATA\[([^]*)\]\]>\s*$/;

export const MINICPM: AnswerFamily = {
  name: "minicpm",
  recognises: (template) => template.includes('<function name="') && template.includes("<param "),
  calls: taggedCalls({
    section: ['<function name="', "</function>"],
    between: "\n",
    call: { open: "", named: '"', begin: ">", close: "" },
    argument: { open: '<param name="', named: '"', begin: ">", close: "</param>" },
    unwrap: (text) => CDATA.exec(text)?.[1],
  }),
};
