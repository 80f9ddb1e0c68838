// Formats, tools and thinking through the native API and the official client: with the model in the
// box, and with random weights, whose answers are what was asked for whatever they would say.

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Ollama } from "ollama";
import { createLog } from "../../../../server/log.ts";
import { BOX, passage, sum, weather, weatherTool } from "../../box_talk.ts";
import { until } from "../../../until.ts";
import { createTinyApp } from "../../tiny_app.ts";

const lines: string[] = [];
const log = createLog({ write: (line) => void lines.push(line) });
const { app } = await createTinyApp("structured", { log });
const client = new Ollama({
  host: "http://127.0.0.1",
  fetch: (input: RequestInfo | URL, init?: RequestInit) =>
    Promise.resolve(app.fetch(new Request(input, init))),
});

const messages = [{ role: "user", content: "Hi" }];
const options = { temperature: 1, seed: 7, num_predict: 120 };
const person = {
  type: "object",
  properties: { name: { type: "string", maxLength: 10 }, age: { type: "integer", maximum: 120 } },
  required: ["name", "age"],
  additionalProperties: false,
};
const forecast = {
  type: "function",
  function: {
    name: "weather",
    description: "",
    parameters: {
      type: "object",
      properties: { city: { enum: ["Rome", "Paris"] } },
      required: ["city"],
      additionalProperties: false,
    },
  },
};

const greedy = { model: BOX, options: { temperature: 0, num_predict: 120 } };
const said = (content: string) => [{ role: "user", content }];

Deno.test("a format is kept in chats and generations, streamed or not", async () => {
  for (const model of ["tools", "plain"]) {
    const chat = await client.chat({ model, messages, format: person, options });
    assertMatch(chat.message.content, /^\{"name": ?".*", ?"age": ?-?\d+\}$/s);
    const { response } = await client.generate({ model, prompt: "Hi", format: person, options });
    assert(JSON.parse(response!).age <= 120);
    let text = "";
    const stream = await client.chat({ model, messages, format: "json", options, stream: true });
    for await (const { message } of stream) text += message.content;
    assertEquals(JSON.parse(text).constructor, Object);
  }
  const raw = { model: "plain", prompt: "Hi", raw: true, format: { const: "hello" }, options };
  assertEquals((await client.generate(raw)).response, '"hello"');
});

Deno.test("what a format cannot be is refused with its place and keyword", async () => {
  for (
    const [format, text] of [
      [
        { type: "object", properties: { a: { type: "string", pattern: "(" } } },
        /properties\/a.*pattern/,
      ],
      [{ type: "integer", minimum: 3, maximum: 2 }, /minimum|maximum/],
    ] as const
  ) {
    const error = await assertRejects(() => client.chat({ model: "plain", messages, format }));
    assertMatch(String(error), text);
    assertEquals((error as { status_code?: number }).status_code, 400);
  }
});

Deno.test("a format has the facts that the text tells, streamed or not", async () => {
  const ask = { ...greedy, messages: said(passage.question), format: passage.schema };
  const { message } = await client.chat(ask);
  assertEquals(JSON.parse(message.content), passage.facts);
  let text = "";
  for await (const part of await client.chat({ ...ask, stream: true })) {
    text += part.message.content;
  }
  assertEquals(text, message.content);
});

Deno.test("calls come whole, with ids and indices, or words where no tool fits", async () => {
  const ask = { ...greedy, messages: said(weather.question), tools: [weatherTool] };
  const { message } = await client.chat(ask);
  const [call] = message.tool_calls as unknown as {
    id: string;
    function: { index: number; name: string; arguments: object };
  }[];
  assertMatch(call!.id, /^call_\w{8,}$/);
  const { index, name, arguments: values } = call!.function;
  assertEquals([index, name, values], [0, weather.name, weather.arguments]);
  assertEquals(message.content, weather.lead);
  const parts = await Array.fromAsync(await client.chat({ ...ask, stream: true }));
  const calling = parts.filter(({ message }) => message.tool_calls);
  assertEquals(calling.length, 1);
  assertEquals(calling[0]!.message.tool_calls![0]!.function.arguments, values);
  assertEquals([calling[0]!.done, parts.at(-1)!.done, parts.at(-1)!.done_reason], [
    false,
    true,
    "stop",
  ]);
  const thanks = await client.chat({ ...ask, messages: said("Thank you!") });
  assertEquals([thanks.message.tool_calls, thanks.message.content !== ""], [undefined, true]);
});

Deno.test("a call that random weights begin keeps to its schema, and a format where they do not", async () => {
  let calls = 0;
  for (let seed = 1; seed < 30 && calls < 2; seed++) {
    const format = { const: 1 };
    const sampling = { ...options, seed };
    const request = { model: "tools", messages, tools: [forecast], format, options: sampling };
    const { message } = await client.chat(request);
    const [call] = message.tool_calls ?? [];
    if (!call) {
      assertEquals(message.content, "1");
      continue;
    }
    calls++;
    assertEquals(call.function.name, "weather");
    assertMatch(call.function.arguments.city, /^(Rome|Paris)$/);
  }
  assertEquals(calls, 2);
});

Deno.test("thinking comes apart from an answer, which keeps to a format", async () => {
  const ask = { ...greedy, messages: said(sum.question), think: true };
  const { message } = await client.chat(ask);
  assertMatch(message.thinking!, sum.thought);
  assertMatch(message.content, sum.answer);
  const format = {
    type: "object",
    properties: { sum: { const: 72 } },
    required: ["sum"],
    additionalProperties: false,
  };
  const shaped = (await client.chat({ ...ask, format })).message;
  assertEquals([shaped.thinking, JSON.parse(shaped.content)], [message.thinking, { sum: 72 }]);
});

Deno.test("what the mask leaves out of a tool is logged, and refused where the tool is strict", async () => {
  const parameters = { type: "object", properties: { n: { type: "string", pattern: "(a+)\\1" } } };
  const tool = { ...forecast, function: { ...forecast.function, parameters } };
  const request = { model: "tools", messages, tools: [tool], options: { num_predict: 5 } };
  await client.chat(request);
  const told = /tool "weather" at \/properties\/n \("pattern"\)/;
  await until(() => told.test(lines.join("")));
  const strict = { ...tool, function: { ...tool.function, strict: true } };
  const error = await assertRejects(() => client.chat({ ...request, tools: [strict] }));
  assertMatch(String(error), /\/properties\/n.*pattern/);
});

Deno.test("only models that can are offered thinking, and /api/tags says how each calls tools", async () => {
  const { models } = await client.list();
  const told = Object.fromEntries(
    (models as unknown as { name: string; capabilities: string[]; tools: string }[])
      .map(({ name, capabilities, tools }) => [name.split(":")[0], [tools, ...capabilities]]),
  );
  const all = ["native", "completion", "tools", "thinking"];
  assertEquals(told, { plain: ["generic", "completion", "tools"], tools: all, quern: all });
});
