// Families whose answers are messages with headers: harmony (gpt-oss), Functionary 3.2 and Muse.

import {
  FUNCTIONARY_3_2,
  HARMONY,
  MUSE,
} from "../../../../../engine/chat/answers/families/message_families.ts";
import type { AnswerEvent } from "../../../../../engine/chat/answers/types.ts";
import { matches } from "./grammar_match.ts";
import { assertCutWhole, readAnswer, type WholeAnswer } from "./read_answer.ts";
import { assert, assertEquals } from "@std/assert";

const FORMATS = {
  harmony: HARMONY.format!,
  functionary: FUNCTIONARY_3_2.format!,
  muse: MUSE.format!,
};

const PROMPTS = {
  harmony: "<|start|>user<|message|>Hi<|end|><|start|>assistant",
  functionary: "<|start_header_id|>assistant<|end_header_id|>\n\n>>>",
  muse: "<|start|>user<|message|>Hi<|eot|><|start|>assistant",
};

type Family = keyof typeof FORMATS;

const TOOLS = [{
  name: "find",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
}];

const CALL = ["find", { text: "a" }] as const;

const NOTHING: WholeAnswer = { thinking: "", text: "", calls: [] };

/** Answers that grammars allow too. */
const ANSWERS: [family: Family, answer: string, expected: Partial<WholeAnswer>][] = [
  [
    "harmony",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello",
    { thinking: "Hm.", text: "Hello" },
  ],
  [
    "harmony",
    '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.find <|constrain|>json<|message|>{"text": "a"}',
    { thinking: "Hm.", text: "I look.", calls: [CALL] },
  ],
  [
    "harmony",
    ' to=functions.find<|channel|>commentary json<|message|>{"text": "a"}',
    { calls: [CALL] },
  ],
  ["functionary", 'find\n{"text": "a"}>>>find\n{"text": "a"}', { calls: [CALL, CALL] }],
  ["functionary", 'all\nI look.\n>>>find\n{"text": "a"}', { text: "I look.\n", calls: [CALL] }],
  ["functionary", "all\nHello", { text: "Hello" }],
  [
    "muse",
    ' to=self<|message|>Hm.<|eom|><|start|>assistant to=find<|message|><atem:function_calls>\n<atem:invoke name="find">\n<atem:parameter name="text">a</atem:parameter>\n</atem:invoke>\n</atem:function_calls>',
    { thinking: "Hm.", calls: [CALL] },
  ],
  ["muse", " to=user<|message|>Hello", { text: "Hello" }],
];

for (const [family, answer, expected] of ANSWERS) {
  Deno.test(`${family} reads and allows ${answer}`, () => {
    const [format, prompt] = [FORMATS[family], PROMPTS[family]];
    for (const piece of [1, 3, answer.length]) {
      for (const streaming of [false, true]) {
        const read = readAnswer(format, prompt, answer, TOOLS, { piece, streaming });
        assertEquals(read, { ...NOTHING, ...expected });
      }
    }
    const request = { prompt, tools: TOOLS, choice: "auto", parallel: true } as const;
    assert(matches(format.grammar(request)!.root, answer), answer);
    assertCutWhole(format, prompt, answer, TOOLS);
  });
}

/** What models write that grammars do not. */
const LOOSE: [family: Family, answer: string, expected: Partial<WholeAnswer>][] = [
  ["harmony", "Hello, no marks.", { text: "Hello, no marks." }],
  ["harmony", "x".repeat(1000), { text: "x".repeat(1000) }],
  ["harmony", "<|channel|>final<|message|>Hel<|return|>", { text: "Hel" }],
  ["harmony", "<|channel|>analysis<|message|>Cut sh", { thinking: "Cut sh" }],
  ["harmony", "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|chan", {
    thinking: "Hm.",
  }],
  ["harmony", "<|channel|>analysis<|message|>A<|start|>assistant<|channel|>final<|message|>B", {
    thinking: "A",
    text: "B",
  }],
  [
    "harmony",
    '<|channel|>analysis to=functions.find code<|message|>{"text": "a"}<|call|>',
    { calls: [CALL] },
  ],
  ["harmony", "<|channel|>commentary to=functions.find json<|message|>oh no<|call|>", {
    text: "oh no",
  }],
  ["harmony", '<|channel|>commentary to=browser.open json<|message|>{"id": 1}<|call|>', {
    calls: [["browser.open", { id: 1 }]],
  }],
  ["functionary", "all\nPython:\n>>> 1 + 1\n2\n>>> x", { text: "Python:\n>>> 1 + 1\n2\n>>> x" }],
  ["functionary", 'find\n{"text": ">>> a\\n"}', { calls: [["find", { text: ">>> a\n" }]] }],
  ["muse", " to=find<|message|>no tags<|eot|>", { text: "no tags" }],
];

for (const [family, answer, expected] of LOOSE) {
  Deno.test(`${family} reads ${answer.slice(0, 100)}`, () => {
    for (const piece of [1, answer.length]) {
      const read = readAnswer(FORMATS[family], PROMPTS[family], answer, TOOLS, { piece });
      assertEquals(read, { ...NOTHING, ...expected });
    }
  });
}

Deno.test("harmony gives text and arguments out as they come", () => {
  const parser = FORMATS.harmony.parser({
    prompt: PROMPTS.harmony,
    tools: TOOLS,
    streaming: () => true,
  });
  const pieces: [piece: string, events: AnswerEvent[]][] = [
    ["<|channel|>analysis<|mess", []],
    ["age|>Hm", [{ type: "thinking", text: "Hm" }]],
    [".<", [{ type: "thinking", text: "." }]],
    ["b<|end|>", [{ type: "thinking", text: "<b" }]],
    ["<|start|>assistant to=functions.find<|channel|>commentary json<|message|>", [
      { type: "callStart", name: "find" },
    ]],
    ['{"te', [{ type: "callArguments", json: '{"te' }]],
    ['xt":"a"}', [{ type: "callArguments", json: 'xt":"a"}' }]],
    ["<|call|>", [{ type: "callEnd", arguments: { text: "a" } }]],
  ];
  for (const [piece, events] of pieces) assertEquals(parser.push(piece), events);
  assertEquals(parser.end(), []);
});

Deno.test("harmony goes on with what the prompt has begun", () => {
  const final = `${PROMPTS.harmony}<|channel|>final<|message|>`;
  assertEquals(readAnswer(FORMATS.harmony, final, "Hello", []), { ...NOTHING, text: "Hello" });
  const analysis = `${PROMPTS.harmony}<|channel|>analysis<|message|>So`;
  const answer = "Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello";
  assertEquals(readAnswer(FORMATS.harmony, analysis, answer, []), {
    ...NOTHING,
    thinking: "Hm.",
    text: "Hello",
  });
});

Deno.test("messages are calls only where there are tools", () => {
  const call = '<|channel|>commentary to=functions.find json<|message|>{"text": "a"}';
  assertEquals(readAnswer(FORMATS.harmony, PROMPTS.harmony, call, []), {
    ...NOTHING,
    text: '{"text": "a"}',
  });
  const { read } = FORMATS.harmony.calls!;
  assertEquals(read(call, "<|start|>", TOOLS), [{ name: "find", arguments: { text: "a" } }]);
  assertEquals(read("<|channel|>final<|message|>a", "<|start|>", TOOLS), undefined);
});

Deno.test("grammars of messages keep to what is asked", () => {
  const { harmony } = FORMATS;
  const request = { prompt: PROMPTS.harmony, tools: TOOLS, parallel: true };
  const final = "<|channel|>final<|message|>";
  const call = '<|channel|>commentary to=functions.find json<|message|>{"text": "a"}';
  const required = harmony.grammar({ ...request, choice: "required" })!.root;
  assertEquals([matches(required, `${final}Hi`), matches(required, call)], [false, true]);
  const schema = { type: "object" };
  const typed = harmony.grammar({ ...request, choice: "none", schema })!.root;
  assertEquals(
    [`${final}Hi`, `${final}{"a": 1}`, call].map((answer) => matches(typed, answer)),
    [false, true, false],
  );
  assertEquals(harmony.grammar({ ...request, choice: "none" }), undefined);
  const begun = { ...request, prompt: PROMPTS.harmony + final, schema, choice: "auto" } as const;
  assert(matches(harmony.grammar(begun)!.root, '{"a": 1}'));
});
