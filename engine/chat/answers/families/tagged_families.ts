// Families that write calls between tags or other marks, with arguments in tags of their own or as
// JSON.

import { choice, literal, repeat, sequence, textWithout } from "../../../grammar/mod.ts";
import type { AnswerFamily, CallSyntax, ReadCall } from "../types.ts";
import { jsonCalls, readArguments } from "./json_calls.ts";
import { markedCalls, taggedCalls, type TaggedSyntax } from "./tagged_arguments.ts";
import { separated } from "./ordered.ts";
import { argumentsJson } from "./tool_schema.ts";

// The tags of GLM 4.5 and later, <arg_key> and <arg_value>, which Spark, Laguna, Ling and Hunyuan
// use, too. The families differ in line breaks; the parser accepts all.

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

// Kimi of Moonshot AI. K2 writes JSON after an id that contains the name, functions.NAME:0. K3
// marks every argument with its key and its type, and marks the response, too.

const NUMBER = repeat({ type: "characters", ranges: [[0x30, 0x39]] }, 1, 4);

export const KIMI_K2: AnswerFamily = {
  name: "kimi-k2",
  recognises: (template) => template.includes("<|tool_calls_section_begin|>"),
  calls: markedCalls({
    open: "<|tool_calls_section_begin|>",
    close: "<|tool_calls_section_end|>",
    begin: "<|tool_call_begin|>",
    end: "<|tool_call_end|>",
    head: /^\s*(?<id>(?:functions\.)?(?<name>[^<\s]+?)(?::\d+)?)\s*<\|tool_call_argument_begin\|>/,
    write: (name) =>
      sequence(literal(`functions.${name}:`), NUMBER, literal("<|tool_call_argument_begin|>")),
  }),
};

export const KIMI_K3: AnswerFamily = {
  name: "kimi-k3",
  recognises: (template) => template.includes("<|open|>") && template.includes("<|sep|>"),
  thinking: { open: "<|open|>think<|sep|>", close: "<|close|>think<|sep|>" },
  text: {
    open: ["<|open|>response<|sep|>"],
    close: ["<|close|>response<|sep|>", "<|close|>message<|sep|>"],
  },
  calls: taggedCalls({
    section: ["<|open|>tools<|sep|>", "<|close|>tools<|sep|>"],
    call: {
      open: '<|open|>call tool="',
      named: '"',
      begin: "<|sep|>",
      close: "<|close|>call<|sep|>",
    },
    callGap: sequence(literal(' index="'), NUMBER, literal('"')),
    argument: {
      open: '<|open|>argument key="',
      named: '"',
      begin: "<|sep|>",
      close: "<|close|>argument<|sep|>",
    },
    gap: (type) => ` type="${type}"`,
  }),
};

// DeepSeek. V3 and R1 write "function", the name and a block of JSON. V3.1 writes the name and bare
// JSON. V3.2 and V4 write DSML, an XML-like language that marks which parameters are strings.

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

// Solar Open of Upstage: calls with ids and JSON arguments. Thinking, text and calls are messages,
// but their marks suffice to tell them apart without headers.

const LETTERS_AND_DIGITS = [[0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a]] as const;

const ID = repeat({ type: "characters", ranges: LETTERS_AND_DIGITS }, 1, 16);

export const SOLAR: AnswerFamily = {
  name: "solar",
  recognises: (template) => template.includes("<|tool_call:name|>"),
  thinking: {
    open: "<|think|>",
    close: "<|end|>",
    lead: "<|end|><|begin|>assistant<|content|>",
  },
  text: { open: ["<|begin|>assistant", "<|content|>"], close: ["<|end|>"] },
  calls: markedCalls({
    open: "<|tool_calls|>",
    close: "<|calls|>",
    endsAnswer: true,
    begin: "<|tool_call:begin|>",
    end: "<|tool_call:end|>",
    head: /^(?<id>[^<]*)<\|tool_call:name\|>(?<name>[^<]*)<\|tool_call:args\|>/,
    write: (name) => sequence(ID, literal(`<|tool_call:name|>${name}<|tool_call:args|>`)),
  }),
};

/** Seed-OSS of ByteDance: parameters between tags, and thinking between <seed:think> tags. */
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

/**
 * MiniCPM 5 of OpenBMB: parameters in tags. Strings with XML's reserved characters are in CDATA
 * sections.
 */
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

/**
 * MiniMax. M1 writes JSON objects, one per line; M2 writes parameters in tags. M3, whose tags are
 * nested, has a file of its own.
 */
export const MINIMAX_M1: AnswerFamily = {
  name: "minimax-m1",
  recognises: (template) => /<tool_calls>(?:\\n|\n)/.test(template),
  thinking: { open: "<think>", close: "</think>" },
  calls: jsonCalls({
    openings: ["<tool_calls>\n"],
    closing: "\n</tool_calls>",
    list: ["", "\n", ""],
  }),
};

export const MINIMAX_M2: AnswerFamily = {
  name: "minimax-m2",
  recognises: (template) => template.includes("minimax:tool_call"),
  calls: taggedCalls({
    section: ["<minimax:tool_call>\n", "</minimax:tool_call>"],
    call: { open: '<invoke name="', named: '"', begin: ">\n", close: "</invoke>\n" },
    argument: { open: '<parameter name="', named: '"', begin: ">", close: "</parameter>\n" },
  }),
};

// MiroThinker: a tool of a server of the Model Context Protocol, named in tags, with JSON
// arguments. The server's name does not matter to the caller.

const CALL = /^([^<]+)<\/tool_name>\s*<arguments>([^]*)<\/arguments>/;

export const MIRO_THINKER: AnswerFamily = {
  name: "miro-thinker",
  recognises: (template) => template.includes("<use_mcp_tool>"),
  calls: {
    openings: ["<use_mcp_tool>"],
    closing: "</use_mcp_tool>",
    read(body) {
      const calls = body.split("<tool_name>").slice(1).map(readCall);
      const isWhole = calls.length > 0 && calls.every((call) => call !== undefined);
      return isWhole ? calls : undefined;
    },
    grammar(tools, { parallel }) {
      const call = choice(...tools.map((tool) =>
        sequence(
          literal("<server_name>"),
          textWithout("<", "\n"),
          literal(`</server_name>\n<tool_name>${tool.name}</tool_name>\n<arguments>\n`),
          argumentsJson(tool),
          literal("\n</arguments>\n"),
        )
      ));
      const open = literal("<use_mcp_tool>\n");
      return sequence(open, separated(call, "", parallel), literal("</use_mcp_tool>"));
    },
  },
};

function readCall(text: string): ReadCall | undefined {
  const [, name = "", body] = CALL.exec(text) ?? [];
  const members = body === undefined ? undefined : readArguments(body);
  return members && { name: name.trim(), arguments: members };
}
