// Formats as a whole: what templates tell of thinking and calls, and the grammars of answers.

import {
  createAnswerFormat,
  detectAnswerFormat,
  PLAIN_ANSWERS,
} from "../../../../engine/chat/answers/answer_format.ts";
import type { AnswerRequest, CallableTool } from "../../../../engine/chat/answers/types.ts";
import { matches } from "./families/grammar_match.ts";
import { parse, WEATHER } from "./streams.ts";
import { assertEquals } from "@std/assert";

const HERMES = detectAnswerFormat('<tool_call>{"name": "", "arguments": {}}');

const THINKER = detectAnswerFormat('<think></think><tool_call>{"name": "", "arguments": {}}');

const LLAMA = detectAnswerFormat('<|start_header_id|>ipython "parameters"');

const BEGUN = "<|im_start|>assistant\n<think>\n";

const ENDED = "<|im_start|>assistant\n<think>\n\n</think>\n\n";

const CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>';

const LLAMA_CALL = '{"name": "get_weather", "parameters": {"city": "Rome"}}';

const SCHEMA = { type: "object" };

const DETECTED: [template: string | undefined, name: string, thinking?: string][] = [
  [undefined, "plain"],
  ["{% for message in messages %}{{ message.content }}{% endfor %}", "plain"],
  ["{{ '<think>\\n' }}", "plain", "<think>"],
  ["{{ content.split('</think>')[-1] }}", "plain", "<think>"],
  ["[TOOL_CALLS][ARGS][THINK][/THINK]", "mistral", "[THINK]"],
  ['<tool_call>{\\"name\\": <name>, \\"arguments\\": <args>}</tool_call>', "hermes"],
  ["<tool_call><function=f><parameter=p>", "qwen-coder"],
];

for (const [template, name, thinking] of DETECTED) {
  Deno.test(`detectAnswerFormat() takes ${template ?? "no template"} for ${name}`, () => {
    const format = detectAnswerFormat(template);
    assertEquals([format.name, format.thinking?.open], [name, thinking]);
  });
}

Deno.test("a format without calls and thinking gives text back, marks and all", () => {
  const answer = `<think>a</think>${CALL}`;
  assertEquals(parse(PLAIN_ANSWERS, answer), [{ text: answer }]);
});

Deno.test("a format leaves out the marks around text", () => {
  const marks = { open: ["<|START_RESPONSE|>"], close: ["<|END_RESPONSE|>"] };
  const thinking = { open: "<|START_THINKING|>", close: "<|END_THINKING|>" };
  const format = createAnswerFormat({ name: "marked", thinking, text: marks });
  const answer = "<|START_THINKING|>Hm<|END_THINKING|><|START_RESPONSE|>Hello <b><|END_RESPONSE|>";
  assertEquals(parse(format, answer), [{ thinking: "Hm" }, { text: "Hello <b>" }]);
  const { root } = format.grammar(request({ choice: "none", schema: SCHEMA }))!;
  assertEquals(matches(root, "<|START_RESPONSE|>{}<|END_RESPONSE|>"), true);
  assertEquals(matches(root, "<|START_RESPONSE|>Hello"), false);
});

/** Requests with answers that their grammars allow, and refuse. */
const GRAMMARS: [
  name: string,
  format: typeof HERMES,
  request: Partial<AnswerRequest>,
  allowed: string[],
  refused: string[],
][] = [
  [
    "a call that must come",
    HERMES,
    { choice: "required", parallel: false },
    [CALL],
    ["", "Hm", `Hm\n${CALL}`, `${CALL}\n${CALL}`, CALL.replace("get_weather", "other")],
  ],
  ["calls that must come", HERMES, { choice: "required" }, [CALL, `${CALL}\n${CALL}`], ["Hm"]],
  [
    "calls or text",
    HERMES,
    {},
    ["", "Hm {", CALL, `Hm\n\n${CALL}\n${CALL}\nSo`],
    ["<tool_call>", `Hm <tool_call> ${CALL}`, CALL.slice(0, -1)],
  ],
  [
    "one call or text",
    HERMES,
    { parallel: false },
    ["Hm", CALL, `Hm\n${CALL}\n`],
    [`${CALL}\n${CALL}`],
  ],
  [
    "a call or a document",
    HERMES,
    { schema: SCHEMA, parallel: false },
    [CALL, '{"a": 1}'],
    ["", "Hm", `{}${CALL}`],
  ],
  ["a document", HERMES, { choice: "none", schema: SCHEMA }, ["{}"], [CALL, "Hm"]],
  ["a document without tools", HERMES, { tools: [], schema: SCHEMA }, ["{}"], [CALL, "Hm"]],
  ["a document of a model without calls", PLAIN_ANSWERS, { schema: SCHEMA }, ["{}"], [CALL]],
  [
    "a document after thinking or at once",
    THINKER,
    { choice: "none", schema: SCHEMA },
    ["{}", "<think>\nHm {\n</think>\n\n{}"],
    ["Hm", "<think>Hm", "<think>Hm</think>Hm", "Hm</think>{}"],
  ],
  [
    "a document after thinking that has begun",
    THINKER,
    { choice: "none", schema: SCHEMA, prompt: BEGUN },
    ["Hm\n</think>\n\n{}", "</think>{}"],
    ["{}", "Hm</think>Hm", "</think>{}</think>{}"],
  ],
  [
    "a document without thinking",
    THINKER,
    { choice: "none", schema: SCHEMA, prompt: ENDED },
    ["{}"],
    ["<think>Hm</think>{}"],
  ],
  [
    "a call after thinking",
    THINKER,
    { choice: "required", prompt: BEGUN },
    [`Hm\n</think>\n\n${CALL}`],
    ["Hm", CALL, "Hm\n</think>\n\nHm"],
  ],
  [
    "calls of Llama or text, JSON too",
    LLAMA,
    { parallel: false },
    ["", LLAMA_CALL, '{"city": "Rome"}', '{"name": "other"}', "a { b"],
    [LLAMA_CALL.slice(0, -1), '{"name": "get_weather"}', "<|python_tag|>print()"],
  ],
];

for (const [name, format, partial, allowed, refused] of GRAMMARS) {
  Deno.test(`the grammar of ${name} allows that and no more`, () => {
    const { root } = format.grammar(request(partial))!;
    for (const answer of allowed) assertEquals([answer, matches(root, answer)], [answer, true]);
    for (const answer of refused) assertEquals([answer, matches(root, answer)], [answer, false]);
  });
}

Deno.test("there is no grammar where anything goes", () => {
  assertEquals(HERMES.grammar(request({ choice: "none" })), undefined);
  assertEquals(HERMES.grammar(request({ tools: [] })), undefined);
  assertEquals(THINKER.grammar(request({ tools: [], prompt: BEGUN })), undefined);
  assertEquals(PLAIN_ANSWERS.grammar(request({ choice: "required" })), undefined);
});

function request(partial: Partial<AnswerRequest>): AnswerRequest {
  const tools: readonly CallableTool[] = [WEATHER];
  return { prompt: "", tools, choice: "auto", parallel: true, ...partial };
}
