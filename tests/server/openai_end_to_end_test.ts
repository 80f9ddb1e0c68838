// The official openai client, unmodified, against the application on a real model with random weights:
// whatever it would say, its answers are what was asked for.

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { BadRequestError, OpenAI } from "openai";
import { createTinyApp } from "./tiny_app.ts";

const { app, manager } = await createTinyApp("openai");
const client = new OpenAI({
  baseURL: "http://127.0.0.1/v1",
  apiKey: "anything",
  maxRetries: 0,
  fetch: async (input, init) => await app.fetch(new Request(input, init)),
});

const model = "tools";
const messages = [{ role: "user" as const, content: "Hi" }];
const person = {
  type: "object",
  properties: { name: { type: "string", maxLength: 10 }, age: { type: "integer", maximum: 120 } },
  required: ["name", "age"],
  additionalProperties: false,
};
const parameters = {
  type: "object",
  properties: { city: { enum: ["Rome", "Paris"] } },
  required: ["city"],
  additionalProperties: false,
};
const tools = [{
  type: "function" as const,
  function: { name: "weather", parameters, strict: true },
}];
const sampling = { model, temperature: 1, seed: 7, max_completion_tokens: 120 };
const calling = { ...sampling, tools, tool_choice: "required" as const };

Deno.test("chats are the same streamed and not, with exact counts", async () => {
  const ask = { ...sampling, temperature: 0, max_completion_tokens: 12, messages };
  const { choices: [choice], usage } = await client.chat.completions.create(ask);
  assertEquals(choice!.finish_reason, "length");
  assertEquals(usage!.completion_tokens, 12);
  const stream = client.chat.completions.stream({
    ...ask,
    stream_options: { include_usage: true },
  });
  assertEquals((await stream.finalMessage()).content, choice!.message.content);
  const { prompt_tokens: tokens, completion_tokens: made } = await stream.totalUsage();
  assertEquals([tokens, made], [usage!.prompt_tokens, 12]);
});

Deno.test("structured outputs parse and keep to their schema, streamed or not", async () => {
  const format = { type: "json_schema" as const, json_schema: { name: "p", schema: person } };
  const ask = { ...sampling, messages, response_format: { ...format, strict: true } };
  const { choices } = await client.chat.completions.parse(ask);
  const parsed = choices[0]!.message.parsed as unknown as { name: string; age: number };
  assert(Number.isInteger(parsed.age) && parsed.age <= 120 && parsed.name.length <= 10);
  const stream = client.chat.completions.stream(ask);
  assertEquals((await stream.finalChatCompletion()).choices[0]!.message.parsed, parsed as never);
  const object = { ...ask, response_format: { type: "json_object" as const } };
  const plain = await client.chat.completions.create(object);
  assertEquals(JSON.parse(plain.choices[0]!.message.content!).constructor, Object);
});

Deno.test("a forced call comes, in pieces that make its arguments, and its answer is taken", async () => {
  const whole = await client.chat.completions.create({ ...calling, messages });
  const [{ message, finish_reason: reason }] = whole.choices as [typeof whole.choices[0]];
  assertEquals([reason, message.content], ["tool_calls", null]);
  const [call] = message.tool_calls!;
  assert(call?.type === "function");
  assertMatch(call.id, /^call_\w{8,}$/);
  assertEquals(call.function.name, "weather");
  assertMatch(JSON.parse(call.function.arguments).city, /^(Rome|Paris)$/);

  const pieces: string[] = [];
  const stream = await client.chat.completions.create({ ...calling, messages, stream: true });
  for await (const { choices: [choice] } of stream) {
    const delta = choice!.delta.tool_calls?.find(({ index }) => index === 0);
    if (delta?.function?.arguments) pieces.push(delta.function.arguments);
  }
  assertEquals(pieces.length > 1, true);
  assertEquals(pieces.join(""), call.function.arguments);

  const answered = await client.chat.completions.create({
    ...sampling,
    max_completion_tokens: 8,
    tools,
    tool_choice: "none",
    messages: [...messages, message, { role: "tool", tool_call_id: call.id, content: "22C" }],
  });
  assertEquals(answered.choices[0]!.message.tool_calls, undefined);
  assert(answered.usage!.prompt_tokens > whole.usage!.prompt_tokens);
});

Deno.test("thinking comes apart from the answer", async () => {
  const response_format = {
    type: "json_schema" as const,
    json_schema: { name: "x", schema: { const: 2 } },
  };
  const ask = { ...sampling, messages, reasoning_effort: "high" as const, response_format };
  const { message } = (await client.chat.completions.create(ask)).choices[0]!;
  assertEquals(message.content, "2");
  assert((message as unknown as { reasoning: string }).reasoning.length > 3);
});

Deno.test("responses stream every kind of item and gather to what comes at once", async () => {
  const ask = {
    model,
    input: "Hi",
    temperature: 1,
    max_output_tokens: 120,
    text: { format: { type: "json_schema" as const, name: "p", schema: person, strict: true } },
    // Ours: the seed is no member of responses.
    options: { seed: 7 },
  };
  const whole = await client.responses.parse(ask);
  assertEquals((whole.output_parsed as unknown as { age: number }).age <= 120, true);
  const stream = client.responses.stream(ask);
  assertEquals((await stream.finalResponse()).output_text, whole.output_text);

  const call = await client.responses.create({
    ...ask,
    text: {},
    tools: [{ type: "function", ...tools[0]!.function }],
    tool_choice: "required",
  });
  const [item] = call.output;
  assert(item?.type === "function_call");
  assertMatch(JSON.parse(item.arguments).city, /^(Rome|Paris)$/);
  const next = await client.responses.create({
    ...ask,
    input: [
      { role: "user", content: "Hi" },
      ...call.output as never[],
      { type: "function_call_output", call_id: item.call_id, output: "22C" },
    ],
    reasoning: { effort: "low" },
  });
  assertEquals(next.output.map(({ type }) => type), ["reasoning", "message"]);
});

Deno.test("completions continue texts and token ids side by side as each alone", async () => {
  const ask = { model, temperature: 0, max_tokens: 6, raw: true } as const;
  const alone = [];
  for (const prompt of ["Once", "Then"]) {
    alone.push((await client.completions.create({ ...ask, prompt })).choices[0]!.text);
  }
  const both = await client.completions.create({ ...ask, prompt: ["Once", "Then"] });
  assertEquals(both.choices.map(({ text }) => text), alone);
  assertEquals(both.usage!.completion_tokens, 12);
  const texts = ["", ""];
  const stream = await client.completions.create({
    ...ask,
    prompt: ["Once", "Then"],
    stream: true,
  });
  for await (const { choices: [choice] } of stream) texts[choice!.index] += choice!.text;
  assertEquals(texts, alone);
  const ids = await client.completions.create({ ...ask, prompt: [[1, 2, 3], [4]] });
  assertEquals(ids.usage!.completion_tokens, 12);
});

Deno.test("what cannot be enforced or does not fit is refused before an answer begins", async () => {
  const pattern = { type: "object", properties: { a: { type: "string", pattern: "(" } } };
  const refuse = (members: object) =>
    assertRejects(
      () => client.chat.completions.create({ ...sampling, messages, stream: true, ...members }),
      BadRequestError,
    );
  const json_schema = { name: "x", schema: pattern };
  const format = await refuse({ response_format: { type: "json_schema", json_schema } });
  assertMatch(format.message, /\/properties\/a.*pattern/);
  assertEquals(format.param, "response_format");
  const strict = { name: "f", parameters: pattern, strict: true };
  const tool = await refuse({ tools: [{ type: "function", function: strict }] });
  assertEquals(tool.param, "tools");
  const long = await refuse({ messages: [{ role: "user", content: "word ".repeat(2000) }] });
  assertMatch(long.message, /has \d+ tokens, the window 1024/);
  assertEquals(long.code, "context_length_exceeded");
  const token = await assertRejects(
    () => client.completions.create({ model, prompt: [[1], [99_999]] }),
    BadRequestError,
  );
  assertMatch(token.message, /token 99999 is out of range/);
});

Deno.test("an aborted stream gives its model back", async () => {
  const ask = { ...sampling, max_completion_tokens: 900, messages, stream: true as const };
  const stream = await client.chat.completions.create({ ...ask, ...{ keep_alive: 0 } });
  for await (const _ of stream) break;
  const deadline = Date.now() + 10_000;
  while (manager.running().length > 0) {
    assert(Date.now() < deadline, "Expected the model to be given back");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});
