// Models of servers with Ollama's API: what is sent there, and what becomes of the answers.

import { assertEquals, assertRejects } from "@std/assert";
import type { ChatEvent, ChatRequest } from "../../../engine/mod.ts";
import { ChatTemplateError, IMAGE_PLACEHOLDER, RequestError } from "../../../engine/mod.ts";
import { eventsOf, openAt, serveOllama } from "./upstream.ts";

const messages: ChatRequest["messages"] = [{ role: "user", content: "Hi" }];
const done = { done: true, done_reason: "stop", prompt_eval_count: 5, eval_count: 3 };
const usage = {
  promptTokens: 5,
  cachedTokens: 0,
  completionTokens: 3,
  promptMilliseconds: 0,
  completionMilliseconds: 0,
};
const weather = { type: "function" as const, function: { name: "weather", parameters: {} } };

Deno.test("a chat brings thinking, text, calls and counts, and leaves out what was not given", async () => {
  await using upstream = serveOllama([
    { message: { role: "assistant", content: "", thinking: "Hm ü" }, done: false },
    { message: { role: "assistant", content: "Grüße " }, done: false },
    {
      message: {
        content: "Rome",
        tool_calls: [{ id: "c1", function: { name: "weather", arguments: { city: "Rome" } } }],
      },
      done: false,
    },
    { message: { role: "assistant", content: "" }, ...done },
  ]);
  await using model = await openAt(upstream);
  assertEquals(await eventsOf(model.chat({ messages, tools: [weather] })), [
    { type: "start", promptTokens: 0, cachedTokens: 0 },
    { type: "thinking", text: "Hm ü" },
    { type: "text", text: "Grüße " },
    { type: "text", text: "Rome" },
    { type: "callStart", id: "c1", name: "weather" },
    { type: "callArguments", id: "c1", json: '{"city":"Rome"}' },
    { type: "callEnd", id: "c1", name: "weather", arguments: { city: "Rome" } },
    { type: "done", reason: "stop", usage },
  ]);
  const { body } = upstream.of("/api/chat")[0]!;
  assertEquals(body, { model: "far/model", stream: true, messages, tools: [weather] });
});

Deno.test("whoever waits at another server hears how many come first there", async () => {
  const text = { message: { content: "" }, response: "" };
  await using upstream = serveOllama([
    { ...text, done: false, queued_ahead: 3 },
    { ...text, done: false, queued_ahead: 1 },
    { ...text, done: false, queued_ahead: "many" },
    { ...text, done: false, queued_ahead: 2 }, // It has begun.
    { ...text, ...done },
  ]);
  await using model = await openAt(upstream);
  const expected: ChatEvent[] = [
    { type: "queued", ahead: 3 },
    { type: "queued", ahead: 1 },
    { type: "start", promptTokens: 0, cachedTokens: 0 },
    { type: "done", reason: "stop", usage },
  ];
  assertEquals(await eventsOf(model.chat({ messages })), expected);
  assertEquals(await eventsOf(model.generate({ prompt: "Hi" })), expected);
});

Deno.test("a chat sends options, format, thinking, calls and their results", async () => {
  await using upstream = serveOllama([{
    message: { content: "x" },
    ...done,
    done_reason: "length",
  }]);
  await using model = await openAt(upstream);
  const call = { id: "c1", function: { name: "weather", arguments: { city: "Rome" } } };
  const schema = { type: "object" };
  const request: ChatRequest = {
    messages: [
      ...messages,
      { role: "assistant", content: "", thinking: "Hm", toolCalls: [call] },
      { role: "tool", content: "22", toolCallId: "c1" },
    ],
    temperature: 0,
    topK: 3,
    maxTokens: 9,
    gpuLayers: 3,
    prefillChunk: 32,
    stop: ["\n"],
    seed: 4,
    repeatPenalty: 1.1,
    format: { schema: JSON.stringify(schema) },
    think: "high",
    truncate: false,
    logprobs: 2,
  };
  const events = await eventsOf(model.chat(request));
  assertEquals(events.at(-1), { type: "done", reason: "length", usage });
  assertEquals(upstream.of("/api/chat")[0]!.body, {
    model: "far/model",
    stream: true,
    messages: [
      ...messages,
      { role: "assistant", content: "", thinking: "Hm", tool_calls: [call] },
      { role: "tool", content: "22", tool_name: "weather", tool_call_id: "c1" },
    ],
    options: {
      temperature: 0,
      top_k: 3,
      num_gpu: 3,
      num_batch: 32,
      num_predict: 9,
      stop: ["\n"],
      seed: 4,
      repeat_penalty: 1.1,
    },
    format: schema,
    think: "high",
    truncate: false,
    logprobs: true,
    top_logprobs: 2,
  });
});

Deno.test("prompts go to /api/generate: raw, with a suffix, and with a context", async () => {
  const logprobs = [{ token: "x", logprob: -1, top_logprobs: [{ token: "y", logprob: -2 }] }];
  await using upstream = serveOllama([{ response: "x", logprobs, ...done, context: [1, 2] }]);
  await using model = await openAt(upstream);
  const raw = await eventsOf(model.generate({ prompt: "Once", maxTokens: 1, logprobs: 1 }));
  const told = {
    token: "x",
    bytes: [120],
    logprob: -1,
    top: [{ token: "y", bytes: [121], logprob: -2 }],
  };
  assertEquals(raw[1] as unknown, { type: "text", text: "x", tokens: [], logprobs: [told] });
  await eventsOf(model.generate({ prompt: "a", suffix: "b" }));
  const system = { role: "system" as const, content: "Be brief." };
  const [, , last] = await eventsOf(model.chat({ messages: [system, ...messages], context: [7] }));
  assertEquals(last, { type: "done", reason: "stop", usage, context: [1, 2] });
  const shared = { model: "far/model", stream: true };
  assertEquals(upstream.of("/api/generate").map(({ body }) => body), [
    {
      ...shared,
      options: { num_predict: 1 },
      logprobs: true,
      top_logprobs: 1,
      prompt: "Once",
      raw: true,
    },
    { ...shared, prompt: "a", suffix: "b" },
    { ...shared, context: [7], prompt: "Hi", system: "Be brief." },
  ]);
});

Deno.test("what Ollama's API cannot say is refused before anything is asked", async () => {
  await using upstream = serveOllama([]);
  await using model = await openAt(upstream);
  const requests: ChatRequest[] = [
    { messages, toolChoice: "required", tools: [weather] },
    { messages, toolChoice: { name: "weather" }, tools: [weather] },
    { messages, format: { pattern: "a+" } },
    { messages, format: { grammar: "root ::= [a]" } },
    { messages: [...messages, ...messages, ...messages], context: [1] },
  ];
  for (const request of requests) {
    await assertRejects(() => eventsOf(model.chat(request)), RequestError);
  }
  await assertRejects(() => eventsOf(model.generate({ prompt: [1, 2] })), RequestError);
  await assertRejects(() => model.embed([[1, 2]]), RequestError);
  await assertRejects(() => model.countTokens({ messages }), RequestError, "does not count them");
  assertEquals(upstream.of("/api/chat").length, 0);
});

Deno.test("vectors come in order with their count; a missing one is an error", async () => {
  await using upstream = serveOllama([], {
    "/api/embed": () => Response.json({ embeddings: [[1, 0], [0, 1]], prompt_eval_count: 7 }),
  });
  await using model = await openAt(upstream);
  const { embeddings, promptTokens } = await model.embedWithUsage({
    inputs: ["a", "b"],
    dimensions: 2,
    truncate: true,
    gpuLayers: 0,
  });
  assertEquals(embeddings, [Float32Array.of(1, 0), Float32Array.of(0, 1)]);
  assertEquals(promptTokens, 7);
  assertEquals(upstream.of("/api/embed")[0]!.body, {
    model: "far/model",
    input: ["a", "b"],
    truncate: true,
    dimensions: 2,
    options: { num_gpu: 0 },
  });
  await assertRejects(() => model.embed(["a"]), Error, "2 vectors for 1");
});

Deno.test("facts come from /api/show, prompts from the server's own rendering", async () => {
  await using upstream = serveOllama([], {
    "/api/show": () =>
      Response.json({
        details: { family: "qwen3", parameter_size: "8.2B", quantization_level: "Q4_K_M" },
        capabilities: ["completion", "thinking"],
        model_info: { "qwen3.context_length": 40960, "qwen3.embedding_length": 4096 },
      }),
    "/api/chat": () => Response.json({ _debug_info: { rendered_template: "<user>Hi" } }),
  });
  await using model = await openAt(upstream);
  const { info } = model;
  assertEquals(
    [info.architecture, info.parameterCount, info.quantization, info.thinks, info.callsTools],
    ["qwen3", 8.2e9, "Q4_K_M", true, false],
  );
  assertEquals([model.contextLength, info.embeddingLength], [40960, 4096]);
  assertEquals(model.memory, { weights: 0, keyValueCache: 0, scratch: 0 });
  assertEquals(await model.renderChat({ messages }), "<user>Hi");
  await using silent = serveOllama([], { "/api/chat": () => Response.json({}) });
  await using other = await openAt(silent);
  await assertRejects(() => other.renderChat({ messages }), ChatTemplateError);
});

Deno.test("images go along as base64, with Ollama's marks where they stand between texts", async () => {
  await using upstream = serveOllama([{ message: { content: "x" }, ...done }]);
  await using model = await openAt(upstream);
  const [cat, dog] = [Uint8Array.of(1, 2, 3), "BAUG"];
  await eventsOf(model.chat({
    messages: [
      { role: "user", content: `${IMAGE_PLACEHOLDER}Which?`, images: [cat] },
      { role: "user", content: `One${IMAGE_PLACEHOLDER}two`, images: [cat, dog] },
    ],
  }));
  assertEquals(upstream.of("/api/chat")[0]!.body.messages, [
    { role: "user", content: "Which?", images: ["AQID"] },
    { role: "user", content: "One[img]two", images: ["AQID", "BAUG"] },
  ]);
  await eventsOf(model.generate({ prompt: "Which?", images: [dog] }));
  const { prompt, images } = upstream.of("/api/generate")[0]!.body;
  assertEquals([prompt, images], ["Which?", ["BAUG"]]);
});
