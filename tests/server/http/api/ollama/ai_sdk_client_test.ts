// Vercel's AI SDK, unmodified, with each of its two Ollama providers, by the handler and over a port:
// with the model in the box, and with a script where only one can bring something about.

import {
  type APICallError,
  embedMany,
  generateText,
  jsonSchema,
  type ModelMessage,
  Output,
  streamText,
} from "ai";
import { createOllama as createPlain } from "ollama-ai-provider-v2";
import { createOllama as createReliable } from "ai-sdk-ollama";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { assertCallsTool } from "../../../ai_sdk_talk.ts";
import { BOX, name, passage, sum } from "../../../box_talk.ts";
import { saysForever } from "../../../fake_model.ts";
import { createTestApp } from "../../../test_app.ts";
import { until } from "../../../../until.ts";
import { createTinyApp, type Way, waysTo } from "../../../tiny_app.ts";

// One of the providers warns that thinking does not go back to the model, though it sends it.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const providers = {
  "ollama-ai-provider-v2": ({ url, fetch }: Way) => createPlain({ baseURL: `${url}/api`, fetch }),
  "ai-sdk-ollama": ({ url, fetch }: Way) => createReliable({ baseURL: url, fetch }),
};

type Provider = ReturnType<typeof createPlain> | ReturnType<typeof createReliable>;

/** Registers a test for each provider on each way to the application. */
function testAll(
  name: string,
  served: Parameters<typeof waysTo>[0],
  test: (ollama: Provider) => Promise<void>,
): void {
  for (const way of waysTo(served)) {
    for (const [provider, create] of Object.entries(providers)) {
      Deno.test(`${provider} ${name}, ${way.how}`, () => test(create(way)));
    }
  }
}

const person = jsonSchema<typeof passage.facts>(passage.schema);
const prompt = "Hi";
const maxRetries = 0;
const tiny = await createTinyApp("ai_sdk");
const embedding = createTestApp({ info: { isEmbeddingModel: true } });

/** What both providers pass on: one takes its options here, the other with the model. */
function settingsOf(num_predict: number, temperature: number) {
  return { options: { num_predict, temperature, seed: 7 } };
}

testAll("streams what it gets at once", tiny, async (ollama) => {
  const settings = settingsOf(12, 0);
  const ask = {
    model: ollama("tools", settings),
    prompt,
    maxRetries,
    providerOptions: { ollama: settings },
  };
  const whole = await generateText(ask);
  assertEquals([whole.finishReason, whole.usage.outputTokens], ["length", 12]);
  const stream = streamText(ask);
  let text = "";
  for await (const part of stream.textStream) text += part;
  assertEquals(text, whole.text);
  assertEquals((await stream.usage).inputTokens, whole.usage.inputTokens);
});

/** What is asked of the model in the box. */
function toBox(ollama: Provider, more: { think?: boolean } = {}) {
  const settings = { ...settingsOf(120, 0), ...more };
  return { model: ollama(BOX, settings), maxRetries, providerOptions: { ollama: settings } };
}

testAll("has the facts as structured output", tiny, async (ollama) => {
  const output = Output.object({ schema: person });
  const ask = { ...toBox(ollama), prompt: passage.question, output };
  assertEquals((await generateText(ask)).output, passage.facts);
  assertEquals(await streamText(ask).output, passage.facts);
});

testAll("calls a tool, takes its result and answers", tiny, async (ollama) => {
  await assertCallsTool(toBox(ollama));
});

testAll("thinks apart from its answer", tiny, async (ollama) => {
  const ask = { ...toBox(ollama, { think: true }), prompt: sum.question };
  const { text, reasoningText } = await generateText(ask);
  assertMatch(text, sum.answer);
  assertMatch(reasoningText!, sum.thought);
  assertEquals(await streamText(ask).reasoningText, reasoningText);
});

testAll("holds a conversation", tiny, async (ollama) => {
  const messages: ModelMessage[] = [{ role: "user", content: name.told }];
  const { response } = await generateText({ ...toBox(ollama), messages });
  messages.push(...response.messages, { role: "user", content: name.question });
  assertMatch((await generateText({ ...toBox(ollama), messages })).text, name.answer);
});

testAll("embeds", embedding, async (ollama) => {
  const { embeddings, usage } = await embedMany({
    model: ollama.embeddingModel("tiny"),
    values: ["four", "a"],
    maxRetries,
  });
  assertEquals([embeddings.map(([first]) => first), usage.tokens], [[4, 1], 5]);
});

testAll("says that a model is unknown", tiny, async (ollama) => {
  const ask = { model: ollama("nope"), prompt, maxRetries };
  const { message, responseBody } = await assertRejects(() => generateText(ask)) as APICallError;
  assertMatch(responseBody ?? message, /model 'nope' not found/);
});

let ended = 0;
const endless = createTestApp({ script: saysForever(() => ended++) });

// Not with ai-sdk-ollama: its signal never leaves the ollama client that it stands on.
for (const way of waysTo(endless)) {
  const ask = { model: providers["ollama-ai-provider-v2"](way)("tiny"), prompt, maxRetries };

  Deno.test(`ollama-ai-provider-v2 ends a stream that is aborted, ${way.how}`, async () => {
    ended = 0;
    const abort = new AbortController();
    const stream = streamText({ ...ask, abortSignal: abort.signal });
    for await (const _ of stream.textStream) abort.abort();
    await until(() => ended === 1);
  });

  Deno.test(`ollama-ai-provider-v2 ends an answer that is aborted, ${way.how}`, async () => {
    ended = 0;
    const abort = new AbortController();
    const asked = () => endless.loaded[0]?.requests.length ?? 0;
    const before = asked();
    const answer = generateText({ ...ask, abortSignal: abort.signal });
    const refusal = assertRejects(() => answer);
    await until(() => asked() > before);
    abort.abort();
    await refusal;
    await until(() => ended === 1);
  });
}
