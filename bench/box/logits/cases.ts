// What Quern and llama.cpp are compared on: conversations, which the model's own template makes prompts
// of, and texts that are hard on tokenizers.

import { Random } from "../random.ts";
import { EVALUATED } from "../skills/mod.ts";
import type { Example } from "../types.ts";
import type { ChatMessage, ChatRequest, Tool } from "../../../engine/mod.ts";
import { benchmarkTexts, hostileTexts } from "../../tokenizer_texts.ts";

/** A conversation, and what to call it. */
export interface Conversation {
  readonly name: string;
  readonly request: ChatRequest;
}

const SEED = 7;
/** In UTF-16 units: of all that is made of a kind, and of the texts that it is cut into. */
const KIND_LENGTH = 20_000;
const PIECE_LENGTH = 200;

const WEATHER: Tool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Tells the weather of a city.",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string" },
        unit: { type: "string", enum: ["celsius", "fahrenheit"] },
        days: { type: ["integer", "null"] },
      },
      required: ["city"],
    },
  },
};

/** Conversations of the skills' evaluation, and some that nobody trained or evaluates. */
export function conversations(): Conversation[] {
  const random = new Random(SEED);
  const say = (content: string): ChatMessage => ({ role: "user", content });
  const system = (content: string): ChatMessage => ({ role: "system", content });
  const call = { name: "get_weather", arguments: { city: "Orléans", days: 2, unit: "<c&f>" } };
  const notes = Array.from({ length: 30 }, (_, i) => `Box ${i + 1} holds ${37 * i % 101} pears.`);
  return [
    ...EVALUATED.map((skill) => ({
      name: skill.name,
      request: requestOf(skill.example(random, "heldOut")),
    })),
    { name: "one word", request: { messages: [say("Hello")] } },
    {
      name: "French",
      request: {
        messages: [
          system("Réponds en français, en une phrase."),
          say("Où Quern garde-t-il ses modèles ? À côté de l’œuvre, peut-être…"),
        ],
      },
    },
    { name: "thinking", request: { messages: [say("What is 47 + 85?")], think: true } },
    { name: "no thinking", request: { messages: [say("What is 47 + 85?")], think: false } },
    {
      name: "tool result",
      request: {
        tools: [WEATHER],
        messages: [
          system("You are brief."),
          say("Is it raining in Orléans?"),
          { role: "assistant", content: "", toolCalls: [{ function: call }] },
          {
            role: "tool",
            content: '{"rain": false, "sky": "☀️ — clear"}',
            toolName: "get_weather",
          },
        ],
      },
    },
    { name: "300 tokens", request: { messages: [say(notes.join(" ")), say("What is in box 9?")] } },
  ];
}

/** The conversation up to the last answer. */
function requestOf({ system, tools, think, turns }: Example): ChatRequest {
  const messages: ChatMessage[] = [];
  if (system !== undefined) messages.push({ role: "system", content: system });
  for (const { user, toolResult, answer: { text = "", call } } of turns) {
    messages.push(
      user !== undefined
        ? { role: "user", content: user }
        : { role: "tool", content: toolResult ?? "" },
      { role: "assistant", content: text, ...call && { toolCalls: [{ function: call }] } },
    );
  }
  messages.pop();
  return { messages, ...tools && { tools }, ...think !== undefined && { think } };
}

const ODD_TEXTS = [
  ..." |  |      |\n|\n\n\n|\t\t|\r\n\r\n | \n |a|a |  a|a  b|\u00a0x|x\u2003y|\ufeff\ufeff".split(
    "|",
  ),
  "I'm sure you'll say WE'LL, they've, he'd, 'tis, it’s, o'clock, ''s",
  "0 12 123 1234567 3.14159 -1e-9 0x7f 1,000,000.00 ١٢٣ ४५६ ½ ² Ⅻ",
  "naïve café coöperate Ångström ǅ ß ẞ ﬁ œuvre Œ",
  "e\u0301 a\u030a\u0323 \u0301alone n\u0303o",
  "L’été, où l’on s’ennuie : « Ça va ? » — Très bien, aujourd’hui !",
  "中文字符，日本語のテキスト。한국어 텍스트 ไทย हिन्दी العربية עברית",
  "🙂👩‍👩‍👧‍👦🏳️‍🌈🇫🇷👍🏽 ❤️ ☺ 🧑🏿‍🚀x",
  "\u0000 \u0001\u007f\u0080\u009f \ud7ff\ue000\ufffd\uffff \u{1f9ff}\u{2ffff}\u{10ffff}",
  "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
  "<|im_start|> <|im_start |im_end|> <|im_end|><|im_end|> <think <tool_call>{}</tool_call>",
  'for (let i = 0; i < n; i++) {\n\t\tlog(`${a[i]}`); // ok?\n\n    }\r\n"""doc"""\n#!/bin/sh -e',
  "https://example.org/a/b.c?d=e&f=%20g#h user@example.com C:\\dir\\file.txt $HOME ~/.x",
  "... !!! ?! -- --- === *** ((())) [[]] {{}} <<>> ,,, ;;; ''' \"\"\" ``` @@@ ### $$$ %%% ^^^",
  "camelCase snake_case SCREAMING_CASE kebab-case x86_64 UTF-8 v1.2.3-rc.4",
];

/** Texts for tokenizers. */
export function oddTexts(): string[] {
  const long = Object.values({ ...benchmarkTexts(KIND_LENGTH), ...hostileTexts(KIND_LENGTH / 10) });
  return [...ODD_TEXTS, ...long.flatMap(cut), ...long];
}

function cut(text: string): string[] {
  const count = Math.ceil(text.length / PIECE_LENGTH);
  return Array.from(
    { length: count },
    (_, i) => text.slice(i * PIECE_LENGTH, (i + 1) * PIECE_LENGTH).toWellFormed(),
  );
}
