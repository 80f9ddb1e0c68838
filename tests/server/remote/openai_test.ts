// Models of servers with OpenAI's API: what is sent there, and what becomes of the answers.

import { assertEquals, assertRejects } from "@std/assert";
import type { ChatMessage, ChatRequest } from "../../../engine/mod.ts";
import { IMAGE_PLACEHOLDER, RequestError } from "../../../engine/mod.ts";
import { delta, eventsOf, openAt, serveOpenAi } from "./upstream.ts";

const messages: ChatRequest["messages"] = [{ role: "user", content: "Hi" }];
const usage = {
  promptTokens: 5,
  cachedTokens: 2,
  completionTokens: 3,
  promptMilliseconds: 0,
  completionMilliseconds: 0,
};
const counts = {
  choices: [],
  usage: { prompt_tokens: 5, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 2 } },
};
const path = "/v1/chat/completions";
const shared = { model: "far/model", stream: true, stream_options: { include_usage: true } };
const tool = { type: "function" as const, function: { name: "weather", parameters: {} } };

const call = (index: number, id: string | null, name: string | null, json: string) =>
  delta({ tool_calls: [{ index, id, function: { name, arguments: json } }] });

Deno.test("a chat brings thinking, text, calls in pieces, and counts", async () => {
  await using upstream = serveOpenAi([
    delta({ role: "assistant", content: "" }),
    delta({ reasoning_content: "Hm " }),
    delta({ reasoning: "ü" }),
    delta({ content: "Grüße" }),
    call(0, "c1", "weather", ""),
    call(0, null, null, '{"city":'),
    call(0, null, null, '"Rome"}'),
    call(1, "c2", "clock", ""),
    delta({}, "tool_calls"),
    counts,
  ]);
  await using model = await openAt(upstream);
  assertEquals(await eventsOf(model.chat({ messages, tools: [tool] })), [
    { type: "start", promptTokens: 0, cachedTokens: 0 },
    { type: "thinking", text: "Hm " },
    { type: "thinking", text: "ü" },
    { type: "text", text: "Grüße" },
    { type: "callStart", id: "c1", name: "weather" },
    { type: "callArguments", id: "c1", json: '{"city":' },
    { type: "callArguments", id: "c1", json: '"Rome"}' },
    { type: "callEnd", id: "c1", name: "weather", arguments: { city: "Rome" } },
    { type: "callStart", id: "c2", name: "clock" },
    { type: "callArguments", id: "c2", json: "{}" },
    { type: "callEnd", id: "c2", name: "clock", arguments: {} },
    { type: "done", reason: "stop", usage },
  ]);
  assertEquals(upstream.of(path)[0]!.body, { ...shared, messages, tools: [tool] });
  assertEquals([model.contextLength, model.info.thinks], [4096, true]);
});

Deno.test("a call that the other server cuts short has no end", async () => {
  for (const [json, reason] of [['{"city":', "length"], ["", "length"], ['{"ci', "tool_calls"]]) {
    await using upstream = serveOpenAi([call(0, "c1", "weather", json), delta({}, reason), counts]);
    await using model = await openAt(upstream);
    const events = await eventsOf(model.chat({ messages, tools: [tool] }));
    const types = events.map(({ type }) => type);
    assertEquals(types, ["start", "callStart", ...(json ? ["callArguments"] : []), "done"]);
  }
});

Deno.test("a chat sends sampling, limits, tools and the conversation in OpenAI's form", async () => {
  await using upstream = serveOpenAi([delta({ content: "x" }, "length"), counts]);
  await using model = await openAt(upstream);
  const events = await eventsOf(model.chat({
    messages: [
      ...messages,
      {
        role: "assistant",
        content: "",
        thinking: "Hm",
        toolCalls: [{ id: "c1", function: { name: "weather", arguments: { city: "Rome" } } }],
      },
      { role: "tool", content: "22", toolName: "weather" },
    ],
    tools: [tool],
    toolChoice: { name: "weather" },
    parallelToolCalls: false,
    temperature: 0,
    topP: 0.5,
    topK: 3,
    minP: 0.1,
    seed: 4,
    maxTokens: 9,
    stop: ["\n"],
    presencePenalty: 1,
    repeatPenalty: 1.1,
    repeatLastN: 8,
    think: "max",
    logprobs: 2,
  }));
  const notes = ["repeat_last_n: a server with OpenAI's API looks at the whole text"];
  assertEquals(events.at(-1), { type: "done", reason: "length", usage, notes });
  const called = { name: "weather", arguments: '{"city":"Rome"}' };
  assertEquals(upstream.of(path)[0]!.body, {
    ...shared,
    temperature: 0,
    top_p: 0.5,
    top_k: 3,
    min_p: 0.1,
    seed: 4,
    max_tokens: 9,
    stop: ["\n"],
    presence_penalty: 1,
    repetition_penalty: 1.1,
    messages: [
      ...messages,
      {
        role: "assistant",
        content: null,
        reasoning_content: "Hm",
        tool_calls: [{ id: "c1", type: "function", function: called }],
      },
      { role: "tool", content: "22", tool_call_id: "c1" },
    ],
    logprobs: true,
    top_logprobs: 2,
    tools: [tool],
    tool_choice: { type: "function", function: { name: "weather" } },
    parallel_tool_calls: false,
    reasoning_effort: "high",
  });
});

Deno.test("formats and thinking are said in the words of the server's program", async () => {
  const askFor = async (owner: string, request: Partial<ChatRequest>) => {
    await using upstream = serveOpenAi([delta({ content: "x" }, "stop"), counts], {
      "/v1/models": () => Response.json({ data: [{ id: "far/model", owned_by: owner }] }),
    });
    await using model = await openAt(upstream);
    await eventsOf(model.chat({ messages, ...request }));
    const { model: _, stream, stream_options, messages: __, ...rest } = upstream.of(path)[0]!.body;
    assertEquals([stream, stream_options], [true, { include_usage: true }]);
    return rest;
  };
  const schema = { type: "object" };
  const named = { name: "answer", schema, strict: true };
  assertEquals(await askFor("me", { format: "json" }), {
    response_format: { type: "json_object" },
  });
  assertEquals(await askFor("me", { format: { schema } }), {
    response_format: { type: "json_schema", json_schema: named },
  });
  assertEquals(await askFor("vllm", { format: { pattern: "a+" } }), {
    structured_outputs: { regex: "a+" },
  });
  assertEquals(await askFor("vllm", { format: { grammar: "root ::= [a]" } }), {
    structured_outputs: { grammar: "root ::= [a]" },
  });
  assertEquals(await askFor("sglang", { format: { pattern: "a+" } }), { regex: "a+" });
  assertEquals(await askFor("sglang", { format: { grammar: "root ::= [a]" } }), {
    ebnf: "root ::= [a]",
  });
  assertEquals(await askFor("vllm", { think: false }), {
    chat_template_kwargs: { enable_thinking: false, thinking: false },
  });
  const begun: ChatMessage[] = [...messages, { role: "assistant", content: "It is" }];
  const continued = { continue_final_message: true, add_generation_prompt: false };
  for (const owner of ["vllm", "sglang"]) {
    assertEquals(await askFor(owner, { messages: begun }), continued);
    assertEquals(await askFor(owner, { messages: begun, continueFinalMessage: false }), {});
  }
  assertEquals(await askFor("me", { messages: begun }), {});
  await assertRejects(
    () => askFor("me", { format: { pattern: "a" } }),
    RequestError,
    "JSON Schema",
  );
  await assertRejects(() => askFor("me", { context: [1] }), RequestError, "context");
});

Deno.test("completions, their log-probabilities and their stop string", async () => {
  const logprobs = { tokens: ["x"], token_logprobs: [-1], top_logprobs: [{ x: -1, y: -2 }] };
  await using upstream = serveOpenAi([
    { choices: [{ index: 0, text: "x", logprobs, finish_reason: null }] },
    { choices: [{ index: 0, text: "", finish_reason: "stop", stop_reason: "END" }] },
    counts,
  ]);
  await using model = await openAt(upstream);
  const request = { prompt: [1, 2], suffix: "b", logprobs: 2, stop: ["END"] };
  const [, text, done] = await eventsOf(model.generate(request));
  const [x, y] = [{ token: "x", bytes: [120], logprob: -1 }, {
    token: "y",
    bytes: [121],
    logprob: -2,
  }];
  assertEquals(text as unknown, {
    type: "text",
    text: "x",
    tokens: [],
    logprobs: [{ ...x, top: [x, y] }],
  });
  assertEquals(done, { type: "done", reason: "stop", stopString: "END", usage });
  assertEquals(upstream.of("/v1/completions")[0]!.body, { ...shared, ...request });
});

Deno.test("a server that does not stream is understood all the same", async () => {
  await using upstream = serveOpenAi([], {
    [path]: () =>
      Response.json({
        choices: [{ index: 0, message: { content: "whole" }, finish_reason: "stop" }],
        usage: counts.usage,
      }),
  });
  await using model = await openAt(upstream);
  assertEquals((await eventsOf(model.chat({ messages }))).slice(1), [
    { type: "text", text: "whole" },
    { type: "done", reason: "stop", usage },
  ]);
});

Deno.test("vectors come in the order of the inputs; vLLM counts tokens", async () => {
  await using upstream = serveOpenAi([], {
    "/v1/embeddings": () =>
      Response.json({
        data: [{ index: 1, embedding: [0, 1] }, { index: 0, embedding: [1, 0] }],
        usage: { prompt_tokens: 7 },
      }),
    "/tokenize": () => Response.json({ count: 12, tokens: [], max_model_len: 4096 }),
  });
  await using model = await openAt({ url: `${upstream.url}/v1/` });
  const { embeddings, promptTokens } = await model.embedWithUsage({ inputs: ["a", [4, 5]] });
  assertEquals([embeddings, promptTokens], [[Float32Array.of(1, 0), Float32Array.of(0, 1)], 7]);
  assertEquals(await model.countTokens({ messages, tools: [tool] }), 12);
  assertEquals(upstream.of("/tokenize")[0]!.body, { model: "far/model", messages, tools: [tool] });
});

Deno.test("images go along as data URLs where they stand, those without a mark first", async () => {
  await using upstream = serveOpenAi([delta({ content: "x" }, "stop"), counts]);
  await using model = await openAt(upstream);
  const png = "iVBORw0KGgo=";
  const images = [Uint8Array.fromBase64(png), "/9j/", "UklG"];
  const content = `One${IMAGE_PLACEHOLDER}two${IMAGE_PLACEHOLDER}`;
  await eventsOf(model.chat({
    messages: [
      { role: "user", content, images },
      { role: "user", content: `a${IMAGE_PLACEHOLDER}${IMAGE_PLACEHOLDER}b`, images: [png] },
    ],
  }));
  const image = (url: string) => ({ type: "image_url", image_url: { url } });
  const text = (text: string) => ({ type: "text", text });
  assertEquals(
    upstream.of(path)[0]!.body.messages.map(({ content }: { content: unknown }) => content),
    [
      [
        image("data:application/octet-stream;base64,UklG"),
        text("One"),
        image(`data:image/png;base64,${png}`),
        text("two"),
        image("data:image/jpeg;base64,/9j/"),
      ],
      [text("a"), image(`data:image/png;base64,${png}`), text(`${IMAGE_PLACEHOLDER}b`)],
    ],
  );
  await assertRejects(
    () => eventsOf(model.generate({ prompt: "x", images: [png] })),
    RequestError,
    "Cannot forward images with a prompt",
  );
});
