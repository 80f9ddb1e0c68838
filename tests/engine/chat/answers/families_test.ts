// The families of the core: answers as their models write them, right and not quite right, and what
// their grammars allow. Templates stand for their marks; real ones are in templates_test.ts.

import { detectAnswerFormat } from "../../../../engine/chat/answers/answer_format.ts";
import type { CallableTool } from "../../../../engine/chat/answers/types.ts";
import { matches } from "./families/grammar_match.ts";
import { assertCutWhole } from "./families/read_answer.ts";
import { bytePieces, callsOf, joined, parse, parsePieces, WEATHER } from "./streams.ts";
import { assert, assertEquals } from "@std/assert";

const FORMATS = {
  hermes: detectAnswerFormat('<tool_call>\\n{\\"name\\": <name>, \\"arguments\\": <args>}'),
  coder: detectAnswerFormat("<think></think><tool_call><function=<parameter="),
  llama: detectAnswerFormat('<|start_header_id|> ipython <|python_tag|> "parameters": '),
  mistral: detectAnswerFormat("[TOOL_CALLS]"),
  marked: detectAnswerFormat("[TOOL_CALLS][ARGS]"),
  withId: detectAnswerFormat("[TOOL_CALLS][CALL_ID][ARGS]"),
};

const NOTE: CallableTool = {
  name: "write_note",
  parameters: {
    type: "object",
    properties: {
      text: { type: "string" },
      tags: { $ref: "#/$defs/tags" },
      stars: { type: ["integer", "null"] },
      pinned: { type: "boolean" },
    },
    required: ["text"],
    $defs: { tags: { type: "array", items: { type: "string" } } },
  },
};

const SEARCH: CallableTool = { name: "brave_search", parameters: { type: "object" } };

const TOOLS = [WEATHER, NOTE, SEARCH];

const ROME: [string, unknown] = ["get_weather", { city: "Rome" }];

const OSLO: [string, unknown] = ["get_weather", { city: "Oslo", days: 2 }];

const ROME_JSON = '{"city": "Rome"}';

const OSLO_JSON = '{"city": "Oslo", "days": 2}';

/** Answers of nothing but calls; "=": the grammar allows them too. */
const ANSWERS: [format: keyof typeof FORMATS, answer: string, calls: [string, unknown][]][] = [
  [
    "hermes",
    `=<tool_call>\n{"name": "get_weather", "arguments": ${ROME_JSON}}\n</tool_call>\n` +
    `<tool_call>\n{"name": "get_weather", "arguments": ${OSLO_JSON}}\n</tool_call>`,
    [ROME, OSLO],
  ],
  [
    "hermes",
    `<tool_call>{"arguments": ${ROME_JSON}, "name": "get_weather"}</tool_call>`,
    [ROME],
  ],
  [
    "hermes",
    `<tool_call>{"name": "get_weather", "arguments": ${JSON.stringify(ROME_JSON)}}</tool_call>`,
    [ROME],
  ],
  [
    "coder",
    "=<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n" +
    "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
    [OSLO],
  ],
  [
    "coder",
    "=<tool_call>\n<function=write_note>\n<parameter=text>\n\n 007\n</tool_call>\n\n</parameter>\n" +
    '<parameter=tags>\n["a", "b"]\n</parameter>\n<parameter=stars>\nnull\n</parameter>\n' +
    "<parameter=pinned>\ntrue\n</parameter>\n</function>\n</tool_call>",
    [["write_note", {
      text: "\n 007\n</tool_call>\n",
      tags: ["a", "b"],
      stars: null,
      pinned: true,
    }]],
  ],
  [
    "coder",
    "<tool_call>\n<function=write_note>\n<parameter=text>\n</parameter> <b>\n</parameter>\n" +
    "<parameter=pinned>\nTrue\n</parameter>\n</function>\n</tool_call>",
    [["write_note", { text: "</parameter> <b>", pinned: true }]],
  ],
  [
    "coder",
    "<tool_call><function=get_weather><parameter=city>Rome</parameter></function></tool_call>" +
    "<tool_call><function=get_weather><parameter=city>Oslo</parameter><parameter=days>2" +
    "</parameter></function></tool_call>",
    [ROME, OSLO],
  ],
  [
    "coder",
    "<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>",
    [ROME],
  ],
  [
    "coder",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n<parameter=days>\n2",
    [OSLO],
  ],
  ["coder", "=<tool_call>\n<function=brave_search>\n</function>\n</tool_call>", [[
    "brave_search",
    {},
  ]]],
  ["llama", `={"name": "get_weather", "parameters": ${ROME_JSON}}`, [ROME]],
  ["llama", `\n\n{"name": "get_weather", "parameters": ${ROME_JSON}}\n`, [ROME]],
  ["llama", `=<|python_tag|>{"name": "get_weather", "parameters": ${ROME_JSON}}`, [ROME]],
  ["llama", `={"type": "function", "name": "get_weather", "parameters": ${ROME_JSON}}`, [ROME]],
  [
    "llama",
    `={"name": "get_weather", "parameters": ${ROME_JSON}}; ` +
    `{"name": "get_weather", "parameters": ${OSLO_JSON}}`,
    [ROME, OSLO],
  ],
  [
    "llama",
    `<|python_tag|>{"name": "get_weather", "parameters": ${ROME_JSON}};` +
    `{\n  "name": "get_weather",\n  "parameters": ${OSLO_JSON}\n}`,
    [ROME, OSLO],
  ],
  ["llama", `{"parameters": ${ROME_JSON}, "name": "get_weather"}`, [ROME]],
  ["llama", `{"function": "get_weather", "parameters": ${ROME_JSON}}`, [ROME]],
  [
    "llama",
    `{"type": "function", "function": {"name": "get_weather", "parameters": ${ROME_JSON}}}`,
    [ROME],
  ],
  [
    "llama",
    '<|python_tag|>brave_search.call(query="weather, \\"Rome\\"")',
    [["brave_search", { query: 'weather, "Rome"' }]],
  ],
  [
    "mistral",
    `=[TOOL_CALLS] [{"name": "get_weather", "arguments": ${ROME_JSON}}, ` +
    `{"name": "get_weather", "arguments": ${OSLO_JSON}, "id": "abcdefgh1"}]`,
    [ROME, OSLO],
  ],
  [
    "mistral",
    `[TOOL_CALLS][{"arguments": ${ROME_JSON}, "name": "get_weather", "id": "abcdefgh1"}]\n`,
    [ROME],
  ],
  [
    "marked",
    `=[TOOL_CALLS]get_weather[ARGS]${ROME_JSON}[TOOL_CALLS]get_weather[ARGS]${OSLO_JSON}`,
    [ROME, OSLO],
  ],
  ["marked", `[TOOL_CALLS]get_weather${ROME_JSON}`, [ROME]],
  ["marked", `[TOOL_CALLS][{"name": "get_weather", "arguments": ${ROME_JSON}}]`, [ROME]],
  ["withId", `=[TOOL_CALLS]get_weather[CALL_ID]abcdefgh1[ARGS]${ROME_JSON}`, [ROME]],
];

for (const [name, entry, calls] of ANSWERS) {
  const answer = entry.replace(/^=/, "");
  Deno.test(`answers of ${name} like ${JSON.stringify(answer.slice(0, 60))} are calls`, () => {
    for (const size of [1, 3, 7, answer.length * 2]) {
      const parts = joined(parsePieces(FORMATS[name], bytePieces(answer, size), { tools: TOOLS }));
      assertEquals(callsOf(parts), calls, JSON.stringify(parts));
      assertEquals(parts.length, calls.length, JSON.stringify(parts));
    }
    const streamed = parse(FORMATS[name], answer, { tools: TOOLS, streaming: true });
    assertEquals(callsOf(streamed), calls);
    const parallel = calls.length > 1;
    const grammar = FORMATS[name].calls!.grammar(TOOLS, { parallel });
    assert(!entry.startsWith("=") || matches(grammar, answer), "The grammar refuses it");
    assertCutWhole(FORMATS[name], "", answer, TOOLS);
  });
}

Deno.test("calls have ids where the family writes them", () => {
  const idOf = (format: keyof typeof FORMATS, answer: string) =>
    parse(FORMATS[format], answer).map((part) => "name" in part ? part.id : part);
  const list =
    `[TOOL_CALLS][{"name": "get_weather", "arguments": ${ROME_JSON}, "id": "a23456789"}]`;
  assertEquals(idOf("mistral", list), ["a23456789"]);
  const marked = `[TOOL_CALLS]get_weather[CALL_ID]a23456789[ARGS]${ROME_JSON}`;
  assertEquals(idOf("withId", marked), ["a23456789"]);
  assertEquals(idOf("marked", `[TOOL_CALLS]get_weather[ARGS]${ROME_JSON}`), [undefined]);
});

/** Answers that look like calls and are none. */
const TEXTS: [format: keyof typeof FORMATS, answer: string][] = [
  ["hermes", '<tool_call>\n{"name": "get_weather", "arguments": [1]}\n</tool_call>'],
  ["coder", "<tool_call>\n<function=get_weather>\nRome\n</function>\n</tool_call>"],
  ["coder", "Use <function=f> in your code."],
  ["coder", "Use <function=f>"],
  ["llama", '{"city": "Rome"}'],
  ["llama", '{"name": "Ada", "parameters": {}}'],
  ["llama", "{}"],
  ["llama", '<|python_tag|>print("Rome")'],
  ["llama", '<|python_tag|>{"name": "other", "parameters": {}}'],
  ["llama", `{"name": "get_weather", "parameters": {"city": Rome}}`],
  ["mistral", "[TOOL_CALLS] none"],
  ["marked", "[TOOL_CALLS]get_weather[ARGS]{"],
];

for (const [name, answer] of TEXTS) {
  Deno.test(`answers of ${name} like ${JSON.stringify(answer.slice(0, 60))} are text`, () => {
    for (const size of [1, 3, 7, answer.length * 2]) {
      const parts = joined(parsePieces(FORMATS[name], bytePieces(answer, size), { tools: TOOLS }));
      assertEquals(parts, [{ text: answer }]);
    }
  });
}
