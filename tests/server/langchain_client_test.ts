// LangChain's ChatOllama, Ollama and OllamaEmbeddings, unmodified, by the handler and over a port:
// with a real model with random weights, and with a script where one has to say something.

import {
  type AIMessageChunk,
  type BaseMessageLike,
  HumanMessage,
  SystemMessage,
} from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { ChatOllama, Ollama, OllamaEmbeddings } from "@langchain/ollama";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { saysForever } from "./fake_model.ts";
import { createTestApp, until } from "./test_app.ts";
import { asksForWeather, createTinyApp, waysTo } from "./tiny_app.ts";

const person = {
  type: "object",
  properties: { name: { type: "string", maxLength: 10 }, age: { type: "integer", maximum: 120 } },
  required: ["name", "age"],
  additionalProperties: false,
};
const weather = new DynamicStructuredTool({
  name: "weather",
  description: "Tells the weather",
  schema: {
    type: "object",
    properties: { city: { type: "string", enum: ["Rome", "Paris"] } },
    required: ["city"],
    additionalProperties: false,
  },
  func: ({ city }: { city: string }) => Promise.resolve(`22C in ${city}`),
});
const limits = { model: "tools", temperature: 1, seed: 7, numPredict: 120, maxRetries: 0 };

for (const { how, url: baseUrl, fetch } of waysTo(await createTinyApp("langchain"))) {
  const chatOf = (fields = {}) => new ChatOllama({ ...limits, baseUrl, fetch, ...fields });

  Deno.test(`ChatOllama streams what it gets at once, ${how}`, async () => {
    const chat = chatOf({ temperature: 0, numPredict: 12 });
    const messages = [new SystemMessage("Be brief."), new HumanMessage("Hi")];
    const whole = await chat.invoke(messages);
    const { done_reason: reason, eval_count: count } = whole.response_metadata;
    assertEquals([reason, count], ["length", 12]);
    let text = "";
    for await (const { content } of await chat.stream(messages)) text += content;
    assertEquals(text, whole.content);
  });

  Deno.test(`ChatOllama's structured output keeps to its schema, ${how}`, async () => {
    for (const model of ["tools", "plain"]) {
      const { name, age } = await chatOf({ model }).withStructuredOutput(person).invoke("Hi");
      assert(Number.isInteger(age) && age <= 120 && [...name].length <= 10);
    }
    const json = chatOf().withStructuredOutput(person, { method: "jsonMode" });
    assertEquals((await json.invoke("Hi")).constructor, Object);
  });

  Deno.test(`ChatOllama thinks apart from its answer, ${how}`, async () => {
    const chat = chatOf({ think: true, format: { const: 2 } });
    const { content, additional_kwargs } = await chat.invoke("Hi");
    assertEquals(content, "2");
    assert((additional_kwargs.reasoning_content as string).length > 3);
  });

  Deno.test(`Ollama completes, ${how}`, async () => {
    const model = new Ollama({ ...limits, temperature: 0, numPredict: 8, baseUrl, fetch });
    const whole = await model.invoke("Once");
    let text = "";
    for await (const part of await model.stream("Once")) text += part;
    assertEquals([text, text.length > 0], [whole, true]);
  });
}

const calling = createTestApp({
  script: asksForWeather,
  info: { callsTools: true, thinks: true },
});

for (const { how, url: baseUrl, fetch } of waysTo(calling)) {
  const chat = new ChatOllama({ model: "tiny", baseUrl, fetch, maxRetries: 0 });
  const able = chat.bindTools([weather]);

  Deno.test(`ChatOllama calls a tool and takes its result, ${how}`, async () => {
    const messages: BaseMessageLike[] = [new HumanMessage("What is the weather?")];
    const asked = await able.invoke(messages);
    const [call] = asked.tool_calls!;
    assertEquals([call!.name, call!.args], ["weather", { city: "Rome" }]);
    const result = await weather.invoke(call!);
    assertEquals((await able.invoke([...messages, asked, result])).content, "It is 22C in Rome");
  });

  Deno.test(`ChatOllama gathers calls and thinking from a stream, ${how}`, async () => {
    let gathered: AIMessageChunk | undefined;
    for await (const part of await able.stream("Hi")) gathered = gathered?.concat(part) ?? part;
    const { tool_calls, additional_kwargs, response_metadata } = gathered!;
    assertEquals(tool_calls!.map(({ name, args }) => [name, args]), [["weather", {
      city: "Rome",
    }]]);
    assertEquals(additional_kwargs.reasoning_content, "Hm");
    assertEquals(response_metadata.eval_count, 3);
  });

  Deno.test(`ChatOllama reads structured output from a call, ${how}`, async () => {
    const method = "functionCalling";
    const reader = chat.withStructuredOutput(weather.schema, { method, name: "weather" });
    assertEquals(await reader.invoke("Hi"), { city: "Rome" });
  });
}

const embedding = createTestApp({ info: { isEmbeddingModel: true } });

for (const { how, url: baseUrl, fetch } of waysTo(embedding)) {
  Deno.test(`OllamaEmbeddings embeds documents and queries, ${how}`, async () => {
    const fields = { model: "tiny", baseUrl, fetch, maxRetries: 0 };
    const embeddings = new OllamaEmbeddings({ ...fields, dimensions: 1 });
    assertEquals(await embeddings.embedDocuments(["four", "a"]), [[4], [1]]);
    assertEquals((await new OllamaEmbeddings(fields).embedQuery("four")).length, 3);
    const unknown = new OllamaEmbeddings({ ...fields, model: "nope" });
    await assertRejects(() => unknown.embedQuery("x"), Error, 'model "nope" not found');
  });
}

let ended = 0;
const endless = createTestApp({ script: saysForever(() => ended++) });

for (const { how, url: baseUrl, fetch } of waysTo(endless)) {
  const chat = new ChatOllama({ model: "tiny", baseUrl, fetch, maxRetries: 0, keepAlive: 0 });
  const isAllGivenBack = () => ended === 1 && endless.manager.running().length === 0;

  Deno.test(`aborting what ChatOllama gathers ends its generation, ${how}`, async () => {
    ended = 0;
    const abort = new AbortController();
    const callbacks = [{ handleLLMNewToken: () => abort.abort() }];
    // ChatOllama gives out what it has got so far.
    const { content } = await chat.invoke("Hi", { callbacks, signal: abort.signal });
    assertMatch(content as string, /^(word )+$/);
    await until(isAllGivenBack);
  });

  Deno.test(`aborting what ChatOllama streams ends its generation, ${how}`, async () => {
    ended = 0;
    // A signal ends the reading only: ChatOllama would look at it with the next part that it reads.
    await assertRejects(async () => {
      for await (const _ of await chat.stream("Hi")) chat.client.abort();
    });
    await until(isAllGivenBack);
  });
}
