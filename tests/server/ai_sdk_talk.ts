// What the tests of the AI SDK's providers share: a tool, and a question to the model in the box that
// takes a call of it and a second step.

import { generateText, isStepCount, jsonSchema, type LanguageModel, streamText, tool } from "ai";
import { assertEquals, assertMatch } from "@std/assert";
import { weather } from "./box_talk.ts";

/** Tells the weather. */
export const get_weather = tool({
  description: weather.description,
  inputSchema: jsonSchema<typeof weather.arguments>(weather.parameters),
  execute: () => JSON.parse(weather.result),
});

/** What a provider needs besides the question. */
export interface Asking {
  model: LanguageModel;
  maxRetries: number;
  temperature?: number;
  maxOutputTokens?: number;
  providerOptions?: { ollama: { options: Record<string, number> } };
}

/** Asks for the weather at once and as a stream: the tool is called, and its result is told. */
export async function assertCallsTool(asking: Asking): Promise<void> {
  const tools = { get_weather };
  const ask = { ...asking, prompt: weather.question, tools, stopWhen: isStepCount(3) };
  const { text, steps } = await generateText(ask);
  assertMatch(text, weather.told);
  assertEquals(steps.length, 2);
  assertEquals(steps[0]!.toolCalls.map(({ input }) => input), [weather.arguments]);
  const stream = streamText(ask);
  assertEquals(await stream.text, text);
  assertEquals((await stream.steps)[0]!.finishReason, "tool-calls");
}
