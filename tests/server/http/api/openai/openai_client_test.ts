// The official openai client, unmodified, against the application without a port and a model without
// weights: what only a script can bring about. openai_end_to_end_test.ts has the model in the box.

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { ChatRequest } from "../../../../../engine/types/mod.ts";
import { ResponseStore } from "../../../../../server/http/response_store.ts";
import { APIError, BadRequestError, NotFoundError, OpenAI } from "openai";
import { failsAfter, says, saysForever } from "../../../fake_model.ts";
import { callEvents, gives } from "./openai_scripts.ts";
import { createTestApp, type TestApp } from "../../../test_app.ts";
import { until } from "../../../../until.ts";

function clientOf({ app }: TestApp): OpenAI {
  return new OpenAI({
    baseURL: "http://127.0.0.1:11434/v1",
    apiKey: "anything",
    maxRetries: 0,
    fetch: async (input, init) => await app.fetch(new Request(input, init)),
  });
}

const messages = [{ role: "user" as const, content: "Hi" }];
const able = { info: { callsTools: true, thinks: true } };
const calls = gives([
  { type: "thinking", text: "Hm" },
  { type: "text", text: "Look" },
  ...callEvents("call_1", "weather", ['{"city"', ':"Rome"}']),
]);

Deno.test("the openai client chats, streaming and not", async () => {
  const client = clientOf(createTestApp());
  const whole = await client.chat.completions.create({ model: "tiny", messages });
  assertEquals(whole.choices[0]!.message.content, "Hello");
  assertEquals(whole.usage!.prompt_tokens_details!.cached_tokens, 4);
  const stream = client.chat.completions.stream({
    model: "tiny",
    messages,
    stream_options: { include_usage: true },
  });
  let text = "";
  stream.on("content", (delta) => text += delta);
  assertEquals(await stream.finalContent(), "Hello");
  assertEquals([text, (await stream.totalUsage()).total_tokens], ["Hello", 14]);
});

Deno.test("the openai client streams responses and gathers the same as it gets at once", async () => {
  const client = clientOf(createTestApp({ ...able, script: calls }));
  const stream = client.responses.stream({ model: "tiny", input: "Hi" });
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  assertEquals(types.at(-1), "response.completed");
  const gathered = await stream.finalResponse();
  const whole = await client.responses.create({ model: "tiny", input: "Hi" });
  const shapeOf = ({ output, output_text }: typeof whole) => [
    output_text,
    output.map((item) => ({ ...item, id: "", parsed_arguments: null })).map((item) =>
      "content" in item && item.content
        ? { ...item, content: item.content.map((part) => ({ ...part, parsed: null })) }
        : item
    ),
  ];
  assertEquals(shapeOf(gathered), shapeOf(whole));
  assertEquals([whole.output_text, whole.output.length], ["Look", 3]);
});

Deno.test("the openai client continues, retrieves, lists and deletes responses", async () => {
  const folder = await Deno.makeTempDir();
  const bounds = { count: 9, bytes: 1e6, age: Infinity };
  const responses = new ResponseStore({ folder, warn() {}, ...bounds });
  const test = createTestApp({}, { responses });
  const client = clientOf(test);
  const first = await client.responses.create({
    model: "tiny",
    input: "Hi",
    instructions: "Rhyme.",
  });
  const stream = await client.responses.create({
    model: "tiny",
    input: "And?",
    previous_response_id: first.id,
    stream: true,
  });
  let second = first;
  for await (const event of stream) {
    if (event.type === "response.completed") second = event.response;
  }
  const { request } = test.loaded[0]!.requests.at(-1)! as { request: ChatRequest };
  assertEquals(request.messages.map(({ content }) => content), ["Hi", "Hello", "And?"]);
  assertEquals(second.previous_response_id, first.id);
  const { output_text: text, ...kept } = await client.responses.retrieve(second.id);
  assertEquals([kept, text], [second, "Hello"]);

  const texts = [];
  for await (
    const item of client.responses.inputItems.list(second.id, { limit: 1, order: "asc" })
  ) {
    texts.push(item.type === "message" && JSON.stringify(item.content).match(/"text":"(.*?)"/)![1]);
  }
  assertEquals(texts, ["Hi", "Hello", "And?"]);

  await client.responses.delete(first.id);
  const lost = await assertRejects(() => client.responses.retrieve(first.id), NotFoundError);
  assertStringIncludes(lost.message, "was deleted");
  await assertRejects(() => client.responses.delete(first.id), NotFoundError);
  const unkept = await client.responses.create({ model: "tiny", input: "Hi", store: false });
  const more = { model: "tiny", input: "x", previous_response_id: unkept.id };
  const refused = await assertRejects(() => client.responses.create(more), NotFoundError);
  assertEquals([refused.code, refused.param], [
    "previous_response_not_found",
    "previous_response_id",
  ]);
  await assertRejects(
    async () => await client.responses.retrieve(second.id, { stream: true }),
    BadRequestError,
    "stream: no events are kept of response",
  );
  await Deno.remove(folder, { recursive: true });
});

Deno.test("the openai client completes prompts, one or several", async () => {
  const client = clientOf(createTestApp());
  const { choices } = await client.completions.create({ model: "story", prompt: ["a", "b"] });
  assertEquals(choices.map(({ text }) => text), ["Hello", "Hello"]);
  let text = "";
  const stream = await client.completions.create({ model: "story", prompt: "a", stream: true });
  for await (const { choices: [choice] } of stream) text += choice!.text;
  assertEquals(text, "Hello");
});

Deno.test("the openai client gets vectors as numbers and as base64, which are the same", async () => {
  const client = clientOf(createTestApp({ info: { isEmbeddingModel: true } }));
  const ask = { model: "tiny", input: ["four", "a"] };
  const plain = await client.embeddings.create({ ...ask, encoding_format: "float" });
  const packed = await client.embeddings.create(ask);
  const numbers = packed.data.map(({ embedding }) => embedding.map(Math.fround));
  assertEquals(plain.data.map(({ embedding }) => embedding.map(Math.fround)), numbers);
  assertEquals(numbers[0]![0], 4);
});

Deno.test("the openai client lists models and finds one", async () => {
  const client = clientOf(createTestApp());
  const ids = [];
  for await (const { id } of client.models.list()) ids.push(id);
  assertEquals(ids, ["tiny:latest", "story:latest"]);
  assertEquals((await client.models.retrieve("tiny")).id, "tiny");
  await assertRejects(() => client.models.retrieve("a/b"), NotFoundError, "'a/b' not found");
});

Deno.test("the openai client gets errors with their class, code and member", async () => {
  const client = clientOf(createTestApp());
  const ask = (members: object) => () =>
    client.chat.completions.create({ model: "tiny", messages, ...members });
  const unknown = await assertRejects(ask({ model: "nope" }), NotFoundError, "'nope' not found");
  assertEquals(unknown.code, "model_not_found");
  const refused = await assertRejects(ask({ n: 0 }), BadRequestError, "n must be at least 1");
  assertEquals([refused.param, refused.type], ["n", "invalid_request_error"]);
});

Deno.test("the openai client raises an error that comes within a stream", async () => {
  const script = failsAfter(["Hel"], new Error("a defect"));
  const client = clientOf(createTestApp({ script }));
  const read = async () => {
    const stream = await client.chat.completions.create({ model: "tiny", messages, stream: true });
    for await (const { choices } of stream) assertEquals(choices[0]!.delta.content, "Hel");
  };
  await assertRejects(read, APIError, "a defect");
});

Deno.test("aborting the openai client's streams ends their generations", async () => {
  let ended = 0;
  const test = createTestApp({ script: saysForever(() => ended++) });
  const client = clientOf(test);
  const last = { keep_alive: 0 } as object;
  const chat = await client.chat.completions.create({
    model: "tiny",
    messages,
    stream: true,
    ...last,
  });
  for await (const _ of chat) break;
  const response = await client.responses.create({
    model: "tiny",
    input: "Hi",
    stream: true,
    ...last,
  });
  for await (const _ of response) response.controller.abort();
  await until(() => ended === 2 && test.manager.running().length === 0);
});

Deno.test("the openai client compacts a conversation and goes on with what it gets", async () => {
  const test = createTestApp(able);
  const client = clientOf(test);
  const { output } = await client.responses.compact({
    model: "tiny",
    input: [{ role: "user", content: "Hi" }, { role: "assistant", content: "Hello" }],
  });
  assertEquals(output.map(({ type }) => type), ["message", "compaction"]);
  const input = [...output, {
    role: "user" as const,
    content: "Go on",
  }] as OpenAI.Responses.ResponseInput;
  const { status } = await client.responses.create({ model: "tiny", input });
  assertEquals([status, lastChat(test).messages.length], ["completed", 3]);
});

Deno.test("the openai client is called back by a custom tool", async () => {
  const script = gives(callEvents("c1", "patch", ['{"input":"*** Begin"}']));
  const client = clientOf(createTestApp({ ...able, script }));
  const stream = client.responses.stream({
    model: "tiny",
    input: "Fix it",
    tools: [{ type: "custom", name: "patch" }],
  });
  const { output } = await stream.finalResponse();
  const [call] = output;
  assertEquals(call!.type === "custom_tool_call" && [call.name, call.input, call.call_id], [
    "patch",
    "*** Begin",
    "c1",
  ]);
});

Deno.test("the openai client reads an answer behind white space as any other", async () => {
  const test = createTestApp({
    script: async function* (request) {
      await new Promise((resolve) => setTimeout(resolve, 30));
      yield* says("Hello")(request);
    },
  }, { whiteSpaceMilliseconds: 5 });
  const { choices } = await clientOf(test).chat.completions.create({ model: "tiny", messages });
  assertEquals(choices[0]!.message.content, "Hello");
});

/** What the model was last asked for. */
function lastChat({ loaded }: TestApp): ChatRequest {
  return loaded.at(-1)!.requests.at(-1)!.request as ChatRequest;
}
