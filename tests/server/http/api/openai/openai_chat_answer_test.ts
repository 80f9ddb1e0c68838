// POST /v1/chat/completions over a model without weights: thinking and calls in whole answers, and the
// chunks of a stream. openai_chat_test.ts has what reaches the model.

import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ChatEvent } from "../../../../../engine/types/mod.ts";
import { failsAfter, says, saysForever } from "../../../fake_model.ts";
import { callEvents, gives, messages, readEvents } from "./openai_scripts.ts";
import { createTestApp } from "../../../test_app.ts";
import { until } from "../../../../until.ts";

const path = "/v1/chat/completions";
const able = { info: { callsTools: true, thinks: true } };

const thinksAndCalls = gives([
  { type: "thinking", text: "Hm" },
  { type: "thinking", text: "m" },
  { type: "text", text: "Look:" },
  ...callEvents("c1", "weather", ['{"city":', '"Rome"}']),
  ...callEvents("c2", "weather", []),
]);

Deno.test("thinking and calls stand apart from the text, and calls end the turn", async () => {
  const { post } = createTestApp({ ...able, script: thinksAndCalls });
  const { choices } = await (await post(path, { model: "tiny", messages })).json();
  assertEquals(choices[0].finish_reason, "tool_calls");
  const call = { type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } };
  assertEquals(choices[0].message, {
    role: "assistant",
    content: "Look:",
    refusal: null,
    reasoning: "Hmm",
    tool_calls: [
      { index: 0, id: "c1", ...call },
      { index: 1, id: "c2", ...call, function: { name: "weather", arguments: '{"a":1}' } },
    ],
  });
});

Deno.test("an answer of calls alone has null for content, and one cut short ends by length", async () => {
  const script = gives(callEvents("c1", "weather", ["{}"]), "length");
  const { post } = createTestApp({ ...able, script });
  const { choices } = await (await post(path, { model: "tiny", messages })).json();
  assertEquals([choices[0].message.content, choices[0].finish_reason], [null, "length"]);
});

Deno.test("a call that was cut short is none, and a whole one before it stays", async () => {
  for (const before of [[], callEvents("c1", "weather", ["{}"])]) {
    const half: ChatEvent[] = [
      { type: "callStart", id: "c2", name: "weather" },
      { type: "callArguments", id: "c2", json: '{"ci' },
    ];
    for (const reason of ["length", "stop"] as const) {
      const script = gives([...before, ...half], reason);
      const { post } = createTestApp({ ...able, script });
      const { choices: [{ message, finish_reason }] } =
        await (await post(path, { model: "tiny", messages })).json();
      assertEquals(message.tool_calls?.length ?? 0, before.length && 1);
      const isCalled = reason === "stop" && before.length > 0;
      assertEquals(finish_reason, isCalled ? "tool_calls" : reason);
    }
  }
});

Deno.test("a stream has one id, a role first, pieces of calls as they come, and an end", async () => {
  const { post } = createTestApp({ ...able, script: thinksAndCalls });
  const response = await post(path, { model: "tiny", messages, stream: true });
  assertStringIncludes(response.headers.get("content-type")!, "text/event-stream");
  const events = await readEvents(response);
  assertEquals(events.pop(), { data: "[DONE]" });
  const [first] = events;
  const { choices: _, ...head } = first!.data;
  assertEquals(Object.keys(head).sort(), [
    "created",
    "id",
    "model",
    "object",
    "system_fingerprint",
  ]);
  assertEquals([head.object, head.model], ["chat.completion.chunk", "tiny"]);
  const args = (index: number, json: string) => ({
    tool_calls: [{ index, function: { arguments: json } }],
  });
  const begin = (index: number, id: string) => ({
    tool_calls: [{ index, id, type: "function", function: { name: "weather", arguments: "" } }],
  });
  const deltas = [
    { role: "assistant", content: "" },
    { reasoning: "Hm" },
    { reasoning: "m" },
    { content: "Look:" },
    begin(0, "c1"),
    args(0, '{"city":'),
    args(0, '"Rome"}'),
    begin(1, "c2"),
    args(1, '{"a":1}'),
  ];
  const chunks = deltas.map((delta) => ({ index: 0, delta, finish_reason: null as string | null }));
  chunks.push({ index: 0, delta: {} as never, finish_reason: "tool_calls" });
  assertEquals(events, chunks.map((choice) => ({ data: { ...head, choices: [choice] } })));
});

Deno.test("a stream gives the counts last where it is asked to, and null before", async () => {
  const { post } = createTestApp();
  const body = { model: "tiny", messages, stream: true, stream_options: { include_usage: true } };
  const events = await readEvents(await post(path, body));
  const [done, last, ...others] = events.reverse();
  const { choices, usage } = last!.data;
  assertEquals([done!.data, choices], ["[DONE]", []]);
  assertEquals([usage.prompt_tokens, usage.completion_tokens], [11, 3]);
  assertEquals(others.map(({ data }) => data.usage), [null, null, null, null]);
  assertEquals(others[0]!.data.choices[0], { index: 0, delta: {}, finish_reason: "stop" });
});

Deno.test("a stream that fails tells the error and has no end", async () => {
  const script = failsAfter(["Hel"], new Error("a defect"));
  const { post } = createTestApp({ script });
  const [first, second, ...others] = await readEvents(
    await post(path, { model: "tiny", messages, stream: true }),
  );
  assertEquals(first!.data.choices[0].delta, { role: "assistant", content: "Hel" });
  const error = { message: "a defect", type: "api_error", param: null, code: null };
  assertEquals([second!.data, others], [{ error }, []]);
});

Deno.test("dropped messages are told where the client lets them be dropped", async () => {
  const { post } = createTestApp({
    script: async function* (request) {
      for await (const event of says("x")(request)) {
        yield event.type === "done" ? { ...event, droppedMessages: 2 } : event;
      }
    },
  });
  const answer = await (await post(path, { model: "tiny", messages, truncate: true })).json();
  assertEquals(answer.dropped_messages, 2);
});

Deno.test("a client that cancels a stream ends the generation", async () => {
  let ended = false;
  const { post, manager } = createTestApp({ script: saysForever(() => ended = true) });
  const response = await post(path, { model: "tiny", messages, stream: true, keep_alive: 0 });
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel();
  await until(() => ended && manager.running().length === 0);
});

Deno.test("calls and thinking of several answers stay apart in whole answers and streams", async () => {
  const { post } = createTestApp({ ...able, script: thinksAndCalls });
  const ask = { model: "tiny", messages, n: 2 };
  const { choices } = await (await post(path, ask)).json();
  assertEquals(choices.length, 2);
  assertEquals(choices[1], { ...choices[0], index: 1 });
  assertEquals(choices[0].message.tool_calls.length, 2);

  const events = await readEvents(await post(path, { ...ask, stream: true }));
  assertEquals(events.filter(({ data }) => data === "[DONE]").length, 1);
  assertEquals(events.at(-1)!.data, "[DONE]");
  const pieces = events.slice(0, -1).flatMap(({ data }) => data.choices);
  const ofChoice = (index: number) =>
    pieces.filter((piece) => piece.index === index).map((piece) => ({ ...piece, index: 0 }));
  assertEquals(ofChoice(0), ofChoice(1));
  assertEquals(ofChoice(1)[0]!.delta.role, "assistant");
  assertEquals(ofChoice(1).at(-1)!.finish_reason, "tool_calls");
});
