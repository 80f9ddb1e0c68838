// A request with a window of its own, in a model whose window is larger: prompts, answers and texts to
// embed are what they would be in a model that is loaded with the smaller one.

import { ContextLengthError, loadModel, RequestError } from "../../../engine/mod.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";

const model = await loadModel(tinyPath, tinyLoad);

const small = await loadModel(tinyPath, { ...tinyLoad, contextLength: 64 });
globalThis.addEventListener("unload", () => {
  void model.close();
  void small.close();
});

const contextLength = 64;

const prompt = Array.from({ length: 50 }, (_, i) => 40 + i % 60);

Deno.test("a generation stops where its own window is full", async () => {
  const endless = { prompt, temperature: 0, ignoreEnd: true };
  const answers = await Promise.all([
    readAnswer(model.generate({ ...endless, contextLength })),
    readAnswer(small.generate(endless)),
    readAnswer(model.generate({ ...endless, contextLength, maxTokens: 5 })),
    readAnswer(model.generate({ ...endless, contextLength: 4096 })),
  ]);
  assertEquals(answers.map(({ tokens }) => tokens.length), [14, 14, 5, 78]);
  assertEquals(answers.map(({ done }) => done!.reason), new Array(4).fill("length"));
  assertEquals(answers[0].tokens, answers[1].tokens);
});

Deno.test("an answer of a format is led to its end within its own window", async () => {
  const format = { schema: { type: "array", items: { type: "integer" }, minItems: 3 } };
  const request = { prompt, temperature: 1, seed: 3, format, contextLength };
  const { text, tokens } = await readAnswer(model.generate(request));
  assert(tokens.length <= 14);
  assert(JSON.parse(text).length >= 3);
});

Deno.test("a prompt that fills its own window is refused with both numbers", () => {
  for (const length of [64, 100]) {
    const long = { prompt: new Array(length).fill(65), contextLength };
    const error = assertThrows(() => model.generate(long), ContextLengthError);
    assertEquals([error.promptTokens, error.contextLength], [length, 64]);
  }
  const none = { prompt: "a", contextLength: NaN };
  assertThrows(() => model.generate(none), RequestError, "window of NaN tokens");
});

Deno.test("a conversation is cut to its own window, and told so, or refused", async () => {
  const messages = ["a", "b", "c"].map((letter) => ({
    role: "user" as const,
    content: letter.repeat(20),
  }));
  const request = { messages, temperature: 0, maxTokens: 4 };
  const [whole, cut, expected] = await Promise.all([
    readAnswer(model.chat(request)),
    readAnswer(model.chat({ ...request, contextLength })),
    readAnswer(small.chat(request)),
  ]);
  assertEquals(whole.done!.droppedMessages, undefined);
  assertEquals(cut.done!.droppedMessages, 2);
  assertEquals([cut.text, cut.done!.droppedMessages], [
    expected.text,
    expected.done!.droppedMessages,
  ]);
  assertEquals(await model.countTokens({ messages, contextLength }), cut.done!.usage.promptTokens);
  const refused = { messages, contextLength, truncate: false };
  assertThrows(() => model.chat(refused), ContextLengthError);
  await assertRejects(() => model.countTokens(refused), ContextLengthError);
});

Deno.test("a text to embed is cut to its own window, or refused", async () => {
  const inputs = ["abc".repeat(40)];
  const cut = await model.embedWithUsage({ inputs, contextLength });
  const expected = await small.embedWithUsage({ inputs });
  assertEquals([cut.promptTokens, expected.promptTokens], [64, 64]);
  assertEquals(cut.embeddings, expected.embeddings);
  const refused = { inputs, contextLength, truncate: false };
  await assertRejects(() => model.embedWithUsage(refused), ContextLengthError);
});
