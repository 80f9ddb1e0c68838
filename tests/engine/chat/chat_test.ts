// Chats with the tiny model's template: the prompt that is run, and what is dropped from it when
// the window is too small.

import { type ChatMessage, ContextLengthError, loadModel } from "../../../engine/mod.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";

const model = await loadModel(tinyPath, tinyLoad);
globalThis.addEventListener("unload", () => void model.close());

const settings = { temperature: 0, maxTokens: 8 };

const user = (content: string): ChatMessage => ({ role: "user", content });

Deno.test("a chat runs the prompt that renderChat() gives", async () => {
  const messages = [user("Hi")];
  const prompt = await model.renderChat({ messages });
  assertEquals(prompt, "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  const [chat, plain] = await Promise.all([
    readAnswer(model.chat({ messages, ...settings })),
    readAnswer(model.generate({ prompt, ...settings })),
  ]);
  assertEquals(chat.text, plain.text);
  // Marks are one token each, all else a token per byte.
  assertEquals(chat.done!.usage.promptTokens, "user\nHi\nassistant\n".length + 3);
});

Deno.test("the oldest turns go where the window is too small, the system's never", async () => {
  const messages: ChatMessage[] = [
    { role: "system", content: "s".repeat(20) },
    ...["a", "b", "c", "d"].map((letter) => user(letter.repeat(30))),
  ];
  const kept = [messages[0], messages[3], messages[4]];
  const [all, some] = await Promise.all([
    readAnswer(model.chat({ messages, ...settings })),
    readAnswer(model.chat({ messages: kept, ...settings })),
  ]);
  assertEquals(all.done!.usage.promptTokens, some.done!.usage.promptTokens);
  assertEquals(all.text, some.text);
  assertEquals([all.done!.droppedMessages, some.done!.droppedMessages], [2, undefined]);
  assertEquals(all.done!.droppedIndexes, undefined);
  const numbered = messages.map((message, index) => ({ ...message, index: 10 * index }));
  const { done } = await readAnswer(model.chat({ messages: numbered, ...settings }));
  assertEquals([done!.droppedMessages, done!.droppedIndexes], [2, [10, 20]]);
  assertThrows(() => model.chat({ messages, truncate: false }), ContextLengthError);
  assertThrows(() => model.chat({ messages: [user("x".repeat(200))] }), ContextLengthError);
});

Deno.test("renderChat() rejects what the template cannot take", async () => {
  const broken = { messages: undefined as unknown as ChatMessage[] };
  await assertRejects(() => model.renderChat(broken));
});
