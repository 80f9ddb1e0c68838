// The streaming parser: thinking, text and calls at the seams between them, with the formats of the
// families that show each.

import {
  detectAnswerFormat,
  PLAIN_ANSWERS,
} from "../../../../engine/chat/answers/answer_format.ts";
import { BracketScanner } from "../../../../engine/chat/answers/open_call.ts";
import { joined, parse, parsePieces, type StreamOptions, WEATHER } from "./streams.ts";
import { assert, assertEquals } from "@std/assert";

const HERMES = detectAnswerFormat('<think></think><tool_call>{"name": "", "arguments": {}}');

const LLAMA = detectAnswerFormat('<|start_header_id|>ipython "parameters"');

const MISTRAL = detectAnswerFormat("[TOOL_CALLS][ARGS][THINK][/THINK]");

const ROME = '{"name": "get_weather", "arguments": {"city": "Rome"}}';

const ROME_CALL = { name: "get_weather", json: '{"city":"Rome"}', arguments: { city: "Rome" } };

const BEGUN = { prompt: "<|im_start|>assistant\n<think>\n" };

const CASES: [
  name: string,
  format: typeof HERMES,
  answer: string,
  parts: unknown[],
  options?: StreamOptions,
][] = [
  ["gives plain text as it is", PLAIN_ANSWERS, " a <think>b\n", [{ text: " a <think>b\n" }]],
  ["gives nothing for nothing", HERMES, "", []],
  ["keeps white space that no mark follows", HERMES, "\n\n a b \n", [{ text: "\n\n a b \n" }]],
  ["keeps an answer of white space", HERMES, " \n", [{ text: " \n" }]],
  [
    "trims after the marks of thinking, as Ollama does",
    HERMES,
    " \n<think>\n\n I see\n</think>\n\nHello ",
    [{ thinking: "I see\n" }, { text: "Hello " }],
  ],
  [
    "begins in the thinking that the prompt began",
    HERMES,
    "I see\n</think>\n\nHello",
    [{ thinking: "I see\n" }, { text: "Hello" }],
    BEGUN,
  ],
  [
    "takes an opening mark that the prompt has too",
    HERMES,
    "<think>\nI see</think>Hello",
    [{ thinking: "I see" }, { text: "Hello" }],
    BEGUN,
  ],
  ["takes empty thinking", HERMES, "<think>\n\n</think>\n\nHello", [{ text: "Hello" }]],
  ["takes thinking without an end", HERMES, "<think>\nI see </thin", [
    { thinking: "I see </thin" },
  ]],
  [
    "takes a closing mark that nothing opened for text",
    HERMES,
    "I see</think>Hello",
    [{ text: "I see</think>Hello" }],
    { prompt: "What does <think> mean?<|im_end|>\n<|im_start|>assistant\n" },
  ],
  [
    "takes an opening mark within text for text",
    HERMES,
    "The mark <think> opens",
    [{ text: "The mark <think> opens" }],
  ],
  [
    "reads calls after thinking and text, without the line breaks between",
    HERMES,
    `<think>\nHm\n</think>\n\nLet me see.\n\n<tool_call>\n${ROME}\n</tool_call>\n` +
    `<tool_call>\n${ROME}\n</tool_call>\n`,
    [{ thinking: "Hm\n" }, { text: "Let me see." }, ROME_CALL, ROME_CALL],
  ],
  [
    "goes on with text after a call",
    HERMES,
    `<tool_call>${ROME}</tool_call>\n\nDone. `,
    [ROME_CALL, { text: "Done. " }],
  ],
  [
    "takes thinking after a call",
    HERMES,
    `<tool_call>${ROME}</tool_call>\n<think>\nHm</think>\nDone`,
    [ROME_CALL, { thinking: "Hm" }, { text: "Done" }],
  ],
  ["reads a call without its closing mark", HERMES, `<tool_call>\n${ROME}`, [ROME_CALL]],
  [
    "reads calls of which one has no closing mark",
    HERMES,
    `<tool_call>\n${ROME}\n<tool_call>\n${ROME}\n</tool_call>`,
    [ROME_CALL, ROME_CALL],
  ],
  [
    "gives a call that cannot be read back whole",
    HERMES,
    "a \n<tool_call>\n{no\n}</tool_call>\n b",
    [{ text: "a \n<tool_call>\n{no\n}</tool_call>\n b" }],
  ],
  [
    "gives half a call back whole",
    HERMES,
    '<tool_call>\n{"name": "get_wea',
    [{ text: '<tool_call>\n{"name": "get_wea' }],
  ],
  [
    "reads a call after text that names its mark",
    HERMES,
    `Use <tool_call> so:\n<tool_call>\n${ROME}\n</tool_call>`,
    [{ text: "Use <tool_call> so:" }, ROME_CALL],
  ],
  [
    "takes a closing mark within a string for text",
    HERMES,
    '<tool_call>{"name": "get_weather", "arguments": {"city": "</tool_call>\\"}"}}</tool_call>',
    [{
      name: "get_weather",
      json: '{"city":"</tool_call>\\"}"}',
      arguments: { city: '</tool_call>"}' },
    }],
  ],
  [
    "finds the end of a call whose string has none",
    HERMES,
    `<tool_call>{"name": "get_weather", "arguments": {"city": "R\n</tool_call>\n<tool_call>${ROME}` +
    "</tool_call>",
    [
      {
        text: '<tool_call>{"name": "get_weather", "arguments": {"city": "R\n</tool_call>',
      },
      ROME_CALL,
    ],
  ],
  [
    "takes everything for text without tools",
    HERMES,
    `a\n<tool_call>${ROME}</tool_call>`,
    [{ text: `a\n<tool_call>${ROME}</tool_call>` }],
    { tools: [] },
  ],
  [
    "gives JSON at the beginning back where it is no call",
    LLAMA,
    ' {"name": "other", "parameters": {}} {"city": 1}',
    [{ text: ' {"name": "other", "parameters": {}} {"city": 1}' }],
  ],
  [
    "gives JSON within text back",
    LLAMA,
    'So: {"name": "get_weather", "parameters": {}}',
    [{ text: 'So: {"name": "get_weather", "parameters": {}}' }],
  ],
  [
    "goes on with text after a call without a closing mark",
    MISTRAL,
    '[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"} So [1]',
    [ROME_CALL, { text: "So [1]" }],
  ],
];

for (const [name, format, answer, parts, options] of CASES) {
  Deno.test(`the answer parser ${name}`, () => {
    assertEquals(parse(format, answer, options) as unknown[], parts);
    assertEquals(joined(parsePieces(format, [...answer], options)) as unknown[], parts);
  });
}

Deno.test("the answer parser gives arguments out as they come", () => {
  const parser = HERMES.parser({ prompt: "", tools: [WEATHER], streaming: () => true });
  const steps = [
    "Hm\n<tool_call>\n{",
    '"name": "get_weather", "arguments": ',
    '{"ci',
    'ty": "R}',
    '"}',
    "}\n</tool_call>",
  ].map((piece) => parser.push(piece));
  assertEquals(steps, [
    [{ type: "text", text: "Hm" }],
    [],
    [{ type: "callStart", name: "get_weather" }, { type: "callArguments", json: '{"ci' }],
    [{ type: "callArguments", json: 'ty": "R}' }],
    [{ type: "callArguments", json: '"}' }, { type: "callEnd", arguments: { city: "R}" } }],
    [],
  ]);
  assertEquals(parser.end(), []);
});

Deno.test("the answer parser never ends a call that is cut short, nor takes it for text", () => {
  const cut = { isCut: true, isWhole: false };
  const answer = 'Let me look. <tool_call>\n{"name": "get_weather", "arguments": {"city": "R"}}';
  const call = answer.slice(answer.indexOf("<"));
  for (let length = 1; length < call.length; length++) {
    for (const streaming of [() => true, undefined]) {
      const parser = HERMES.parser({ prompt: "", tools: [WEATHER], ...streaming && { streaming } });
      const events = [...parser.push(answer.slice(0, -length)), ...parser.end(cut)];
      const text = events.map((event) => "text" in event ? event.text : "").join("");
      assertEquals(text.trimEnd(), "Let me look.");
      const isWhole = streaming !== undefined && length === 1;
      assertEquals(events.some(({ type }) => type === "callEnd"), isWhole);
    }
  }
});

Deno.test("the answer parser streams a call only if it is sure to be whole when it begins", () => {
  let isSure = false;
  const streaming = () => isSure;
  const parser = HERMES.parser({ prompt: "", tools: [WEATHER], streaming });
  const call = (
    city: string,
  ) => ['<tool_call>\n{"name": "get_weather", "arguments": {', `"city": "${city}"}}\n</tool_call>`];
  const [first, second] = [call("A"), call("B")];
  assertEquals(parser.push(first[0]), []);
  isSure = true;
  assertEquals(parser.push(first[1]).map(({ type }) => type), [
    "callStart",
    "callArguments",
    "callEnd",
  ]);
  assertEquals(parser.push(second[0]).map(({ type }) => type), ["callStart", "callArguments"]);
});

Deno.test("the answer parser streams no call of a tool that there is not", () => {
  const answer = '<tool_call>\n{"name": "other", "arguments": {}}\n</tool_call>';
  const parser = HERMES.parser({ prompt: "", tools: [WEATHER], streaming: () => true });
  assertEquals(parser.push(answer.slice(0, -1)), []);
  assertEquals(parser.push(">").length, 3);
});

Deno.test("the answer parser holds back no more than what may become a mark", () => {
  const parser = HERMES.parser({ prompt: "", tools: [WEATHER] });
  const texts = ["Hel", "lo <", "tool", "s> ", "x <tool_call", "er>"].map((piece) =>
    parser.push(piece).map((event) => event.type === "text" ? event.text : event.type).join("|")
  );
  assertEquals(texts, ["Hel", "lo", "", " <tools>", " x", " <tool_caller>"]);
});

Deno.test("the answer parser gives a call that breaks off back at its closing mark", () => {
  const answer = '<tool_call>{"name": "get_weather", "arguments": {"city": </tool_call>';
  const parser = HERMES.parser({ prompt: "", tools: [WEATHER] });
  assertEquals(parser.push(answer), [{ type: "text", text: answer }]);
});

Deno.test("the answer parser gives JSON that is no call out at once", () => {
  const parser = LLAMA.parser({ prompt: "", tools: [WEATHER] });
  assertEquals(parser.push('{"ci'), []);
  assertEquals(parser.push('ty":'), [{ type: "text", text: '{"city":' }]);
});

Deno.test("the answer parser never gives out half a character", () => {
  const parser = PLAIN_ANSWERS.parser({ prompt: "", tools: [] });
  assertEquals(parser.push("a\ud83c"), [{ type: "text", text: "a" }]);
  assertEquals(parser.push("\udf27b"), [{ type: "text", text: "\u{1f327}b" }]);
});

const LENGTH = 100_000;

/** Long answers that make a parser slow which looks at anything twice. */
const LONG: [name: string, format: typeof HERMES, answer: string][] = [
  ["text", HERMES, "word ".repeat(LENGTH / 5)],
  ["white space", HERMES, "a" + " ".repeat(LENGTH)],
  ["white space at the beginning", HERMES, "\n".repeat(LENGTH)],
  ["thinking", HERMES, `<think>${"</thin ".repeat(LENGTH / 7)}`],
  ["beginnings of marks", HERMES, "<tool_cal".repeat(LENGTH / 9)],
  ["a call without an end", HERMES, `<tool_call>${"x".repeat(LENGTH)}`],
  ["openings", HERMES, "<tool_call>".repeat(LENGTH / 11)],
  ["calls", HERMES, `<tool_call>${ROME}</tool_call>\n`.repeat(LENGTH / 78)],
  ["long arguments", HERMES, `<tool_call>${ROME.replace("Rome", "R{".repeat(LENGTH / 2))}`],
  ["a JSON answer", LLAMA, `{"a": "${"b".repeat(LENGTH)}"}`],
  ["open brackets", LLAMA, `{"name": [${"[".repeat(LENGTH)}`],
  ["arguments without an end", MISTRAL, `[TOOL_CALLS]get_weather[ARGS]${"{".repeat(LENGTH)}`],
];

/** Methods that look at all of a text, and where they have it. */
const READERS: [
  owner: object,
  method: string,
  textOf: (self: unknown, first: unknown) => unknown,
][] = [
  ...["trim", "trimStart", "trimEnd", "match", "matchAll", "indexOf", "lastIndexOf", "includes"]
    .concat("replace", "replaceAll", "search", "split")
    .map((method): [object, string, (self: unknown) => unknown] => [
      String.prototype,
      method,
      (self) => self,
    ]),
  [RegExp.prototype, "exec", (_, first) => first],
  [BracketScanner.prototype, "scan", (_, first) => first],
  [JSON, "parse", (_, first) => first],
];

/** Characters that are looked at meanwhile: steps that no load of the machine changes. */
function charactersRead(run: () => void): number {
  let count = 0;
  const restore = READERS.map(([owner, method, textOf]) => {
    const { value, ...rest } = Object.getOwnPropertyDescriptor(owner, method)!;
    Object.defineProperty(owner, method, {
      ...rest,
      value(this: unknown, ...args: unknown[]) {
        count += String(textOf(this, args[0])).length;
        return value.apply(this, args);
      },
    });
    return () => Object.defineProperty(owner, method, { ...rest, value });
  });
  try {
    run();
  } finally {
    for (const undo of restore) undo();
  }
  return count;
}

/** How often a character may be looked at: marks are held back, and heads of calls are read again. */
const MOST_LOOKS = 64;

for (const [name, format, answer] of LONG) {
  Deno.test(`the answer parser looks at ${name} that come byte by byte a fixed number of times`, () => {
    const pieces = [...answer];
    const count = charactersRead(() => parsePieces(format, pieces));
    assert(count < MOST_LOOKS * pieces.length, `It looked at ${count} characters`);
  });
}
