// MiniCPM 5 of OpenBMB: parameters in tags. Strings with XML's reserved characters are in CDATA
// sections.

import type { AnswerFamily } from "../types.ts";
import { taggedCalls } from "./tagged_arguments.ts";

export const MINICPM: AnswerFamily = {
  name: "minicpm",
  recognises: (template) => template.includes('<function name="') && template.includes("<param "),
  calls: taggedCalls({
    section: ['<function name="', "</function>"],
    between: "\n",
    call: { open: "", named: '"', begin: ">", close: "" },
    argument: { open: '<param name="', named: '"', begin: ">", close: "</param>" },
    quotes: ["<![CDATA[", "]]>"],
  }),
};
