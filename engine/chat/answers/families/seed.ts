// Seed-OSS of ByteDance: parameters between tags, and thinking between <seed:think> tags.

import type { AnswerFamily } from "../types.ts";
import { taggedCalls } from "./tagged_arguments.ts";

export const SEED: AnswerFamily = {
  name: "seed",
  recognises: (template) => template.includes("seed:tool_call"),
  thinking: { open: "<seed:think>", close: "</seed:think>" },
  calls: taggedCalls({
    section: ["<seed:tool_call>\n", "</seed:tool_call>"],
    between: "\n",
    call: { open: "<function=", named: ">", begin: "\n", close: "</function>\n" },
    argument: { open: "<parameter=", named: ">", begin: "", close: "</parameter>\n" },
  }),
};
