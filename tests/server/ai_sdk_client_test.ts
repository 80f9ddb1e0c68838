// Vercel's AI SDK, unmodified, with each of its two Ollama providers, by the handler and over a port:
// with a real model with random weights, and with a script where one has to say something.

import {
  type APICallError,
  embedMany,
  generateText,
  isStepCount,
  jsonSchema,
  Output,
  streamText,
  tool,
} from "ai";
import { createOllama as createPlain } from "ollama-ai-provider-v2";
import { createOllama as createReliable } from "ai-sdk-ollama";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { saysForever } from "./fake_model.ts";
import { createTestApp, until } from "./test_app.ts";
import { asksForWeather, createTinyApp, type Way, waysTo } from "./tiny_app.ts";

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

const person = jsonSchema<{ name: string; age: number }>({
  type: "object",
  properties: { name: { type: "string", maxLength: 10 }, age: { type: "integer", maximum: 120 } },
  required: ["name", "age"],
  additionalProperties: false,
});
const weather = tool({
  description: "Tells the weather",
  inputSchema: jsonSchema<{ city: string }>({
    type: "object",
    properties: { city: { type: "string", enum: ["Rome", "Paris"] } },
    required: ["city"],
    additionalProperties: false,
  }),
  execute: ({ city }) => `22C in ${city}`,
});
const prompt = "Hi";
const maxRetries = 0;
const tiny = await createTinyApp("ai_sdk");
const calling = createTestApp({ script: asksForWeather, info: { callsTools: true, thinks: true } });
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

testAll("keeps structured output to its schema", tiny, async (ollama) => {
  const settings = settingsOf(120, 1);
  for (const name of ["tools", "plain"]) {
    const ask = {
      model: ollama(name, settings),
      prompt,
      maxRetries,
      providerOptions: { ollama: settings },
      output: Output.object({ schema: person }),
    };
    const { output } = await generateText(ask);
    assert(Number.isInteger(output.age) && output.age <= 120 && [...output.name].length <= 10);
    assertEquals(await streamText(ask).output, output);
  }
});

testAll("calls a tool, takes its result and answers", calling, async (ollama) => {
  const ask = {
    model: ollama("tiny"),
    prompt,
    maxRetries,
    tools: { weather },
    stopWhen: isStepCount(3),
  };
  const { text, steps } = await generateText(ask);
  assertEquals([text, steps.length], ["It is 22C in Rome", 2]);
  assertEquals(steps[0]!.toolCalls.map(({ input }) => input), [{ city: "Rome" }]);
  const stream = streamText(ask);
  assertEquals(await stream.text, text);
  assertEquals((await stream.steps)[0]!.finishReason, "tool-calls");
});

testAll("thinks apart from its answer", calling, async (ollama) => {
  const ask = {
    model: ollama("tiny", { think: true }),
    prompt,
    maxRetries,
    providerOptions: { ollama: { think: true } },
  };
  assertEquals((await generateText(ask)).reasoningText, "Hm");
  assertEquals(await streamText(ask).reasoningText, "Hm");
});

testAll("embeds", embedding, async (ollama) => {
  const { embeddings, usage } = await embedMany({
    model: ollama.embeddingModel("tiny"),
    values: ["four", "a"],
    maxRetries,
  });
  assertEquals([embeddings.map(([first]) => first), usage.tokens], [[4, 1], 5]);
});

testAll("says that a model is unknown", calling, async (ollama) => {
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
