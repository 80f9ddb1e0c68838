// Vercel's AI SDK with OpenAI's own provider, unmodified, as its documentation begins: openai("MODEL")
// asks /v1/responses, and refers to what was answered before by the ids of its items. By the handler
// and over a port, with the model in the box, and with a script where only one can bring it about.

import { generateText, isStepCount, type ModelMessage, streamText } from "ai";
import { createOpenAI } from "@ai-sdk/openai";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { ResponseStore } from "../../../../../server/http/response_store.ts";
import { folder } from "../../../../engine/harness.ts";
import { assertCallsTool, get_weather } from "../../../ai_sdk_talk.ts";
import { BOX, name, weather } from "../../../box_talk.ts";
import { callEvents, gives } from "./openai_scripts.ts";
import { createTestApp } from "../../../test_app.ts";
import { createTinyApp, handlerWay, type Way, waysTo } from "../../../tiny_app.ts";

// It warns of settings that it does not send for models that it does not know.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const responses = new ResponseStore({
  folder: `${folder}/kept`,
  warn() {},
  count: 100,
  bytes: 1e8,
  age: Infinity,
});
const tiny = await createTinyApp("ai_sdk_openai", { responses });

/** What the provider sent of references, request by request. */
function providerOf({ url, fetch }: Way, references: number[] = []) {
  return createOpenAI({
    baseURL: `${url}/v1`,
    apiKey: "any",
    fetch: async (input, init) => {
      const { input: items } = JSON.parse(init?.body as string);
      references.push(
        items.filter(({ type }: { type?: string }) => type === "item_reference").length,
      );
      return await fetch(input, init);
    },
  });
}

const settings = { maxRetries: 0, temperature: 0, maxOutputTokens: 120 };

for (const way of waysTo(tiny)) {
  Deno.test(`@ai-sdk/openai calls a tool over several steps, streaming and not, ${way.how}`, async () => {
    const references: number[] = [];
    await assertCallsTool({ ...settings, model: providerOf(way, references)(BOX) });
    assert(references.some((count) => count > 0), `${references}`);
  });

  Deno.test(`@ai-sdk/openai holds a conversation, ${way.how}`, async () => {
    const model = providerOf(way)(BOX);
    const messages: ModelMessage[] = [{ role: "user", content: name.told }];
    const { response } = await generateText({ ...settings, model, messages });
    messages.push(...response.messages, { role: "user", content: name.question });
    assertMatch((await generateText({ ...settings, model, messages })).text, name.answer);
  });
}

Deno.test("@ai-sdk/openai continues by the id of a response, and stores nothing where told so", async () => {
  const model = providerOf(handlerWay(tiny))(BOX);
  const told = await generateText({ ...settings, model, prompt: name.told });
  const { responseId: previousResponseId } = told.providerMetadata!.openai!;
  const providerOptions = { openai: { previousResponseId: previousResponseId as string } };
  const asked = await generateText({ ...settings, model, prompt: name.question, providerOptions });
  assertMatch(asked.text, name.answer);
  const references: number[] = [];
  const { text } = await generateText({
    ...settings,
    model: providerOf(handlerWay(tiny), references)(BOX),
    prompt: weather.question,
    tools: { get_weather },
    stopWhen: isStepCount(3),
    providerOptions: { openai: { store: false } },
  });
  assertMatch(text, weather.told);
  assertEquals(references, [0, 0]);
});

Deno.test("@ai-sdk/openai calls several tools in each of several steps, thinking as it goes", async () => {
  let step = 0;
  const scripts = [0, 1, 2].map((round) =>
    gives([
      { type: "thinking", text: `Round ${round}` },
      { type: "text", text: "Look" },
      ...callEvents(`a${round}`, "get_weather", ['{"city":', '"Rome"}']),
      ...callEvents(`b${round}`, "get_weather", ['{"city":', '"Oslo"}']),
    ])
  );
  const last = gives([{ type: "text", text: "Done" }]);
  const app = createTestApp({
    info: { callsTools: true, thinks: true },
    script: (request) => (scripts[step++] ?? last)(request),
  }, { responses });
  for (const run of [generateText, streamText]) {
    step = 0;
    const references: number[] = [];
    const result = await run({
      maxRetries: 0,
      model: providerOf(handlerWay(app), references)("tiny"),
      prompt: "Hi",
      tools: { get_weather },
      stopWhen: isStepCount(5),
    });
    assertEquals(await result.text, "Done");
    assertEquals((await result.steps).length, 4);
    const { request } = app.loaded[0]!.requests.at(-1)!;
    const { messages } = request as { messages: { role: string; toolCalls?: object[] }[] };
    assertEquals(messages.map(({ role, toolCalls }) => `${role} ${toolCalls?.length ?? 0}`), [
      "user 0",
      ...Array(3).fill(["assistant 2", "tool 0", "tool 0"]).flat(),
    ]);
    assertEquals(references.map((count) => count > 0), [false, true, true, true]);
  }
});
