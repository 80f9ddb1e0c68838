// The official openai client, unmodified, against the application: with the model in the box where
// something is said, with random weights where an answer has to be what was asked for whatever it is.

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { BadRequestError, OpenAI } from "openai";
import { until } from "../../../../until.ts";
import { BOX, name, passage, sum, weather, weatherTool } from "../../../box_talk.ts";
import { createTinyApp } from "../../../tiny_app.ts";

const { app, manager } = await createTinyApp("openai");
const client = new OpenAI({
  baseURL: "http://127.0.0.1/v1",
  apiKey: "anything",
  maxRetries: 0,
  fetch: async (input, init) => await app.fetch(new Request(input, init)),
});

const model = "tools";
const messages = [{ role: "user" as const, content: "Hi" }];
const shape = {
  type: "object",
  properties: { name: { type: "string", maxLength: 10 }, age: { type: "integer", maximum: 120 } },
  required: ["name", "age"],
  additionalProperties: false,
};
const tools = [{ ...weatherTool, function: { ...weatherTool.function, strict: true } }];
const sampling = { model, temperature: 1, seed: 7, max_completion_tokens: 120 };
const greedy = { model: BOX, temperature: 0, max_completion_tokens: 120 };
const said = (content: string) => ({ role: "user" as const, content });
const asking = [said(weather.question)];

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

Deno.test("the tokens of an input are counted as its response counts them", async () => {
  const input = { model: BOX, input: "How do I pull a model?", instructions: "Be brief." };
  const { object, input_tokens: counted } = await client.responses.inputTokens.count(input);
  const { usage } = await client.responses.create({ ...input, max_output_tokens: 16 });
  assertEquals([object, counted], ["response.input_tokens", usage!.input_tokens]);
});

Deno.test("structured outputs keep to their schema, whatever the model would say", async () => {
  const json_schema = { name: "p", schema: shape, strict: true };
  const ask = { ...sampling, messages, response_format: { type: "json_schema", json_schema } };
  const { choices } = await client.chat.completions.parse(ask as never);
  const parsed = choices[0]!.message.parsed as unknown as { name: string; age: number };
  assert(Number.isInteger(parsed.age) && parsed.age <= 120 && parsed.name.length <= 10);
});

Deno.test("structured outputs parse and have the facts, streamed or not", async () => {
  const json_schema = { name: "p", schema: passage.schema, strict: true };
  const response_format = { type: "json_schema" as const, json_schema };
  const ask = { ...greedy, messages: [said(passage.question)], response_format };
  const { choices } = await client.chat.completions.parse(ask);
  assertEquals(choices[0]!.message.parsed as unknown, passage.facts);
  const stream = client.chat.completions.stream(ask);
  assertEquals(
    (await stream.finalChatCompletion()).choices[0]!.message.parsed as unknown,
    passage.facts,
  );
  const object = { ...ask, response_format: { type: "json_object" as const } };
  const plain = await client.chat.completions.create(object);
  assertEquals(JSON.parse(plain.choices[0]!.message.content!), passage.facts);
});

Deno.test("a call comes, in pieces that make its arguments, and its result is told", async () => {
  const ask = { ...greedy, tools, messages: asking };
  for (const tool_choice of ["auto", "required"] as const) {
    const whole = await client.chat.completions.create({ ...ask, tool_choice });
    const [{ message, finish_reason: reason }] = whole.choices as [typeof whole.choices[0]];
    // Where a call is demanded there is no room for words.
    const lead = tool_choice === "auto" ? weather.lead : null;
    assertEquals([reason, message.content], ["tool_calls", lead]);
    const [call] = message.tool_calls!;
    assert(call?.type === "function");
    assertMatch(call.id, /^call_\w{8,}$/);
    assertEquals(call.function.name, weather.name);
    assertEquals(JSON.parse(call.function.arguments), weather.arguments);

    const pieces: string[] = [];
    const stream = await client.chat.completions.create({ ...ask, tool_choice, stream: true });
    for await (const { choices: [choice] } of stream) {
      const delta = choice!.delta.tool_calls?.find(({ index }) => index === 0);
      if (delta?.function?.arguments) pieces.push(delta.function.arguments);
    }
    assertEquals(pieces.length > 1, true);
    assertEquals(pieces.join(""), call.function.arguments);

    const result = { role: "tool" as const, tool_call_id: call.id, content: weather.result };
    const answered = await client.chat.completions.create({
      ...ask,
      messages: [...asking, message, result],
    });
    assertEquals(answered.choices[0]!.message.tool_calls, undefined);
    assertMatch(answered.choices[0]!.message.content!, weather.told);
    assert(answered.usage!.prompt_tokens > whole.usage!.prompt_tokens);
  }
});

Deno.test("the client runs tools until there is an answer", async () => {
  const asked: unknown[] = [];
  const run = (values: unknown) => (asked.push(values), weather.result);
  const runner = client.chat.completions.runTools({
    ...greedy,
    messages: asking,
    tools: [{
      type: "function",
      function: { ...tools[0]!.function, parse: JSON.parse, function: run },
    }],
  });
  assertMatch((await runner.finalContent())!, weather.told);
  assertEquals(asked, [weather.arguments]);
});

Deno.test("thinking comes apart from the answer, where it is asked for", async () => {
  const ask = { ...greedy, messages: [said(sum.question)] };
  const thinking = { ...ask, reasoning_effort: "high" as const };
  const { message } = (await client.chat.completions.create(thinking)).choices[0]!;
  assertMatch(message.content!, sum.answer);
  assertMatch((message as unknown as { reasoning: string }).reasoning, sum.thought);
  const short = { ...ask, reasoning_effort: "none" as const };
  const { message: answer } = (await client.chat.completions.create(short)).choices[0]!;
  assertEquals((answer as { reasoning?: string }).reasoning, undefined);
});

Deno.test("a conversation is held, in messages and in the items of responses", async () => {
  const first = (await client.chat.completions.create({ ...greedy, messages: [said(name.told)] }))
    .choices[0]!.message;
  const messages = [said(name.told), first, said(name.question)];
  const { choices } = await client.chat.completions.create({ ...greedy, messages });
  assertMatch(choices[0]!.message.content!, name.answer);

  const ask = { model: BOX, temperature: 0 };
  const { output } = await client.responses.create({ ...ask, input: name.told });
  const input = [said(name.told), ...output as never[], said(name.question)];
  assertMatch((await client.responses.create({ ...ask, input })).output_text, name.answer);
});

Deno.test("responses stream every kind of item and gather to what comes at once", async () => {
  const format = { type: "json_schema" as const, name: "p", schema: passage.schema, strict: true };
  const ask = { model: BOX, temperature: 0, max_output_tokens: 120 };
  const extract = { ...ask, input: passage.question, text: { format } };
  const whole = await client.responses.parse(extract);
  assertEquals(whole.output_parsed as unknown, passage.facts);
  const stream = client.responses.stream(extract);
  assertEquals((await stream.finalResponse()).output_text, whole.output_text);

  const able = { ...ask, tools: [{ type: "function" as const, ...tools[0]!.function }] };
  const call = await client.responses.create({ ...able, input: weather.question });
  const [lead, item] = call.output;
  assert(lead?.type === "message" && item?.type === "function_call");
  assertEquals(call.output_text, weather.lead);
  assertEquals(JSON.parse(item.arguments), weather.arguments);
  const next = await client.responses.create({
    ...able,
    input: [
      said(weather.question),
      ...call.output as never[],
      { type: "function_call_output", call_id: item.call_id, output: weather.result },
    ],
  });
  assertMatch(next.output_text, weather.told);

  const thinking = { ...ask, input: sum.question, reasoning: { effort: "low" as const } };
  const thought = await client.responses.create(thinking);
  assertEquals(thought.output.map(({ type }) => type), ["reasoning", "message"]);
  assertMatch(thought.output_text, sum.answer);
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

Deno.test("several answers to a prompt are those to one seed after the other, and count it once", async () => {
  const ask = { ...sampling, max_completion_tokens: 12, messages };
  const singles = await Promise.all(
    [7, 8, 9].map((seed) => client.chat.completions.create({ ...ask, seed })),
  );
  const texts = singles.map(({ choices }) => choices[0]!.message.content);
  assert(new Set(texts).size > 1, "seeds change nothing");
  const { choices, usage } = await client.chat.completions.create({ ...ask, n: 3 });
  assertEquals(choices.map(({ index }) => index), [0, 1, 2]);
  assertEquals(choices.map(({ message }) => message.content), texts);
  const made = singles.reduce((sum, one) => sum + one.usage!.completion_tokens, 0);
  const read = singles[0]!.usage!.prompt_tokens;
  assertEquals([usage!.prompt_tokens, usage!.completion_tokens], [read, made]);
  assertEquals(usage!.total_tokens, read + made);

  const stream = client.chat.completions.stream({
    ...ask,
    n: 3,
    stream_options: { include_usage: true },
  });
  const streamed = (await stream.finalChatCompletion()).choices;
  assertEquals(streamed.map(({ message }) => message.content), texts);
  assertEquals((await stream.totalUsage()).total_tokens, read + made);
});

Deno.test("several answers to several prompts stand in the order of the prompts", async () => {
  const ask = { model, temperature: 1, seed: 7, max_tokens: 6, prompt: ["One", "Two"] };
  const alone = (seed: number, prompt: string) =>
    client.completions.create({ ...ask, seed, prompt, echo: true });
  const singles = [
    await alone(7, "One"),
    await alone(8, "One"),
    await alone(7, "Two"),
    await alone(8, "Two"),
  ];
  const both = await client.completions.create({ ...ask, n: 2, best_of: 2, echo: true });
  assertEquals(both.choices.map(({ text }) => text), singles.map((one) => one.choices[0]!.text));
  const sum = (of: "prompt_tokens" | "completion_tokens", some: typeof singles) =>
    some.reduce((total, one) => total + one.usage![of], 0);
  assertEquals(both.usage!.prompt_tokens, sum("prompt_tokens", [singles[0]!, singles[2]!]));
  assertEquals(both.usage!.completion_tokens, sum("completion_tokens", singles));
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
  await until(() => !manager.running().some(({ entry }) => entry.name.startsWith(model)));
});
