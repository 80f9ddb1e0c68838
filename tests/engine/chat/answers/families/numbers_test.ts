// Numbers in calls: their JSON text has them as the model wrote them, in every form of call.

import { createAnswerFormat } from "../../../../../engine/chat/answers/answer_format.ts";
import { ANSWER_FAMILIES } from "../../../../../engine/chat/answers/families/mod.ts";
import { assertEquals } from "@std/assert";

const TOOLS = [{
  name: "find",
  parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
}];

const NUMBERS = ["1", "1.0", "-0.0", "1e21", "9007199254740993", "0.1234567890123456789", "1e400"];

/** Calls of find, with N in the place of the number. */
const ANSWERS: [family: string, answer: string][] = [
  ["apertus", '<|tools_prefix|>[{"find": {"n": N}}]<|tools_suffix|>'],
  ["apriel", '<tool_calls>[{"name": "find", "arguments": {"n": N}}]</tool_calls>'],
  ["hermes", '<tool_call>\n{"name": "find", "arguments": {"n": N}}\n</tool_call>'],
  ["hermes", '<tool_call>\n{"name": "find", "arguments": "{\\"n\\": N}"}\n</tool_call>'],
  ["llama3", '{"name": "find", "parameters": {"n": N}}'],
  ["llama3", "<|python_tag|>find.call(n=N)"],
  ["mistral", '[TOOL_CALLS][{"name": "find", "arguments": {"n": N}}]'],
  ["gemma4", "<|tool_call>call:find{n:N}<tool_call|>"],
  ["olmo", "<function_calls>find(n=N)</function_calls>"],
  ["lfm2", "<|tool_call_start|>[find(n=N)]<|tool_call_end|>"],
  ["glm", "<tool_call>find<arg_key>n</arg_key><arg_value>N</arg_value></tool_call>"],
  [
    "kimi-k3",
    '<|open|>tools<|sep|><|open|>call tool="find" index="1"<|sep|><|open|>argument key="n" type="number"<|sep|>N<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
  ],
  ["minicpm", '<function name="find"><param name="n">N</param></function>'],
  [
    "minimax-m3",
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="find">]<]minimax[>[<n>N]<]minimax[>[</n>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
  ],
  [
    "qwen-coder",
    "<tool_call>\n<function=find>\n<parameter=n>\nN\n</parameter>\n</function>\n</tool_call>",
  ],
  [
    "harmony",
    '<|channel|>commentary to=functions.find <|constrain|>json<|message|>{"n": N}<|call|>',
  ],
];

for (const [name, form] of ANSWERS) {
  Deno.test(`numbers in ${form.slice(0, 40)} are as the model wrote them`, () => {
    const family = ANSWER_FAMILIES.find((one) => one.name === name)!;
    const format = family.format ?? createAnswerFormat({ name, calls: family.calls! });
    for (const number of NUMBERS) {
      for (const streaming of [true, false]) {
        const prompt = name === "harmony" ? "<|start|>assistant" : "";
        const parser = format.parser({ prompt, tools: TOOLS, streaming: () => streaming });
        const events = [...parser.push(form.replace("N", number)), ...parser.end()];
        const json = events.map((event) => event.type === "callArguments" ? event.json : "");
        assertEquals(json.join("").replaceAll(" ", ""), `{"n":${number}}`);
        const values = events.find((event) => event.type === "callEnd")?.arguments;
        assertEquals(values, { n: Number(number) });
      }
    }
  });
}
