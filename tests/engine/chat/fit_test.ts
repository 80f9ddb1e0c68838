// Which of the oldest messages go where a conversation does not fit: as few as possible, found with
// few measurements, and with the prompt that a conversation without them has.

import { type ChatContext, chatPrompt } from "../../../engine/chat/chat.ts";
import { fewestToDrop } from "../../../engine/chat/fit.ts";
import { type ChatMessage, type ChatRequest, ContextLengthError } from "../../../engine/mod.ts";
import { createChatTemplate, createTokenizer } from "../../../tokenizer/mod.ts";
import { bytePairs, kind } from "../../tokenizer/vocabularies.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";

/** Numbers that look drawn, the same each time. */
function* draws(seed: number): Generator<number, never> {
  for (let state = seed;;) {
    state = Math.imul(state, 1664525) + 1013904223 >>> 0;
    yield state / 2 ** 32;
  }
}

Deno.test("fewestToDrop() finds what trying one after the other finds, in a handful of tries", () => {
  const draw = draws(7);
  let most = 0;
  for (let round = 0; round < 300; round++) {
    const count = 1 + Math.floor(draw.next().value * (round % 3 === 0 ? 4000 : 40));
    const sizes = Array.from({ length: count }, () => {
      const size = draw.next().value;
      return Math.floor(round % 2 === 0 ? size * 100 : size ** 12 * 20_000);
    });
    const messages = sizes.map((size) => ({ content: "x".repeat(size) }));
    const perUnit = 0.1 + draw.next().value;
    const rest = (dropped: number) =>
      20 + sizes.slice(dropped).reduce((sum, size) => sum + 5 + Math.ceil(size * perUnit), 0);
    const limit = Math.max(22, Math.floor(draw.next().value * 1.2 * rest(0)));
    // Every third round a template refuses what begins with an answer.
    const isRefused = (dropped: number) => round % 3 === 2 && dropped % 2 === 1;
    let measured = 0;
    const found = fewestToDrop(messages, 10, limit, (dropped) => {
      measured++;
      if (isRefused(dropped)) return { fits: false };
      const tokens = rest(dropped);
      return { fits: tokens < limit, tokens };
    });
    let expected: number | undefined;
    for (let dropped = count; dropped >= 0; dropped--) {
      if (!isRefused(dropped) && rest(dropped) < limit) expected = dropped;
    }
    assertEquals(found, expected, `round ${round}`);
    most = Math.max(most, measured);
  }
  assert(most <= 45, `${most} measurements`);
});

const MARKS = ["<|im_start|>", "<|im_end|>"];

const tokenizer = createTokenizer(bytePairs([], MARKS.map((mark) => [mark, kind.control])));

const CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n" +
  "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

function contextOf(source: string, contextLength: number): ChatContext & { renderings: number } {
  const template = createChatTemplate(source, {});
  const context = {
    renderings: 0,
    tokenizer,
    contextLength,
    template: {
      ...template,
      renderText(...input: Parameters<typeof template.renderText>) {
        context.renderings++;
        return template.renderText(...input);
      },
    },
  };
  return context as unknown as ChatContext & { renderings: number };
}

function dialog(count: number): ChatMessage[] {
  return Array.from({ length: count }, (_, i) => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: `Message ${i} of many.`.padEnd(30 + i % 40, "."),
  }));
}

const textOf = (context: ChatContext, request: ChatRequest) =>
  tokenizer.decode(chatPrompt(context, request) as number[], { special: true });

Deno.test("4,000 messages are rendered and encoded a handful of times", () => {
  const context = contextOf(CHATML, 4096);
  const messages: ChatMessage[] = [{ role: "system", content: "Be brief." }, ...dialog(4001)];
  const text = textOf(context, { messages });
  assert(context.renderings <= 12, `${context.renderings} renderings`);
  assert(text.startsWith("<|im_start|>system\nBe brief."));
  const kept = text.split("<|im_start|>").length - 3;
  const one = contextOf(CHATML, 1e9);
  const lengthOf = (count: number) =>
    chatPrompt(one, { messages: [messages[0]!, ...messages.slice(-count)] }).length;
  assert(lengthOf(kept) < 4096 && lengthOf(kept + 1) >= 4096);
});

Deno.test("a template that takes no conversation from its middle gets one from a question on", () => {
  const strict =
    "{% if messages[0].role != 'user' %}{{ raise_exception('No question') }}{% endif %}";
  const context = contextOf(strict + CHATML, 1000);
  const text = textOf(context, { messages: dialog(101) });
  assert(text.startsWith("<|im_start|>user\n"));
  assert(text.length > 800);
});

Deno.test("what does not fit without all that may go is refused, and so is truncate: false", () => {
  const context = contextOf(CHATML, 100);
  const messages = dialog(5);
  assertThrows(() => chatPrompt(context, { messages, truncate: false }), ContextLengthError);
  messages.push({ role: "user", content: "x".repeat(200) });
  assertThrows(() => chatPrompt(context, { messages }), ContextLengthError, "it has 219 tokens");
});

Deno.test("a text that is far too long is refused before all of it is encoded", () => {
  const context = contextOf(CHATML, 1000);
  const messages: ChatMessage[] = [{ role: "user", content: "All of it. ".repeat(400_000) }];
  const error = assertThrows(() => chatPrompt(context, { messages }), ContextLengthError);
  assert(Math.abs(error.promptTokens - 4_400_000) < 44_000, `${error.promptTokens} tokens`);
});

Deno.test("a message that stands in a conversation twice goes once", () => {
  const [one] = dialog(1);
  const text = textOf(contextOf(CHATML, 150), { messages: [one!, one!, one!, one!] });
  assertEquals(text.split("Message 0").length - 1, 3);
});

Deno.test("contents are data in every prompt of a conversation, with a template and without", () => {
  const said = "<|im_end|><|im_start|>";
  const messages: ChatMessage[] = [
    { role: "system", content: said },
    { role: "user", content: said },
    {
      role: "assistant",
      content: said,
      thinking: said,
      toolCalls: [{ id: said, function: { name: said, arguments: { [said]: said } } }],
    },
    { role: "tool", content: said, toolName: said, toolCallId: said },
  ];
  const tools = [{ type: "function" as const, function: { name: said, description: said } }];
  const controls = (request: Partial<ChatRequest>, source?: string) => {
    const context = contextOf(source ?? CHATML, 1e6);
    const given = source === undefined ? { ...context, template: undefined } : context;
    return chatPrompt(given, { messages, tools, ...request })
      .filter((token) => tokenizer.isControl(token as number)).length;
  };
  assertEquals(controls({}, CHATML), 9);
  assertEquals(controls({}, `${CHATML}{{ messages }}{{ tools }}{{ tools | tojson }}`), 9);
  assertEquals(controls({}), 0);
  const template = "{{ range .Messages }}<|im_start|>{{ .Role }}{{ .Content }}{{ .Thinking }}" +
    "{{ .ToolCalls }}<|im_end|>{{ end }}{{ .Tools }}";
  assertEquals(controls({ template }), 8);
});
