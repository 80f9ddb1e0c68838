// POST /v1/chat/completions over a model without weights: what reaches the model, and a plain
// answer. openai_chat_answer_test.ts has the others.

import { assertEquals, assertMatch } from "@std/assert";
import type { ChatRequest } from "../../../../../engine/types/mod.ts";
import { fakeUsage } from "../../../fake_model.ts";
import { messages, weather } from "./openai_scripts.ts";
import { createTestApp, type TestApp } from "../../../test_app.ts";

const path = "/v1/chat/completions";
const able = { info: { callsTools: true, thinks: true } };

/** What the model was last asked for, without the signal. */
function lastRequest({ loaded }: TestApp): Omit<ChatRequest, "signal" | "answerNow"> {
  const { signal: _, answerNow: _answer, ...request } = loaded.at(-1)!.requests.at(-1)!
    .request as ChatRequest;
  return request;
}

const usage = {
  prompt_tokens: fakeUsage.promptTokens,
  completion_tokens: fakeUsage.completionTokens,
  total_tokens: fakeUsage.promptTokens + fakeUsage.completionTokens,
  prompt_tokens_details: { cached_tokens: fakeUsage.cachedTokens },
};

/** The messages with where they stand in the body. */
const numbered = messages.map((message, index) => ({ ...message, index }));

Deno.test("a chat completion is whole by default, with exact counts", async () => {
  const test = createTestApp();
  const response = await test.post(path, { model: "tiny", messages });
  assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
  const { id, created, ...body } = await response.json();
  assertMatch(id, /^chatcmpl-\w{16,}$/);
  assertEquals(Math.abs(created - Date.now() / 1000) < 60, true);
  assertEquals(body, {
    model: "tiny",
    system_fingerprint: "fp_ollama",
    object: "chat.completion",
    choices: [{
      index: 0,
      message: { role: "assistant", content: "Hello", refusal: null },
      logprobs: null,
      finish_reason: "stop",
    }],
    usage,
  });
  const expected = { messages: numbered, temperature: 1, topP: 1, truncate: false };
  assertEquals<unknown>(lastRequest(test), expected);
  assertMatch(test.lines.at(-1)!, /chat\/completions 200 - tiny - in 4 \+ 7 - /);
});

Deno.test("all options of a chat completion reach the model under its names", async () => {
  const test = createTestApp(able);
  const response = await test.post(path, {
    model: "tiny",
    messages,
    max_tokens: 5,
    max_completion_tokens: 7,
    stop: "END",
    seed: 3,
    temperature: 0,
    top_p: 0.5,
    presence_penalty: 0.1,
    frequency_penalty: -0.2,
    n: 1,
    response_format: { type: "json_schema", json_schema: { name: "x", schema: { const: 1 } } },
    reasoning_effort: "xhigh",
    tools: [weather],
    tool_choice: "required",
    parallel_tool_calls: false,
    options: { top_k: 3, temperature: 2, num_ctx: 512, mirostat: 0 },
    keep_alive: "10m",
    user: "someone",
    store: true,
    metadata: { a: "b" },
    logit_bias: {},
    logprobs: false,
    truncate: true,
  });
  assertEquals(response.status, 200);
  assertEquals<unknown>(lastRequest(test), {
    messages: numbered,
    temperature: 0,
    topP: 0.5,
    topK: 3,
    seed: 3,
    presencePenalty: 0.1,
    frequencyPenalty: -0.2,
    maxTokens: 7,
    stop: ["END"],
    format: { schema: { const: 1 } },
    think: "max",
    tools: [weather],
    toolChoice: "required",
    parallelToolCalls: false,
    contextLength: 512,
    mirostat: 0,
    truncate: true,
  });
  assertEquals(test.loads[0]!.options.contextLength, 512);
});

Deno.test("members that are null are not given, and options of Ollama hold where no member does", async () => {
  const test = createTestApp(able);
  const nothing = Object.fromEntries(
    ["stop", "seed", "top_p", "tools", "tool_choice", "response_format", "n", "max_tokens"]
      .concat(["stream", "stream_options", "logit_bias", "logprobs", "reasoning_effort"])
      .concat(["parallel_tool_calls", "keep_alive", "functions", "temperature"])
      .map((name) => [name, null]),
  );
  const options = { temperature: 0.3, top_p: null, stop: ["x"], num_predict: -1, seed: -1 };
  const response = await test.post(path, { model: "tiny", messages, ...nothing, options });
  assertEquals(response.status, 200);
  const expected = { messages: numbered, temperature: 0.3, topP: 1, stop: ["x"], truncate: false };
  assertEquals<unknown>(lastRequest(test), expected);
});

Deno.test("vLLM's members say whether the last message is continued", async () => {
  const test = createTestApp(able);
  const { post } = test;
  const begun = [...messages, { role: "assistant", content: "It is" }];
  for (
    const [members, expected] of [
      [{}, undefined],
      [{ continue_final_message: true, add_generation_prompt: false }, true],
      [{ continue_final_message: false }, false],
      [{ add_generation_prompt: true }, false],
      [{ add_generation_prompt: false }, true],
    ] as [object, boolean | undefined][]
  ) {
    const { status } = await post(path, { model: "tiny", messages: begun, ...members });
    assertEquals(status, 200);
    assertEquals(lastRequest(test).continueFinalMessage, expected);
  }
  await post(path, { model: "tiny", messages, continue_final_message: true });
  assertEquals(lastRequest(test).continueFinalMessage, true);
});

Deno.test("formats, efforts and choices of tools are translated one by one", async () => {
  const named = { name: "weather" };
  const other = { type: "function", function: { name: "other" } };
  const allowed = { mode: "required", tools: [{ type: "function", function: named }] };
  const cases: [Record<string, unknown>, Record<string, unknown>][] = [
    [{ response_format: { type: "text" } }, { format: undefined }],
    [{ response_format: { type: "json_object" } }, { format: "json" }],
    [
      { response_format: { type: "json_schema", json_schema: { schema: {}, strict: true } } },
      { format: { schema: {} } },
    ],
    [{ reasoning_effort: "none" }, { think: false }],
    [{ reasoning_effort: "minimal" }, { think: "low" }],
    [{ reasoning_effort: "high" }, { think: "high" }],
    [{ reasoning: { effort: "medium" } }, { think: "medium" }],
    [{ tools: [weather], tool_choice: "auto" }, { tools: [weather], toolChoice: undefined }],
    [{ tools: [weather], tool_choice: "none" }, { toolChoice: "none" }],
    [{ tools: [weather], tool_choice: { type: "function", function: named } }, {
      toolChoice: named,
    }],
    [
      {
        tools: [weather, other],
        tool_choice: { type: "allowed_tools", allowed_tools: allowed },
      },
      { tools: [weather], toolChoice: "required" },
    ],
    [{ tools: [], tool_choice: "none" }, { tools: undefined, toolChoice: undefined }],
    [
      { tools: [{ ...other, function: { name: "other", strict: true } }] },
      { tools: [{ ...other, function: { name: "other", strict: true } }] },
    ],
    [{ stop: ["a", "b", "c", "d", "e"] }, { stop: ["a", "b", "c", "d", "e"] }],
    [{ max_tokens: 4 }, { maxTokens: 4 }],
  ];
  for (const [members, expected] of cases) {
    const test = createTestApp(able);
    const response = await test.post(path, { model: "tiny", messages, ...members });
    assertEquals([response.status, members], [200, members]);
    const request = lastRequest(test) as unknown as Record<string, unknown>;
    for (const [name, value] of Object.entries(expected)) assertEquals(request[name], value);
  }
});

Deno.test("a history of all roles, parts and calls reaches the model whole", async () => {
  const test = createTestApp(able);
  const call = { id: "c1", function: { name: "weather", arguments: '{"city":"Rome"}' } };
  const response = await test.post(path, {
    model: "tiny",
    messages: [
      { role: "developer", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "a" }, { type: "text", text: "b" }] },
      { role: "assistant", content: null, reasoning_content: "hm", tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "22C" }] },
      { role: "assistant", content: "Warm.", reasoning: "so" },
      { role: "assistant", refusal: "No." },
      { role: "function", name: "old", content: "1" },
      { role: "assistant", tool_calls: [{ function: { name: "weather", arguments: "" } }] },
    ],
  });
  assertEquals(response.status, 200);
  const turns = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "a\nb" },
    {
      role: "assistant",
      content: "",
      thinking: "hm",
      toolCalls: [{ id: "c1", function: { name: "weather", arguments: { city: "Rome" } } }],
    },
    { role: "tool", content: "22C", toolCallId: "c1", toolName: "weather" },
    { role: "assistant", content: "Warm.", thinking: "so" },
    { role: "assistant", content: "No." },
    { role: "tool", content: "1", toolName: "old" },
    {
      role: "assistant",
      content: "",
      toolCalls: [{ function: { name: "weather", arguments: {} } }],
    },
  ];
  const expected = turns.map((turn, index) => ({ ...turn, index }));
  assertEquals<unknown>(lastRequest(test).messages, expected);
});
