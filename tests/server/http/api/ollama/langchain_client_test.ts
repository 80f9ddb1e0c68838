// LangChain's ChatOllama, Ollama and OllamaEmbeddings, unmodified, by the handler and over a port:
// with the model in the box, and with a script where only one can bring something about.

import {
  type AIMessageChunk,
  type BaseMessageLike,
  HumanMessage,
  SystemMessage,
} from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { ChatOllama, Ollama, OllamaEmbeddings } from "@langchain/ollama";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { BOX, name, passage, sum, weather } from "../../../box_talk.ts";
import { saysForever } from "../../../fake_model.ts";
import { createTestApp } from "../../../test_app.ts";
import { until } from "../../../../until.ts";
import { createTinyApp, waysTo } from "../../../tiny_app.ts";

const tool = new DynamicStructuredTool({
  name: weather.name,
  description: weather.description,
  schema: weather.parameters,
  func: () => Promise.resolve(weather.result),
});
const limits = { model: BOX, temperature: 0, numPredict: 120, maxRetries: 0 };

for (const { how, url: baseUrl, fetch } of waysTo(await createTinyApp("langchain"))) {
  const chatOf = (fields = {}) => new ChatOllama({ ...limits, baseUrl, fetch, ...fields });

  Deno.test(`ChatOllama streams what it gets at once, ${how}`, async () => {
    const chat = chatOf({ model: "tools", numPredict: 12 });
    const messages = [new SystemMessage("Be brief."), new HumanMessage("Hi")];
    const whole = await chat.invoke(messages);
    const { done_reason: reason, eval_count: count } = whole.response_metadata;
    assertEquals([reason, count], ["length", 12]);
    let text = "";
    for await (const { content } of await chat.stream(messages)) text += content;
    assertEquals(text, whole.content);
  });

  Deno.test(`ChatOllama's structured output has the facts, whatever its method, ${how}`, async () => {
    for (const method of ["jsonSchema", "jsonMode"] as const) {
      const reader = chatOf().withStructuredOutput(passage.schema, { method });
      assertEquals(await reader.invoke(passage.question), passage.facts);
    }
    const method = "functionCalling";
    const caller = chatOf().withStructuredOutput(tool.schema, { method, name: weather.name });
    assertEquals(await caller.invoke(weather.question), weather.arguments);
  });

  Deno.test(`ChatOllama thinks apart from its answer, streaming and not, ${how}`, async () => {
    const chat = chatOf({ think: true });
    const { content, additional_kwargs } = await chat.invoke(sum.question);
    assertMatch(content as string, sum.answer);
    assertMatch(additional_kwargs.reasoning_content as string, sum.thought);
    let gathered: AIMessageChunk | undefined;
    for await (const part of await chat.stream(sum.question)) {
      gathered = gathered?.concat(part) ?? part;
    }
    assertEquals(gathered!.content, content);
    assertEquals(
      gathered!.additional_kwargs.reasoning_content,
      additional_kwargs.reasoning_content,
    );
  });

  Deno.test(`ChatOllama calls a tool and takes its result, streaming and not, ${how}`, async () => {
    const able = chatOf().bindTools([tool]);
    const messages: BaseMessageLike[] = [new HumanMessage(weather.question)];
    const asked = await able.invoke(messages);
    const [call] = asked.tool_calls!;
    assertEquals([call!.name, call!.args], [weather.name, weather.arguments]);
    let gathered: AIMessageChunk | undefined;
    for await (const part of await able.stream(messages)) {
      gathered = gathered?.concat(part) ?? part;
    }
    assertEquals(gathered!.tool_calls!.map(({ args }) => args), [weather.arguments]);
    assertEquals(
      gathered!.response_metadata.eval_count,
      asked.response_metadata.eval_count,
    );
    const answer = await able.invoke([...messages, asked, await tool.invoke(call!)]);
    assertMatch(answer.content as string, weather.told);
  });

  Deno.test(`ChatOllama holds a conversation, ${how}`, async () => {
    const messages: BaseMessageLike[] = [new HumanMessage(name.told)];
    messages.push(await chatOf().invoke(messages), new HumanMessage(name.question));
    assertMatch((await chatOf().invoke(messages)).content as string, name.answer);
  });

  Deno.test(`Ollama completes, ${how}`, async () => {
    const model = new Ollama({ ...limits, model: "tools", numPredict: 8, baseUrl, fetch });
    const whole = await model.invoke("Once");
    let text = "";
    for await (const part of await model.stream("Once")) text += part;
    assertEquals([text, text.length > 0], [whole, true]);
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
