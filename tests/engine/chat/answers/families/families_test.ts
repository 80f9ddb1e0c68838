// Small answers of every family, by hand: what is read, what is not, and what the grammars allow.
// The templates that models come with are in templates_test.ts.

import { ANSWER_FAMILIES } from "../../../../../engine/chat/answers/families/mod.ts";
import { formatOf } from "./format_of.ts";
import { matches } from "./grammar_match.ts";
import { assertCutWhole, readAnswer } from "./read_answer.ts";
import { assert, assertEquals } from "@std/assert";
import { assertInTime, threadTime } from "../../../../cpu_time.ts";
import { share } from "../../../../share.ts";

const TOOLS = [
  {
    name: "find",
    parameters: {
      type: "object",
      properties: {
        text: { type: "string" },
        count: { type: "integer" },
        exact: { type: "boolean" },
        tags: { type: "array", items: { type: "string" } },
        where: { $ref: "#/$defs/place" },
        order: { enum: ["up", "down"] },
        limit: { anyOf: [{ type: "integer" }, { type: "null" }] },
      },
      required: ["text"],
      $defs: { place: { type: "object", properties: { city: { type: "string" } } } },
    },
  },
  { name: "now", parameters: { type: "object", properties: {} } },
];

type Calls = [name: string, members: Record<string, unknown>][];

/** Answers that are calls, which the family's grammar allows too. */
const ANSWERS: [family: string, answer: string, calls: Calls][] = [
  ["apertus", '<|tools_prefix|>[{"find": {"text": "a"}}, {"now": {}}]<|tools_suffix|>', [
    ["find", { text: "a" }],
    ["now", {}],
  ]],
  ["apriel", '<tool_calls>[{"name": "find", "arguments": {"text": "a"}}]</tool_calls>', [
    ["find", { text: "a" }],
  ]],
  [
    "command-r7b",
    '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "find", "parameters": {"text": "a"}}\n]<|END_ACTION|>',
    [["find", { text: "a" }]],
  ],
  [
    "command-r",
    'Action:\n```json\n[\n    {\n        "tool_name": "now",\n        "parameters": {}}\n]```',
    [["now", {}]],
  ],
  [
    "deepseek-v3",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n```json\n{"text": "```"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [["find", { text: "```" }]],
  ],
  [
    "deepseek-v3.1",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>{"text": "a"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [["find", { text: "a" }], ["now", {}]],
  ],
  [
    "deepseek-v4",
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="find">\n<｜DSML｜parameter name="text" string="true">5</｜DSML｜parameter>\n<｜DSML｜parameter name="where" string="false">{"city": "b"}</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
    [["find", { text: "5", where: { city: "b" } }]],
  ],
  [
    "deepseek-v3.2",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="find">\n<｜DSML｜parameter name="text" string="true">a</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name="now">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    [["find", { text: "a" }], ["now", {}]],
  ],
  ["functionary-v3.1", '<function=find>{"text": "a > b"}</function>', [
    ["find", { text: "a > b" }],
  ]],
  ["functools", 'functools[{"name": "find", "arguments": {"text": "]"}}]', [
    ["find", { text: "]" }],
  ]],
  [
    "gemma4",
    '<|tool_call>call:find{count:-3,exact:false,tags:[<|"|>a,b<|"|>,<|"|><|"|>],text:<|"|>it\'s "5"}<|"|>,where:{city:<|"|>x<|"|>}}<tool_call|>',
    [["find", {
      count: -3,
      exact: false,
      tags: ["a,b", ""],
      text: 'it\'s "5"}',
      where: { city: "x" },
    }]],
  ],
  [
    "function-gemma",
    "<start_function_call>call:find{text:<escape>a<escape>}<end_function_call>",
    [["find", { text: "a" }]],
  ],
  [
    "olmo",
    '<function_calls>find(text="a")\nnow()</function_calls>',
    [["find", { text: "a" }], ["now", {}]],
  ],
  ["gigachat-3.1", '<|function_call|>{"name": "now", "arguments": {}}', [["now", {}]]],
  ["gigachat-3", '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "now", "arguments": {}}', [
    ["now", {}],
  ]],
  [
    "glm",
    "<tool_call>find<arg_key>text</arg_key><arg_value>5</arg_value><arg_key>limit</arg_key><arg_value>null</arg_value></tool_call><tool_call>now</tool_call>",
    [["find", { text: "5", limit: null }], ["now", {}]],
  ],
  [
    "glm-lines",
    "<tool_call>find\n<arg_key>text</arg_key>\n<arg_value> a\n</arg_value>\n<arg_key>order</arg_key>\n<arg_value>up</arg_value>\n</tool_call>",
    [["find", { text: " a\n", order: "up" }]],
  ],
  [
    "ling",
    "<tool_call>find\n<arg_key>text</arg_key>\n<arg_value>a</arg_value><arg_key>tags</arg_key>\n<arg_value>[]</arg_value>\n</tool_call>",
    [["find", { text: "a", tags: [] }]],
  ],
  ["granite3", '<|tool_call|>[{"name": "find", "arguments": {"text": "a"}}]', [
    ["find", { text: "a" }],
  ]],
  [
    "hunyuan",
    "<tool_calls:opensource>\n<tool_call:opensource>find<tool_sep:opensource>\n<arg_key:opensource>text</arg_key:opensource>\n<arg_value:opensource>a</arg_value:opensource>\n</tool_call:opensource>\n</tool_calls:opensource>",
    [["find", { text: "a" }]],
  ],
  [
    "kimi-k2",
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.find:12<|tool_call_argument_begin|>{"text": "a"}<|tool_call_end|><|tool_calls_section_end|>',
    [["find", { text: "a" }]],
  ],
  [
    "kimi-k3",
    '<|open|>tools<|sep|><|open|>call tool="find" index="1"<|sep|><|open|>argument key="text" type="string"<|sep|>7<|close|>argument<|sep|><|open|>argument key="count" type="number"<|sep|>7<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
    [["find", { text: "7", count: 7 }]],
  ],
  [
    "lfm2",
    '<|tool_call_start|>[find(text="a\\"(b), c", exact=True, tags=["x"], limit=null), now()]<|tool_call_end|>',
    [["find", { text: 'a"(b), c', exact: true, tags: ["x"], limit: null }], ["now", {}]],
  ],
  [
    "minicpm",
    '<function name="find"><param name="text"><![CDATA[a<b\n]]></param><param name="count">1</param></function>\n<function name="now"></function>',
    [["find", { text: "a<b\n", count: 1 }], ["now", {}]],
  ],
  [
    "minimax-m1",
    '<tool_calls>\n{"name": "find", "arguments": {"text": "a"}}\n{"name": "now", "arguments": {}}\n</tool_calls>',
    [["find", { text: "a" }], ["now", {}]],
  ],
  [
    "minimax-m2",
    '<minimax:tool_call>\n<invoke name="find">\n<parameter name="text">true</parameter>\n<parameter name="exact">true</parameter>\n</invoke>\n</minimax:tool_call>',
    [["find", { text: "true", exact: true }]],
  ],
  [
    "minimax-m3",
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="find">]<]minimax[>[<text>1]<]minimax[>[</text>]<]minimax[>[<tags>]<]minimax[>[<item>2]<]minimax[>[</item>]<]minimax[>[</tags>]<]minimax[>[<where>]<]minimax[>[<city>x]<]minimax[>[</city>]<]minimax[>[</where>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    [["find", { text: "1", tags: ["2"], where: { city: "x" } }]],
  ],
  [
    "miro-thinker",
    '<use_mcp_tool>\n<server_name>generic</server_name>\n<tool_name>find</tool_name>\n<arguments>\n{"text": "</arguments>"}\n</arguments>\n</use_mcp_tool>',
    [["find", { text: "</arguments>" }]],
  ],
  ["nemotron-nano", '<TOOLCALL>[{"name": "now", "arguments": {}}]</TOOLCALL>', [["now", {}]]],
  ["phi4", '<|tool_call|>[{"name": "now", "arguments": {}}]<|/tool_call|>', [["now", {}]]],
  [
    "seed",
    "<seed:tool_call>\n<function=find>\n<parameter=text>a</parameter>\n<parameter=count>2</parameter>\n</function>\n</seed:tool_call>",
    [["find", { text: "a", count: 2 }]],
  ],
  [
    "solar",
    '<|tool_calls|><|tool_call:begin|>Ab3<|tool_call:name|>find<|tool_call:args|>{"text": "a"}<|tool_call:end|>',
    [["find", { text: "a" }]],
  ],
];

for (const [name, answer, calls] of ANSWERS) {
  Deno.test(`the family ${name} reads and allows ${calls.map(([tool]) => tool).join(" and ")}`, () => {
    const format = formatNamed(name);
    const expected = { thinking: "", text: "", calls };
    for (const piece of [1, 7, answer.length]) {
      assertEquals(readAnswer(format, "", answer, TOOLS, { piece }), expected);
      assertEquals(readAnswer(format, "", answer, TOOLS, { piece, streaming: true }), expected);
    }
    assert(matches(format.calls!.grammar(TOOLS, { parallel: calls.length > 1 }), answer), answer);
    assertCutWhole(format, "", answer, TOOLS);
  });

  Deno.test(`the family ${name} allows no tool that there is not, and reads no half call`, () => {
    const { calls } = formatNamed(name);
    const grammar = calls!.grammar([{ name: "other", parameters: {} }], { parallel: true });
    assertEquals(matches(grammar, answer), false);
    const opening = calls!.openings.find((mark) => answer.startsWith(mark))!;
    const half = answer.slice(opening.length, opening.length + 2 + answer.length / 3);
    assertEquals(calls!.read(half, opening, TOOLS), undefined, half);
  });
}

/** What models write that grammars do not. */
const LOOSE: [family: string, answer: string, calls: Calls][] = [
  ["lfm2", "<|tool_call_start|>[find(text='it's', tags=('a',))]<|tool_call_end|>", [
    ["find", { text: "it's", tags: ["a"] }],
  ]],
  ["lfm2", '<|tool_call_start|>[{"name": "now", "arguments": {}}]<|tool_call_end|>', [["now", {}]]],
  ["phi4", 'functools[{"name": "now", "arguments": {}}]', [["now", {}]]],
  ["gemma4", '<|tool_call>call:find{text: "a", limit: None}<tool_call|>', [
    ["find", { text: "a", limit: null }],
  ]],
  [
    "minimax-m2",
    '<minimax:tool_call><invoke name="find"><parameter name="text">see </parameter> here</parameter><parameter name="tags">[\'a\']</parameter></invoke></minimax:tool_call>',
    [["find", { text: "see </parameter> here", tags: ["a"] }]],
  ],
  [
    "deepseek-v3",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>{"text": "a"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [["find", { text: "a" }]],
  ],
  [
    "glm",
    "<tool_call>unknown\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
    [["unknown", { a: 1 }]],
  ],
];

for (const [name, answer, calls] of LOOSE) {
  Deno.test(`the family ${name} reads ${answer}`, () => {
    const expected = { thinking: "", text: "", calls };
    assertEquals(readAnswer(formatNamed(name), "", answer, TOOLS), expected);
  });
}

Deno.test("no family takes long to find that a long text is no call", () => {
  const count = share(50_000, 200_000);
  const pieces = [
    "a",
    " ",
    "'",
    '"',
    "{",
    "[",
    "<arg_key>",
    "x\n",
    "\n",
    "`",
    '<|"|>',
    "(a,",
    "}\n",
  ];
  for (const { name, calls } of ANSWER_FAMILIES) {
    const answer = ANSWERS.find(([family]) => family === name)?.[1] ?? "";
    for (const opening of calls?.openings ?? []) {
      const whole = answer.slice(opening.length);
      const bodies = [
        ...pieces.map((piece) => piece.repeat(count)),
        ...pieces.map((piece) => whole.slice(0, whole.length / 2) + piece.repeat(count)),
        `${whole} `.repeat(count / 40),
      ];
      for (const body of bodies) {
        const started = threadTime();
        calls!.read(body, opening, TOOLS);
        assertInTime(threadTime() - started, count / 200, `${name}, of ${body.slice(-20)},`);
      }
    }
  }
});

function formatNamed(name: string) {
  return formatOf(ANSWER_FAMILIES.find((one) => one.name === name)!);
}
