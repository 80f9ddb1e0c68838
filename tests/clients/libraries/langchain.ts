// LangChain by either of its packages; which is an argument.

import { strict as assert } from "node:assert";
import process from "node:process";
import { BOX, passage, sum, weather } from "../../server/box_talk.ts";
import * as box from "./checks.ts";

const { HumanMessage, ToolMessage } = await box.load("@langchain/core/messages");
const { tool } = await box.load("@langchain/core/tools");
const create = process.argv[2] === "@langchain/ollama"
  ? await box.load("@langchain/ollama").then(({ ChatOllama }) => (model: string) =>
    new ChatOllama({ baseUrl: box.url, model, temperature: 0, maxRetries: 0 })
  )
  : await box.load("@langchain/openai").then(({ ChatOpenAI }) => (model: string) =>
    new ChatOpenAI({
      configuration: { baseURL: `${box.url}/v1` },
      apiKey: "any",
      model,
      temperature: 0,
      maxRetries: 0,
    })
  );
const model = create(BOX);

await box.check("chat", async () => {
  box.says((await model.invoke(sum.question)).content, sum.answer);
});

await box.check("stream", async () => {
  const stream = await model.stream(sum.question);
  box.says(await box.joined(stream, ({ content }: typeof stream) => content), sum.answer);
});

await box.check("tools", async () => {
  const { name, description, parameters } = weather;
  const getWeather = tool((given: unknown) => box.tellWeather(given), {
    name,
    description,
    schema: parameters,
  });
  const bound = model.bindTools([getWeather]);
  const messages = [new HumanMessage(weather.question)];
  const called = await bound.invoke(messages);
  const [call] = called.tool_calls;
  const content = await getWeather.invoke(call.args);
  messages.push(called, new ToolMessage({ tool_call_id: call.id, name, content }));
  box.says((await bound.invoke(messages)).content, weather.told);
});

await box.check("schema", async () => {
  const structured = model.withStructuredOutput(passage.schema, {
    method: "jsonSchema",
    name: "person",
  });
  assert.deepEqual(await structured.invoke(passage.question), passage.facts);
});

await box.check("overflow", () => box.refusesLong(() => model.invoke(box.long)));

await box.check("abort", () =>
  box.abandons(async () => {
    const abort = new AbortController();
    const { signal } = abort;
    for await (const _ of await create(box.ENDLESS).stream("Hi", { signal })) abort.abort();
  }));
