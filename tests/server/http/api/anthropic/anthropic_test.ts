// POST /v1/messages: the answer and the events of a stream, to the member, and how streams end when
// something goes wrong. Over a model that says what its script says.

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ModelClosedError } from "../../../../../engine/errors.ts";
import type { ChatEvent, DoneEvent } from "../../../../../engine/types/mod.ts";
import { fakeUsage, type Script } from "../../../fake_model.ts";
import { serve } from "../../connection/raw_client.ts";
import { createTestApp, type TestApp } from "../../../test_app.ts";
import { until } from "../../../../until.ts";

type Event = { type: string } & Record<string, unknown>;

const start: ChatEvent = { type: "start", promptTokens: 11, cachedTokens: 4 };
const done: DoneEvent = { type: "done", reason: "stop", usage: fakeUsage };
const body = { model: "tiny", max_tokens: 50, messages: [{ role: "user", content: "Hi" }] };
const usage = {
  input_tokens: 7,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 4,
  output_tokens: 3,
};

/** Thinking, text, a call, another one. */
const everything: ChatEvent[] = [
  start,
  { type: "thinking", text: "Let " },
  { type: "thinking", text: "me" },
  { type: "text", text: "I " },
  { type: "text", text: "look" },
  { type: "callStart", id: "call_1", name: "weather" },
  { type: "callArguments", id: "call_1", json: '{"city":' },
  { type: "callArguments", id: "call_1", json: '"Rome"}' },
  { type: "callEnd", id: "call_1", name: "weather", arguments: { city: "Rome" } },
  { type: "callStart", id: "call_2", name: "now" },
  { type: "callArguments", id: "call_2", json: "{}" },
  { type: "callEnd", id: "call_2", name: "now", arguments: {} },
  done,
];

/** A script of these events; a promise or an error among them is awaited or raised. */
function plays(...events: (ChatEvent | Promise<void> | Error)[]): Script {
  return async function* () {
    for (const event of events) {
      if (event instanceof Error) throw event;
      if (event instanceof Promise) await event;
      else yield event;
    }
  };
}

async function stream(test: TestApp, extras: object = {}): Promise<Event[]> {
  const response = await test.post("/v1/messages", { ...body, stream: true, ...extras });
  assertEquals(response.status, 200);
  return readEvents(await response.text());
}

/** The events of a whole stream, whose names are their types. */
function readEvents(text: string): Event[] {
  assert(text === "" || text.endsWith("\n\n"));
  return text.split("\n\n").slice(0, -1).map((frame) => {
    const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(frame)!;
    const event = JSON.parse(data!);
    assertEquals(event.type, name);
    return event;
  });
}

Deno.test("an answer has all members that Anthropic's clients read", async () => {
  const { post } = createTestApp({ script: plays(...everything) });
  const response = await post("/v1/messages", body);
  assertEquals(response.status, 200);
  assertMatch(response.headers.get("request-id")!, /^req_\w{24}$/);
  assertMatch(response.headers.get("content-type")!, /^application\/json/);
  const { id, ...answer } = await response.json();
  assertMatch(id, /^msg_\w{24}$/);
  const [thinking, ...content] = answer.content;
  assertEquals([thinking.type, thinking.thinking], ["thinking", "Let me"]);
  assert(thinking.signature.length > 0);
  assertEquals({ ...answer, content }, {
    type: "message",
    role: "assistant",
    model: "tiny",
    content: [
      { type: "text", text: "I look" },
      { type: "tool_use", id: "toolu_call_1", name: "weather", input: { city: "Rome" } },
      { type: "tool_use", id: "toolu_call_2", name: "now", input: {} },
    ],
    stop_reason: "tool_use",
    stop_sequence: null,
    usage,
  });
});

Deno.test("a stream has its events in order, blocks one after the other", async () => {
  const test = createTestApp({ script: plays(...everything) });
  const [first, ...events] = await stream(test);
  const message = first!.message as Record<string, unknown>;
  assertMatch(message.id as string, /^msg_\w{24}$/);
  assertEquals({ ...first, message: { ...message, id: "" } }, {
    type: "message_start",
    message: {
      id: "",
      type: "message",
      role: "assistant",
      model: "tiny",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: 0 },
    },
  });
  const signed = events.find(({ delta }) => (delta as Event)?.type === "signature_delta")!;
  const { signature } = signed.delta as unknown as { signature: string };
  assert(signature.length > 0);
  const begin = (index: number, content_block: object) => (
    { type: "content_block_start", index, content_block }
  );
  const add = (index: number, delta: object) => ({ type: "content_block_delta", index, delta });
  const end = (index: number) => ({ type: "content_block_stop", index });
  assertEquals(events as unknown[], [
    { type: "ping" },
    begin(0, { type: "thinking", thinking: "", signature: "" }),
    add(0, { type: "thinking_delta", thinking: "Let " }),
    add(0, { type: "thinking_delta", thinking: "me" }),
    add(0, { type: "signature_delta", signature }),
    end(0),
    begin(1, { type: "text", text: "" }),
    add(1, { type: "text_delta", text: "I " }),
    add(1, { type: "text_delta", text: "look" }),
    end(1),
    begin(2, { type: "tool_use", id: "toolu_call_1", name: "weather", input: {} }),
    add(2, { type: "input_json_delta", partial_json: '{"city":' }),
    add(2, { type: "input_json_delta", partial_json: '"Rome"}' }),
    end(2),
    begin(3, { type: "tool_use", id: "toolu_call_2", name: "now", input: {} }),
    add(3, { type: "input_json_delta", partial_json: "{}" }),
    end(3),
    { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage },
    { type: "message_stop" },
  ]);
});

Deno.test("a stream is one of server-sent events that nothing keeps back", async () => {
  const { post } = createTestApp();
  const { headers, body: content } = await post("/v1/messages", { ...body, stream: true });
  assertMatch(headers.get("content-type")!, /^text\/event-stream/);
  assertEquals(headers.get("cache-control"), "no-cache");
  assertMatch(headers.get("request-id")!, /^req_\w{24}$/);
  await content!.cancel();
});

Deno.test("an empty answer has an empty list of blocks", async () => {
  const test = createTestApp({ script: plays(start, done) });
  const answer = await (await test.post("/v1/messages", body)).json();
  assertEquals([answer.content, answer.stop_reason], [[], "end_turn"]);
  assertEquals((await stream(test)).map(({ type }) => type), [
    "message_start",
    "ping",
    "message_delta",
    "message_stop",
  ]);
});

const cutCall: ChatEvent[] = [
  { type: "callStart", id: "x", name: "now" },
  { type: "callArguments", id: "x", json: '{"a": "b' },
];
const wholeCall = everything.slice(5, 9);
const cut: DoneEvent = { ...done, reason: "length" };
const stopped: DoneEvent = { ...done, stopString: "###" };

/** Events, then stop_reason and stop_sequence. */
const ends: [string, ChatEvent[], string, string | null][] = [
  ["the model's own end", [done], "end_turn", null],
  ["a limit", [cut], "max_tokens", null],
  ["a stop sequence", [stopped], "stop_sequence", "###"],
  ["a stop string of the options", [{ ...done, stopString: "##" }], "stop_sequence", "##"],
  ["a stop string of the model", [{ ...done, stopString: "<end>" }], "end_turn", null],
  ["a call", [...wholeCall, done], "tool_use", null],
  ["a call that the limit follows", [...wholeCall, cut], "max_tokens", null],
  ["a call that a limit cut short", [...cutCall, cut], "max_tokens", null],
  ["a second call cut short", [...wholeCall, ...cutCall, cut], "max_tokens", null],
];

for (const [name, events, stop_reason, stop_sequence] of ends) {
  Deno.test(`stop_reason tells of ${name}`, async () => {
    const test = createTestApp({ script: plays(start, ...events) });
    const asked = { ...body, stop_sequences: ["never", "###"], options: { stop: ["##"] } };
    const answer = await (await test.post("/v1/messages", asked)).json();
    const expected = { stop_reason, stop_sequence };
    const called = answer.content.filter(({ type }: { type: string }) => type === "tool_use");
    assertEquals(called.length, events.filter(({ type }) => type === "callEnd").length);
    assertEquals(
      { stop_reason: answer.stop_reason, stop_sequence: answer.stop_sequence },
      expected,
    );
    assertEquals((await stream(test, asked)).at(-2)!.delta as unknown, expected);
  });
}

Deno.test("a silent prefill is pinged, and so is any later silence", async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const script = plays(
    start,
    gates[0]!.promise,
    { type: "text", text: "Hi" },
    gates[1]!.promise,
    done,
  );
  const { post } = createTestApp({ script }, { heartbeatMilliseconds: 5 });
  const response = await post("/v1/messages", { ...body, stream: true });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const readUntil = async (pings: number) => {
    while (text.split("event: ping").length <= pings) text += (await reader.read()).value;
  };
  await readUntil(4);
  assertEquals(text.includes("content_block_start"), false);
  gates[0]!.resolve();
  while (!text.includes("text_delta")) text += (await reader.read()).value;
  await readUntil(text.split("event: ping").length + 2);
  gates[1]!.resolve();
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  assertEquals(readEvents(text).at(-1), { type: "message_stop" });
});

Deno.test("a client that leaves while it is pinged ends the generation", async () => {
  let ended = false;
  const script: Script = async function* ({ signal }) {
    yield start;
    await new Promise((resolve) => signal!.addEventListener("abort", resolve));
    ended = true;
  };
  const { post, manager, lines } = createTestApp({ script }, { heartbeatMilliseconds: 5 });
  const response = await post("/v1/messages", { ...body, stream: true, keep_alive: 0 });
  const reader = response.body!.getReader();
  for (let i = 0; i < 4; i++) await reader.read();
  await reader.cancel();
  await until(() => ended && manager.running().length === 0);
  await until(() => lines.some((line) => line.includes("canceled")));
});

Deno.test("a fault of ours in a stream cuts the connection, without any event that looks like an end", async () => {
  const fault = new ModelClosedError("the model was closed");
  const { post } = createTestApp({ script: plays(start, { type: "text", text: "Hi" }, fault) });
  const response = await post("/v1/messages", { ...body, stream: true });
  assertEquals(response.status, 200);
  let text = "";
  await assertRejects(async () => {
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) text += part;
  });
  assertEquals(text.includes("message_stop") || text.includes("event: error"), false);
});

Deno.test("such a fault is an error to the client of a real port", async () => {
  const fault = new ModelClosedError("the model was closed");
  const { app } = createTestApp({ script: plays(start, { type: "text", text: "Hi" }, fault) });
  await using server = serve(app.fetch);
  const response = await fetch(`${server.url}/v1/messages`, {
    method: "POST",
    body: JSON.stringify({ ...body, stream: true }),
  });
  assertEquals(response.status, 200);
  await assertRejects(() => response.text());
});

Deno.test("the exact switch tells of such a fault by an error event", async () => {
  const fault = new ModelClosedError("the model was closed");
  const script = plays(start, { type: "text", text: "Hi" }, fault);
  const test = createTestApp({ script }, { anthropicExact: true });
  const response = await test.post("/v1/messages", { ...body, stream: true });
  const last = readEvents(await response.text()).at(-1)!;
  assertEquals(last as unknown, {
    type: "error",
    error: { type: "overloaded_error", message: "the model was closed" },
    request_id: response.headers.get("request-id"),
  });
});
