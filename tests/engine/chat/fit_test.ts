// Which of the oldest turns go where a conversation does not fit: as few as possible, each as a whole,
// found with few measurements, and with the prompt that a conversation without them has.

import { PLAIN_ANSWERS } from "../../../engine/chat/answers/answer_format.ts";
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
    const perUnit = 0.1 + draw.next().value;
    const rest = (dropped: number) =>
      20 + sizes.slice(dropped).reduce((sum, size) => sum + 5 + Math.ceil(size * perUnit), 0);
    const limit = Math.max(22, Math.floor(draw.next().value * 1.2 * rest(0)));
    let measured = 0;
    const found = fewestToDrop(sizes.map((size) => size + 16), 10, limit, (dropped) => {
      measured++;
      const tokens = rest(dropped);
      return { fits: tokens < limit, tokens };
    });
    let expected: number | undefined;
    for (let dropped = count; dropped >= 0; dropped--) {
      if (rest(dropped) < limit) expected = dropped;
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
    answers: PLAIN_ANSWERS,
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
  // A turn more is a question and its answer.
  assert(lengthOf(kept) < 4096 && lengthOf(kept + 2) >= 4096);
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

/** Turns of a conversation with tools: a question, two calls, their results, and an answer. */
function agent(turns: number): ChatMessage[] {
  const call = (id: string) => ({ id, function: { name: "look", arguments: { at: id } } });
  return Array.from({ length: turns }, (_, i): ChatMessage[] => [
    { role: "user", content: `Question ${i}, which is asked.` },
    { role: "assistant", content: "", toolCalls: [call(`${i}a`), call(`${i}b`)] },
    { role: "tool", content: `Result a of ${i}`, toolCallId: `${i}a` },
    { role: "tool", content: `Result b of ${i}`, toolCallId: `${i}b` },
    { role: "assistant", content: `Answer ${i}, with a few words.` },
  ]).flat();
}

Deno.test("turns go as a whole, whatever the window, and never the last question", () => {
  const system: ChatMessage = { role: "system", content: "Be brief." };
  const conversations: ChatMessage[][] = [
    [system, ...agent(6)],
    agent(6),
    agent(6).slice(0, -1),
    [...agent(6), { role: "user", content: "Last" }],
    [{ role: "assistant", content: "Welcome, this is a greeting." }, ...agent(4)],
    [system, ...agent(4), { role: "assistant", content: "And I go on: " }],
    [...dialog(4), system, ...agent(3), { role: "user", content: "One." }, {
      role: "user",
      content: "Two.",
    }],
  ];
  for (const messages of conversations) {
    const numbered = messages.map((message, index) => ({ ...message, index }));
    const last = messages.findLastIndex(({ role }) => role === "user");
    for (let window = 60; window < 1500; window += 45) {
      const context = contextOf(CHATML, window);
      let kept: string;
      try {
        kept = textOf(context, { messages: numbered });
      } catch (error) {
        assert(error instanceof ContextLengthError);
        continue;
      }
      const at = messages.map(({ content }) => kept.indexOf(content || "nothing"));
      const first = messages.findIndex(({ role, content }, i) =>
        role !== "system" && content !== "" && at[i] >= 0
      );
      // All from a question on, or all from the beginning on.
      assert(messages[first].role === "user" || first <= 1, `${window}: from ${first}`);
      assert(first <= last);
      for (const [i, { role, content }] of messages.entries()) {
        if (content === "") continue;
        assertEquals(at[i] >= 0, role === "system" || i >= first, `${window}: message ${i}`);
      }
    }
  }
});

Deno.test("the turn that is to be answered stays whole, or is refused with its length", () => {
  const messages: ChatMessage[] = [...agent(3), { role: "user", content: "And now?" }];
  const rounds = agent(30).filter(({ role }) => role !== "user");
  const context = contextOf(CHATML, 1000);
  assertThrows(
    () => chatPrompt(context, { messages: [...messages, ...rounds] }),
    ContextLengthError,
  );
  const text = textOf(context, { messages: [...messages, ...rounds.slice(0, 8)] });
  assert(text.includes("And now?"), text);
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
