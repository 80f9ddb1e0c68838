// Vercel's AI SDK by one of its providers, which is an argument.

import { strict as assert } from "node:assert";
import process from "node:process";
import { BOX, passage, sum, weather } from "../../server/box_talk.ts";
import * as box from "./checks.ts";

const { generateText, isStepCount, jsonSchema, Output, streamText, tool } = await box.load("ai");
const provider = process.argv[2]!;
const library = await box.load(provider);
const baseURL = `${box.url}/v1`;
const apiKey = "any";
const providers: Record<string, () => (model: string) => unknown> = {
  "@ai-sdk/openai": () => library.createOpenAI({ baseURL, apiKey }),
  "@ai-sdk/openai-compatible": () =>
    library.createOpenAICompatible({
      baseURL,
      name: "quern",
      supportsStructuredOutputs: true,
    }),
  "@ai-sdk/anthropic": () => library.createAnthropic({ baseURL, apiKey }),
  "ollama-ai-provider-v2": () => library.createOllama({ baseURL: `${box.url}/api` }),
};
const create = providers[provider]!();
const common = { model: create(BOX), temperature: 0, maxRetries: 0 };

await box.check("chat", async () => {
  box.says((await generateText({ ...common, prompt: sum.question })).text, sum.answer);
});

await box.check("stream", async () => {
  const { textStream } = streamText({ ...common, prompt: sum.question });
  box.says(await box.joined<string>(textStream, (text) => text), sum.answer);
});

await box.check("tools", async () => {
  const get_weather = tool({
    description: weather.description,
    inputSchema: jsonSchema(weather.parameters),
    execute: (given: unknown) => JSON.parse(box.tellWeather(given)),
  });
  const { text } = await generateText({
    ...common,
    prompt: weather.question,
    tools: { get_weather },
    stopWhen: isStepCount(3),
  });
  box.says(text, weather.told);
});

await box.check("schema", async () => {
  const { output } = await generateText({
    ...common,
    prompt: passage.question,
    output: Output.object({ schema: jsonSchema(passage.schema) }),
  });
  assert.deepEqual(output, passage.facts);
});

await box.check(
  "overflow",
  () => box.refusesLong(() => generateText({ ...common, prompt: box.long })),
);

await box.check("abort", () =>
  box.abandons(async () => {
    const abort = new AbortController();
    const { textStream } = streamText({
      ...common,
      model: create(box.ENDLESS),
      prompt: "Hi",
      abortSignal: abort.signal,
    });
    for await (const _ of textStream) abort.abort();
  }));
