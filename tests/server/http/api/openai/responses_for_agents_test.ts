// What Codex and other agents send to POST /v1/responses: custom tools, tools that run elsewhere, and
// compactions.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { says } from "../../../fake_model.ts";
import { createTestApp } from "../../../test_app.ts";
import { callEvents, gives, readEvents } from "./openai_scripts.ts";
import { able, model, path, withKeeper } from "./response_keeper.ts";

const patch = {
  type: "custom",
  name: "apply_patch",
  description: "Edits files.",
  format: { type: "grammar", syntax: "lark", definition: "start: /.+/" },
};
const input = "*** Begin Patch\n";
const calls = gives(callEvents("c1", "apply_patch", ['{"input":', JSON.stringify(input), "}"]));

Deno.test("a custom tool is a function of its input, and is called with a text", async () => {
  const test = createTestApp({ ...able, script: calls });
  const pattern = { type: "grammar", syntax: "regex", definition: "[0-9]+" };
  const number = { type: "custom", name: "number", format: pattern };
  const tools = [patch, { type: "namespace", name: "n", tools: [number] }];
  const answer = await (await test.post(path, { model, input: "Fix it", tools })).json();
  const { type, name, input: given, call_id } = answer.output[0];
  assertEquals([type, name, given, call_id], ["custom_tool_call", "apply_patch", input, "c1"]);
  assertEquals(answer.tools[0], patch);
  assertEquals(answer.warnings, [
    'tool "apply_patch": its Lark grammar is told to the model, and not enforced',
  ]);
  const { request } = test.loaded[0]!.requests[0]!;
  assert("tools" in request);
  const [first, second] = request.tools!.map(({ function: told }) => told);
  assertEquals(first!.description, "Edits files.\nThe input has this grammar:\nstart: /.+/");
  assertEquals([second!.name, second!.parameters!.properties], [
    "n__number",
    { input: { type: "string", pattern: "^(?:[0-9]+)$" } },
  ]);
  const events = await readEvents(
    await test.post(path, { model, input: "Fix it", tools, stream: true }),
  );
  const ofInput = events.filter(({ event }) => event?.includes("custom_tool_call_input"));
  assertEquals(ofInput.map(({ data }) => data.delta ?? data.input), [input, input]);
});

Deno.test("earlier calls of custom tools and their outputs are told, and kept", async () => {
  await withKeeper(async ({ ask, get, told }) => {
    const items = [
      { role: "user", content: "Fix it" },
      { type: "custom_tool_call", call_id: "c1", name: "apply_patch", input },
      { type: "custom_tool_call_output", call_id: "c1", output: "Done" },
    ];
    const { id } = await ask({ input: items, tools: [patch] });
    const [, call, output] = told();
    assertEquals(call!.toolCalls![0]!.function, { name: "apply_patch", arguments: { input } });
    assertEquals([output!.role, output!.content, output!.toolName], [
      "tool",
      "Done",
      "apply_patch",
    ]);
    await ask({ input: "And now?", previous_response_id: id });
    assertEquals(told()[1]!.toolCalls![0]!.function.arguments, { input });
    const { data } = await get(`${id}/input_items?order=asc`);
    assertEquals(data[1].input, input);
  });
});

Deno.test("tools that run on OpenAI's servers are skipped, and the answer says so", async () => {
  const test = createTestApp(able);
  const tools = [
    { type: "function", name: "f" },
    {
      type: "mcp",
      server_label: "s",
      server_url: "https://example.com",
      require_approval: "never",
    },
    { type: "web_search", external_web_access: true },
    { type: "namespace", name: "n", tools: [{ type: "computer_use_preview", display_width: 3 }] },
  ];
  const answer = await (await test.post(path, { model, input: "Hi", tools })).json();
  const words = (at: string, type: string) =>
    `${at}: tools of type "${type}" do not run here, so the model has none`;
  assertEquals(answer.warnings, [
    words("tools[1]", "mcp"),
    words("tools[2]", "web_search"),
    words("tools[3].tools[0]", "computer_use_preview"),
  ]);
  assertEquals(answer.tools.map(({ type }: { type: string }) => type), ["function", "namespace"]);
  const { request } = test.loaded[0]!.requests[0]!;
  assertEquals("tools" in request && request.tools!.map((tool) => tool.function.name), ["f"]);
});

const conversation = [
  { role: "user", content: "Fix it" },
  { role: "assistant", content: "I looked." },
  { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
  { type: "function_call_output", call_id: "c1", output: "42" },
];

Deno.test("a compaction_trigger gives one compaction, with which the conversation goes on", async () => {
  await withKeeper(async ({ ask, told, loaded }) => {
    const tools = [{ type: "function", name: "f" }];
    const asked = { input: [...conversation, { type: "compaction_trigger" }], tools };
    const { id, output, status } = await ask(asked);
    assertEquals([status, output.length, output[0].type], ["completed", 1, "compaction"]);
    const { request } = loaded[0]!.requests[0]!;
    assert("toolChoice" in request && "messages" in request);
    assertEquals([request.toolChoice, request.tools!.length, request.truncate], ["none", 1, true]);
    assertMatch(told().at(-1)!.content, /^Sum up this conversation/);
    const expected = [
      ["user", "Fix it"],
      ["user", "Summary of what was said and done before:\n\nHello"],
      ["user", "Go on"],
    ];
    const said = () => told().map(({ role, content }) => [role, content]);
    await ask({ input: [conversation[0], output[0], { role: "user", content: "Go on" }] });
    assertEquals(said(), expected);
    await ask({ previous_response_id: id, input: "Go on" });
    assertEquals(said(), expected);
  });
});

Deno.test("a compaction in a stream is one item, without thinking and text", async () => {
  const { post } = createTestApp({ ...able, script: says("Short") });
  const body = { model, input: [...conversation, { type: "compaction_trigger" }], stream: true };
  const events = await readEvents(await post(path, body));
  assertEquals(events.map(({ event }) => event), [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.output_item.done",
    "response.completed",
  ]);
  assertEquals(events[3]!.data.item.encrypted_content, "quern:U2hvcnQ=");
});

Deno.test("POST /v1/responses/compact gives what the user said, and the compaction", async () => {
  const { post, loaded } = createTestApp({ ...able, script: says("Short") });
  const response = await post(`${path}/compact`, {
    model,
    input: conversation,
    instructions: "Be kind.",
  });
  const { object, output, usage } = await response.json();
  assertEquals([object, usage.output_tokens], ["response.compaction", 3]);
  assertEquals(output.map((item: { type: string }) => item.type), ["message", "compaction"]);
  assertEquals(output[0].content[0].text, "Fix it");
  await (await post(path, { model, input: [...output, { role: "user", content: "Go on" }] }))
    .text();
  const { request } = loaded[0]!.requests.at(-1)!;
  assertEquals("messages" in request && request.messages.map(({ content }) => content), [
    "Fix it",
    "Summary of what was said and done before:\n\nShort",
    "Go on",
  ]);
});
