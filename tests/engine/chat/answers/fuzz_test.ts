// The events of an answer do not depend on where the stream is cut, whatever the answer is made of.

import { detectAnswerFormat } from "../../../../engine/chat/answers/answer_format.ts";
import { joined, parsePieces, WEATHER } from "./streams.ts";
import { assertEquals } from "@std/assert";

/** Templates with no more than the marks that tell the family. */
const TEMPLATES: Record<string, string> = {
  hermes: '<think></think><tool_call>{"name": "", "arguments": {}}</tool_call>',
  "qwen-coder": "<think></think><tool_call><function=<parameter=",
  llama3: '<|start_header_id|>ipython "parameters" <|python_tag|>',
  mistral: "[TOOL_CALLS] [ARGS] [THINK] [/THINK]",
};

/** What answers are made of: marks, halves of marks, calls that are right and wrong, and text. */
const FRAGMENTS = [
  "<think>",
  "</think>",
  "[THINK]",
  "[/THINK]",
  "</thi",
  "<tool_call>",
  "</tool_call>",
  "<tool",
  "[TOOL_CALLS]",
  "[TOOL",
  "<|python_tag|>",
  "get_weather[ARGS]",
  "get_weather[CALL_ID]abcdefghi[ARGS]",
  '{"city": "Köln 🌧 </tool_call> \\" }"}',
  '{"name": "get_weather", "arguments": {"city": "Rome"}}',
  '{"name": "get_weather", "parameters": {"city": "R{om", "deep": [{}, []]}}',
  '{"type": "function", "name": "get_weather", "parameters": {"city": "a"}}',
  '[{"name": "get_weather", "arguments": {"city": "x"}, "id": "abcdefghi"}]',
  '{"name": "get_weather", "arguments": "{\\"city\\": \\"Rome\\"}"}',
  '{"name": "other", "parameters": {}}',
  '{"name": "get_weather", "arguments": {"city": <',
  'get_weather.call(city="Oslo")',
  "<function=get_weather>\n<parameter=city>\nPa\nris\n</parameter>\n</function>",
  "<function=get_weather>",
  "{",
  "}",
  "; ",
  "\n",
  "  \n\n",
  "Hello",
  "𝒳🌧",
  "x",
];

const PROMPTS = ["", "<think>\n", "[THINK]", "<think>\n\n</think>\n\n"];

for (const [name, template] of Object.entries(TEMPLATES)) {
  Deno.test(`the parser of ${name} gives the same events however the answer is cut`, () => {
    const format = detectAnswerFormat(template);
    assertEquals(format.name, name);
    const random = createRandom(7);
    const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)]!;
    for (let round = 0; round < 1500; round++) {
      const answer = Array.from({ length: 1 + random() * 8 }, () => pick(FRAGMENTS)).join("");
      const options = { prompt: pick(PROMPTS), tools: [WEATHER], streaming: random() < 0.5 };
      const expected = joined(parsePieces(format, [answer], options));
      for (const longest of [1, 4, 30]) {
        const pieces = cut(answer, () => 1 + Math.floor(random() * longest));
        const actual = joined(parsePieces(format, pieces, options));
        assertEquals(actual, expected, JSON.stringify({ options, pieces, actual, expected }));
      }
    }
  });
}

/** Cuts between UTF-16 units: halves of characters too. */
function cut(text: string, length: () => number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + length();
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** Numbers from 0 to 1, always the same (mulberry32). */
function createRandom(seed: number): () => number {
  return () => {
    seed = seed + 0x6d2b79f5 | 0;
    let value = Math.imul(seed ^ seed >>> 15, 1 | seed);
    value = value + Math.imul(value ^ value >>> 7, 61 | value) ^ value;
    return ((value ^ value >>> 14) >>> 0) / 2 ** 32;
  };
}
