// POST /v1/responses over a model without weights: items in, the whole answer, and the numbered events
// of a stream.

import { assertEquals, assertMatch } from "@std/assert";
import { zstdCompressSync } from "node:zlib";
import type { ChatRequest } from "../../../../../engine/types/mod.ts";
import { failsAfter } from "../../../fake_model.ts";
import { callEvents, gives, readEvents, weather } from "./openai_scripts.ts";
import { createTestApp, type TestApp } from "../../../test_app.ts";

const path = "/v1/responses";
const able = { info: { callsTools: true, thinks: true } };
const tool = { type: "function", ...weather.function };

/** What the model was last asked for, without the signal. */
function lastRequest({ loaded }: TestApp): Omit<ChatRequest, "signal" | "answerNow"> {
  const { signal: _, answerNow: _answer, ...request } = loaded.at(-1)!.requests.at(-1)!
    .request as ChatRequest;
  return request;
}

Deno.test("a response is whole by default and repeats what was asked for", async () => {
  const test = createTestApp(able);
  const body = {
    model: "tiny",
    input: "Hi",
    instructions: "Be brief.",
    tools: [tool],
    max_output_tokens: 9,
    text: { format: { type: "json_schema", name: "x", schema: { const: 1 }, strict: true } },
    reasoning: { effort: "low" },
    tool_choice: { type: "function", name: "weather" },
    parallel_tool_calls: false,
    metadata: { a: "b" },
    store: true,
    truncation: "auto",
    include: ["reasoning.encrypted_content"],
  };
  const { id, created_at, completed_at, output, ...whole } = await (await test.post(path, body))
    .json();
  assertMatch(id, /^resp_\w{16,}$/);
  assertEquals([Number.isInteger(created_at), completed_at >= created_at], [true, true]);
  assertEquals(output.length, 1);
  const { id: itemId, ...item } = output[0];
  assertMatch(itemId, /^msg_\w{16,}$/);
  assertEquals(item, {
    type: "message",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: "Hello", annotations: [], logprobs: [] }],
  });
  assertEquals(whole, {
    object: "response",
    status: "completed",
    error: null,
    incomplete_details: null,
    model: "tiny",
    usage: {
      input_tokens: 11,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 14,
    },
    instructions: "Be brief.",
    max_output_tokens: 9,
    max_tool_calls: null,
    temperature: 1,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    parallel_tool_calls: false,
    tool_choice: body.tool_choice,
    tools: [{ ...tool, strict: false }],
    text: { format: body.text.format },
    reasoning: { effort: "low", summary: null },
    truncation: "auto",
    metadata: { a: "b" },
    conversation: null,
    previous_response_id: null,
    background: false,
    store: false,
    service_tier: "default",
    user: null,
    safety_identifier: null,
    prompt_cache_key: null,
  });
  assertEquals<unknown>(lastRequest(test), {
    messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hi" }],
    temperature: 1,
    topP: 1,
    maxTokens: 9,
    format: { schema: { const: 1 } },
    think: "low",
    tools: [weather],
    toolChoice: { name: "weather" },
    parallelToolCalls: false,
    truncate: true,
  });
});

Deno.test("items become turns: what was thought, said and called in one go is one", async () => {
  const test = createTestApp(able);
  const call = (id: string, city: string) => ({
    type: "function_call",
    id: `fc_${id}`,
    call_id: id,
    name: "weather",
    arguments: JSON.stringify({ city }),
  });
  const input = [
    { role: "developer", content: "Rules" },
    { type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] },
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Look" }] },
    call("c1", "Rome"),
    call("c2", "Paris"),
    { type: "function_call_output", call_id: "c1", output: "22C" },
    {
      type: "function_call_output",
      call_id: "c2",
      output: [{ type: "input_text", text: "18C" }],
    },
    {
      type: "reasoning",
      content: [{ type: "reasoning_text", text: "so" }],
      summary: [{ type: "summary_text", text: "short" }],
    },
    call("c3", "Oslo"),
    { type: "reasoning", summary: [] },
    { type: "message", role: "assistant", content: "One" },
    { type: "message", role: "assistant", content: "Two" },
    { role: "system", content: "End" },
  ];
  assertEquals((await test.post(path, { model: "tiny", input })).status, 200);
  const made = (id: string, city: string) => ({
    id,
    function: { name: "weather", arguments: { city } },
  });
  assertEquals<unknown>(lastRequest(test).messages, [
    { role: "system", content: "Rules" },
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: "Look",
      thinking: "hm",
      toolCalls: [made("c1", "Rome"), made("c2", "Paris")],
    },
    { role: "tool", content: "22C", toolName: "weather", toolCallId: "c1" },
    { role: "tool", content: "18C", toolName: "weather", toolCallId: "c2" },
    { role: "assistant", content: "", thinking: "so", toolCalls: [made("c3", "Oslo")] },
    { role: "assistant", content: "One" },
    { role: "assistant", content: "Two" },
    { role: "system", content: "End" },
  ]);
});

Deno.test("a stream numbers its events, opens and closes each item, and ends with the whole", async () => {
  const script = gives([
    { type: "thinking", text: "H" },
    { type: "thinking", text: "m" },
    { type: "text", text: "Lo" },
    { type: "text", text: "ok" },
    ...callEvents("c1", "weather", ['{"city":', '"Rome"}']),
    ...callEvents("c2", "weather", []),
    { type: "text", text: "End" },
  ]);
  const { post } = createTestApp({ ...able, script });
  const events = await readEvents(await post(path, { model: "tiny", input: "Hi", stream: true }));
  assertEquals(events.map(({ data }) => data.sequence_number), [...events.keys()]);
  assertEquals(events.map(({ event }) => event), events.map(({ data }) => data.type));
  const names = events.map(({ data }) =>
    [data.type.replace("response.", ""), data.output_index, data.delta].filter((part) =>
      part !== undefined
    ).join(" ")
  );
  assertEquals(names, [
    "created",
    "in_progress",
    "output_item.added 0",
    "reasoning_summary_part.added 0",
    "reasoning_summary_text.delta 0 H",
    "reasoning_summary_text.delta 0 m",
    "reasoning_summary_text.done 0",
    "reasoning_summary_part.done 0",
    "output_item.done 0",
    "output_item.added 1",
    "content_part.added 1",
    "output_text.delta 1 Lo",
    "output_text.delta 1 ok",
    "output_text.done 1",
    "content_part.done 1",
    "output_item.done 1",
    "output_item.added 2",
    'function_call_arguments.delta 2 {"city":',
    'function_call_arguments.delta 2 "Rome"}',
    "function_call_arguments.done 2",
    "output_item.done 2",
    "output_item.added 3",
    'function_call_arguments.delta 3 {"a":1}',
    "function_call_arguments.done 3",
    "output_item.done 3",
    "output_item.added 4",
    "content_part.added 4",
    "output_text.delta 4 End",
    "output_text.done 4",
    "content_part.done 4",
    "output_item.done 4",
    "completed",
  ]);
  const of = (type: string) =>
    events.filter(({ event }) => event === `response.${type}`).map(({ data }) => data);
  const added = of("output_item.added").map(({ item }) => item);
  const done = of("output_item.done").map(({ item }) => item);
  assertEquals(added.map(({ status }) => status), Array(5).fill("in_progress"));
  assertEquals([added[1].content, added[0].summary, added[2].arguments], [[], [], ""]);
  assertEquals(done.map(({ id, type }) => [id, type]), added.map(({ id, type }) => [id, type]));
  assertEquals(done[0].summary, [{ type: "summary_text", text: "Hm" }]);
  assertEquals(done[2], {
    type: "function_call",
    id: added[2].id,
    status: "completed",
    call_id: "c1",
    name: "weather",
    arguments: '{"city":"Rome"}',
  });
  const [{ response }] = of("completed");
  assertEquals([response.status, response.output], ["completed", done]);
  assertEquals(of("created")[0].response.output, []);
  assertEquals(of("created")[0].response.id, response.id);
  assertEquals(of("output_text.delta")[0].item_id, added[1].id);
});

Deno.test("an answer cut short is incomplete, and so is the item that it was cut in", async () => {
  const cut = gives([{ type: "text", text: "Lo" }], "length");
  const { post } = createTestApp({ ...able, script: cut });
  const whole = await (await post(path, { model: "tiny", input: "Hi" })).json();
  assertEquals([whole.status, whole.output[0].status, whole.completed_at], [
    "incomplete",
    "incomplete",
    null,
  ]);
  assertEquals(whole.incomplete_details, { reason: "max_output_tokens" });
  const events = await readEvents(await post(path, { model: "tiny", input: "Hi", stream: true }));
  assertEquals(events.at(-1)!.event, "response.incomplete");
  const call = gives([
    { type: "callStart", id: "c1", name: "weather" },
    { type: "callArguments", id: "c1", json: '{"ci' },
  ], "length");
  const test = createTestApp({ ...able, script: call });
  const { output, status } = await (await test.post(path, { model: "tiny", input: "Hi" })).json();
  assertEquals([output, status], [[], "incomplete"]);
  const cutCall = await readEvents(
    await test.post(path, { model: "tiny", input: "Hi", stream: true }),
  );
  assertEquals(cutCall.filter(({ event }) => event?.endsWith("item.done")), []);
});

Deno.test("a stream that fails ends with response.failed", async () => {
  const { post } = createTestApp({ script: failsAfter(["Hel"], new Error("a defect")) });
  const events = await readEvents(await post(path, { model: "tiny", input: "Hi", stream: true }));
  const { event, data } = events.at(-1)!;
  assertEquals([event, data.response.status], ["response.failed", "failed"]);
  assertEquals(data.response.error, { code: "server_error", message: "a defect" });
  assertEquals(data.sequence_number, events.length - 1);
});

Deno.test("bodies compressed by zstd and gzip are read, others and broken ones refused", async () => {
  const { app } = createTestApp();
  const text = JSON.stringify({ model: "tiny", input: "Hi" });
  const gzip = new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip")));
  const huge = zstdCompressSync(new Uint8Array(33 * 2 ** 20));
  const cases: [string, Uint8Array<ArrayBuffer>, number][] = [
    ["zstd", new Uint8Array(zstdCompressSync(text)), 200],
    ["gzip", new Uint8Array(await gzip.arrayBuffer()), 200],
    ["identity", new TextEncoder().encode(text), 200],
    ["zstd", new TextEncoder().encode(text), 400],
    ["zstd", new Uint8Array(huge), 413],
    ["compress", new TextEncoder().encode(text), 415],
  ];
  for (const [encoding, body, status] of cases) {
    const headers = { "content-encoding": encoding };
    const response = await app.request(path, { method: "POST", body, headers });
    const { error } = await response.json();
    assertEquals([encoding, response.status, typeof error?.message], [
      encoding,
      status,
      status === 200 ? "undefined" : "string",
    ]);
  }
});

Deno.test("a function in a namespace is offered by both names, and called by the two", async () => {
  const called = createTestApp({
    ...able,
    script: gives(callEvents("c2", "crm__find", ['{"city":"Rome"}'])),
  });
  const { parameters } = weather.function;
  const crm = {
    type: "namespace",
    name: "crm",
    description: "Knows all customers.",
    tools: [
      { type: "function", name: "find", description: "Finds one.", parameters },
      { type: "function", name: "count" },
    ],
  };
  const body = {
    model: "tiny",
    input: [
      { role: "user", content: "Find them" },
      { type: "function_call", call_id: "c1", namespace: "crm", name: "count", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "2" },
    ],
    tools: [tool, crm],
  };
  const { output, tools } = await (await called.post(path, body)).json();
  const { messages, tools: offered } = lastRequest(called);
  assertEquals(offered!.map(({ function: { name, description } }) => [name, description]), [
    ["weather", weather.function.description],
    ["crm__find", "Knows all customers.\nFinds one."],
    ["crm__count", undefined],
  ]);
  assertEquals(messages[1]!.toolCalls![0]!.function.name, "crm__count");
  assertEquals(messages[2]!.toolName, "crm__count");
  assertEquals([output[0].namespace, output[0].name], ["crm", "find"]);
  assertEquals(tools[1].tools.map(({ name }: { name: string }) => name), ["find", "count"]);

  const streamed = await readEvents(await called.post(path, { ...body, stream: true }));
  const { data: { item } } = streamed.find(({ event }) => event === "response.output_item.done")!;
  assertEquals([item.namespace, item.name], ["crm", "find"]);
});

Deno.test("a web search that may use only what was collected before is left out", async () => {
  const test = createTestApp(able);
  const search = { type: "web_search", external_web_access: false };
  const body = { model: "tiny", input: "Hi", tools: [tool, search] };
  const { tools } = await (await test.post(path, body)).json();
  assertEquals(tools[1], search);
  assertEquals(lastRequest(test).tools!.length, 1);
});
