// Numbers of requests that are forwarded, and of the answers to them, stay as they are written.

import { assertEquals } from "@std/assert";
import type { ChatEvent, ChatRequest } from "../../../engine/mod.ts";
import { parseExactJson, writeExactJson } from "../../../tokenizer/mod.ts";
import { delta, eventsOf, openAt, serveOllama, serveOpenAi } from "./upstream.ts";

const ARGUMENTS = '{"id":9007199254740993,"x":1.0,"y":[1e21,-0,1e400]}';
const SCHEMA =
  '{"type":"object","properties":{"id":{"const":18446744073709551615,"default":1.50}}}';
const values = parseExactJson(ARGUMENTS) as Record<string, unknown>;
const parameters = parseExactJson(SCHEMA) as Record<string, unknown>;
const tool = { type: "function" as const, function: { name: "f", parameters } };

function requestWith(schema: unknown): ChatRequest {
  return {
    messages: [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "c1", function: { name: "f", arguments: values } }],
      },
      { role: "tool", content: "1", toolCallId: "c1" },
    ],
    tools: [tool],
    format: { schema },
  };
}

/** What a call is in the events of an answer. */
const CALL: ChatEvent[] = [
  { type: "callStart", id: "c2", name: "f" },
  { type: "callArguments", id: "c2", json: ARGUMENTS },
  { type: "callEnd", id: "c2", name: "f", arguments: JSON.parse(ARGUMENTS) },
];

Deno.test("numbers go to a server of Ollama and come from it as they are written", async () => {
  const call = { id: "c2", function: { name: "f", arguments: values } };
  await using upstream = serveOllama([
    { message: { content: "", tool_calls: [call] }, eval_duration: parseExactJson("1.0") },
    { message: { content: "" }, done: true, done_reason: "stop" },
  ]);
  await using model = await openAt(upstream);
  for (const schema of [SCHEMA, parameters]) {
    const events = await eventsOf(model.chat(requestWith(schema)));
    assertEquals(events.slice(1, -1), CALL);
    const { body } = upstream.of("/api/chat").at(-1)!;
    assertEquals(writeExactJson(body.format), SCHEMA);
    assertEquals(writeExactJson(body.tools[0].function.parameters), SCHEMA);
    assertEquals(writeExactJson(body.messages[1].tool_calls[0].function.arguments), ARGUMENTS);
  }
});

Deno.test("numbers go to a server of OpenAI and come from it as they are written", async () => {
  await using upstream = serveOpenAi([
    delta({ tool_calls: [{ index: 0, id: "c2", function: { name: "f", arguments: "" } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: ARGUMENTS } }] }, "tool_calls"),
  ]);
  await using model = await openAt(upstream);
  for (const schema of [SCHEMA, parameters]) {
    const events = await eventsOf(model.chat(requestWith(schema)));
    assertEquals(events.filter(({ type }) => type.startsWith("call")), CALL);
    const { body } = upstream.of("/v1/chat/completions").at(-1)!;
    assertEquals(writeExactJson(body.response_format.json_schema.schema), SCHEMA);
    assertEquals(writeExactJson(body.tools[0].function.parameters), SCHEMA);
    assertEquals(body.messages[1].tool_calls[0].function.arguments, ARGUMENTS);
  }
});
