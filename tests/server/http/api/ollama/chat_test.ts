// POST /api/chat and /api/generate: framing, records, what reaches the model.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ModelClosedError } from "../../../../../engine/errors.ts";
import { failsAfter, fakeUsage, says, saysForever } from "../../../fake_model.ts";
import { createTestApp, readLines } from "../../../test_app.ts";
import { until } from "../../../../until.ts";

const hello = { model: "tiny", messages: [{ role: "user", content: "Hi" }] };

Deno.test("POST /api/chat streams one record per piece of text and a final one", async () => {
  const { post } = createTestApp({ script: says("Hel", "", "lo") });
  const response = await post("/api/chat", hello);
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "application/x-ndjson");
  const [first, second, final, ...rest] = await readLines(response);
  assertEquals(rest, []);
  assertEquals(Object.keys(first!), ["model", "created_at", "message", "done"]);
  assertEquals(first!.message, { role: "assistant", content: "Hel" });
  assertEquals(second!.message, { role: "assistant", content: "lo" });
  assertEquals([first!.model, first!.done], ["tiny", false]);
  assert(!Number.isNaN(Date.parse(first!.created_at as string)));

  const { created_at: _, total_duration: total, load_duration: load, ...fixed } = final!;
  assertEquals(fixed, {
    model: "tiny",
    message: { role: "assistant", content: "" },
    done: true,
    done_reason: "stop",
    prompt_eval_count: fakeUsage.promptTokens,
    prompt_cached_count: fakeUsage.cachedTokens,
    prompt_eval_duration: 7_000_000,
    eval_count: 3,
    eval_duration: 20_000_000,
  });
  assert(Number.isInteger(total) && (total as number) > 0);
  assert(Number.isInteger(load) && (load as number) > 0);
});

Deno.test("POST /api/chat without streaming puts the whole text into the final record", async () => {
  const { post } = createTestApp();
  const response = await post("/api/chat", {
    ...hello,
    model: "tiny:latest",
    stream: false,
  });
  assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
  const record = await response.json();
  assertEquals(record.message, { role: "assistant", content: "Hello" });
  assertEquals([record.model, record.done, record.done_reason], ["tiny:latest", true, "stop"]);
  assertEquals(record.eval_count, 3);
});

Deno.test("POST /api/generate answers a template model through chat, with system and options", async () => {
  const { post, loaded, loads } = createTestApp();
  const response = await post("/api/generate", {
    model: "tiny",
    prompt: "Why?",
    system: "Be brief.",
    stream: false,
    think: false,
    truncate: false,
    options: {
      temperature: 0,
      top_k: -1,
      top_p: 0.5,
      min_p: 0.1,
      seed: 7,
      num_predict: 12,
      stop: ["\n"],
      num_ctx: 2048,
      repeat_penalty: 1.1,
      repeat_last_n: -1,
      presence_penalty: 0.2,
      frequency_penalty: 0.3,
    },
  });
  assertEquals((await response.json()).response, "Hello");
  const { kind, request } = loaded[0]!.requests[0]!;
  const { signal, answerNow, ...plain } = request;
  assert(signal instanceof AbortSignal && answerNow instanceof AbortSignal);
  assertEquals(kind, "chat");
  assertEquals<unknown>(plain, {
    messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Why?" }],
    temperature: 0,
    topK: 0,
    topP: 0.5,
    minP: 0.1,
    seed: 7,
    maxTokens: 12,
    stop: ["\n"],
    contextLength: 2048,
    repeatPenalty: 1.1,
    repeatLastN: -1,
    presencePenalty: 0.2,
    frequencyPenalty: 0.3,
    truncate: false,
    think: false,
    context: [],
  });
  assertEquals(loads[0]!.options.contextLength, 2048);
});

Deno.test("POST /api/generate continues the prompt as it stands without a template, and with raw", async () => {
  for (const [model, raw] of [["story", false], ["tiny", true]] as const) {
    const { post, loaded } = createTestApp();
    const response = await post("/api/generate", { model, prompt: "Once", raw });
    const records = await readLines(response);
    assertEquals(records.map((record) => record.response), ["Hel", "lo", ""]);
    const { kind, request } = loaded[0]!.requests[0]!;
    assertEquals(kind, "generate");
    assertEquals("prompt" in request && request.prompt, "Once");
  }
});

Deno.test("a model without a template chats: its messages reach the engine as they are", async () => {
  const { post, loaded } = createTestApp();
  await readLines(
    await post("/api/chat", { model: "story", messages: [{ role: "user", content: "Once" }] }),
  );
  await readLines(
    await post("/api/generate", { model: "story", prompt: "Once", system: "Be brief." }),
  );
  assertEquals(loaded[0]!.requests.map(({ kind }) => kind), ["chat", "chat"]);
});

Deno.test("POST /api/generate with raw and an empty prompt generates, without raw it loads", async () => {
  const { post, loaded } = createTestApp();
  const loading = await (await post("/api/generate", { model: "story", prompt: "" })).json();
  assertEquals([loading.response, loading.done, loading.done_reason], ["", true, "load"]);
  assertEquals(loaded[0]!.requests.length, 0);
  const records = await readLines(
    await post("/api/generate", { model: "story", prompt: "", raw: true }),
  );
  assertEquals(records.length, 3);
  assertEquals(loaded[0]!.requests[0]!.kind, "generate");
});

Deno.test("POST /api/chat without messages loads; with keep_alive 0 it unloads", async () => {
  const { post, manager, loaded } = createTestApp();
  const load = await post("/api/chat", { model: "tiny", messages: [] });
  assertEquals(load.headers.get("content-type"), "application/json; charset=utf-8");
  const record = await load.json();
  assertEquals(record.message, { role: "assistant", content: "" });
  assertEquals([record.done, record.done_reason], [true, "load"]);
  assertEquals(manager.running().length, 1);
  const unload = await (await post("/api/chat", { model: "tiny", keep_alive: 0 })).json();
  assertEquals(unload.done_reason, "unload");
  assertEquals([manager.running().length, loaded[0]!.closed], [0, true]);
});

Deno.test("_debug_render_only gives the prompt text and runs nothing", async () => {
  const { post, loaded } = createTestApp();
  const chat = await (await post("/api/chat", { ...hello, _debug_render_only: true })).json();
  assertEquals(chat._debug_info, { rendered_template: "<user>Hi" });
  const raw = { model: "tiny", prompt: "Once", raw: true, _debug_render_only: true };
  const generate = await (await post("/api/generate", raw)).json();
  assertEquals(generate._debug_info.rendered_template, "Once");
  assertEquals(loaded[0]!.requests, []);
});

Deno.test("a history with tool calls reaches the model whole", async () => {
  const { post, loaded } = createTestApp();
  const call = { id: "call_1", function: { name: "weather", arguments: { city: "Paris" } } };
  const response = await post("/api/chat", {
    model: "tiny",
    stream: false,
    messages: [
      { role: "User", content: "Weather?" },
      { role: "assistant", content: null, thinking: "hm", tool_calls: [call] },
      { role: "tool", content: "22C", tool_name: "weather", tool_call_id: "call_1" },
    ],
  });
  assertEquals(response.status, 200);
  const { request } = loaded[0]!.requests[0]!;
  assertEquals<unknown>("messages" in request && request.messages, [
    { role: "user", content: "Weather?", index: 0 },
    { role: "assistant", content: "", index: 1, thinking: "hm", toolCalls: [call] },
    { role: "tool", content: "22C", index: 2, toolName: "weather", toolCallId: "call_1" },
  ]);
});

Deno.test("an error after the first token is the stream's last line, and the model is dropped if it died", async () => {
  const died = new ModelClosedError("the GPU is gone");
  const { post, manager, loaded } = createTestApp({ script: failsAfter(["Hel"], died) });
  const response = await post("/api/chat", hello);
  assertEquals(response.status, 200);
  const [first, second, ...rest] = await readLines(response);
  assertEquals(first!.message, { role: "assistant", content: "Hel" });
  assertEquals([second, rest], [{ error: "the GPU is gone" }, []]);
  assertEquals([manager.running().length, loaded[0]!.closed], [0, true]);
  await post("/api/generate", { model: "tiny", prompt: "" });
  assertEquals(loaded.length, 2);
});

Deno.test("a client that cancels the stream ends the generation and gives the model back", async () => {
  let ended = false;
  const { post, manager, lines } = createTestApp({ script: saysForever(() => ended = true) });
  const response = await post("/api/chat", { ...hello, keep_alive: 0 });
  const reader = response.body!.getReader();
  await reader.read();
  assert(!ended);
  await reader.cancel();
  await until(() => ended);
  await until(() => manager.running().length === 0);
  assert(lines.some((line) => line.includes("canceled")), lines.join("\n"));
});

Deno.test("a client that goes away before the answer ends the generation with 499", async () => {
  let ended = false;
  const { app, manager } = createTestApp({ script: saysForever(() => ended = true) });
  const abort = new AbortController();
  const body = JSON.stringify({ ...hello, stream: false, keep_alive: 0 });
  const answer = app.request("/api/chat", { method: "POST", body, signal: abort.signal });
  await until(() => manager.running().length === 1);
  abort.abort();
  const response = await answer;
  assertEquals([response.status, ended], [499, true]);
  await until(() => manager.running().length === 0);
});

Deno.test("members of other servers' books are accepted without a word", async () => {
  const { post, lines } = createTestApp();
  const body = { model: "tiny", messages: hello.messages, max_tokens: 8, metadata: { a: "b" } };
  await (await post("/v1/chat/completions", { ...body, user: "u", store: true })).json();
  await (await post("/v1/messages", { ...body, service_tier: "auto" })).json();
  assertEquals(lines.map((line) => line.split(" - ")[0]), [
    "POST /v1/chat/completions 200",
    "POST /v1/messages 200",
  ]);
});

Deno.test("the access log has one line per request, with tokens and rates", async () => {
  const { post, app, lines } = createTestApp();
  await readLines(await post("/api/chat", { ...hello, options: { mirostat: 0, seed: null } }));
  await until(() => lines.length === 1);
  assertStringIncludes(
    lines[0]!,
    "POST /api/chat 200 - tiny - in 4 + 7 - prefill 1000.0 tok/s - out 3 - decode 100.0 tok/s - ",
  );
  await app.request("/api/version");
  assertStringIncludes(lines[1]!, "GET /api/version 200 - ");
});
