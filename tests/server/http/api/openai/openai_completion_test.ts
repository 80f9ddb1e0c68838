// POST /v1/completions over a model without weights: prompts of all forms, one choice for each.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { ContextLengthError } from "../../../../../engine/errors.ts";
import { failsAfter, fakeUsage, says, saysForever, type Script } from "../../../fake_model.ts";
import { readEvents } from "./openai_scripts.ts";
import { createTestApp } from "../../../test_app.ts";
import { until } from "../../../../until.ts";

const path = "/v1/completions";

/** A script that says what it was asked, then an end. */
const echoes: Script = (request) => {
  const { prompt } = request as { prompt: string | number[] };
  return says(`<${prompt}>`, "!")(request);
};

Deno.test("a completion continues a text as it is, and answers it where a request or the server say so", async () => {
  const test = createTestApp();
  const body = { prompt: "Once", max_tokens: 4, stop: ["."], seed: 1 };
  const { id, created, ...whole } = await (await test.post(path, { ...body, model: "story" }))
    .json();
  assertEquals([/^cmpl-\w+$/.test(id), Number.isInteger(created)], [true, true]);
  assertEquals(whole, {
    object: "text_completion",
    model: "story",
    system_fingerprint: "fp_ollama",
    choices: [{ text: "Hello", finish_reason: "stop", index: 0, logprobs: null }],
    usage: {
      prompt_tokens: 11,
      completion_tokens: 3,
      total_tokens: 14,
      prompt_tokens_details: { cached_tokens: 4 },
    },
  });
  await test.post(path, { ...body, model: "tiny" });
  await test.post(path, { ...body, model: "tiny", raw: false });
  const ollamas = createTestApp({}, { completesChats: true });
  await ollamas.post(path, { ...body, model: "tiny" });
  await ollamas.post(path, { ...body, model: "tiny", raw: true });
  await ollamas.post(path, { ...body, model: "tiny", prompt: [1, 2] });
  const all = [...test.loaded, ...ollamas.loaded].flatMap(({ requests }) => requests);
  const asked = all.map(({ kind, request }) => {
    const { signal: _, answerNow: _answer, ...rest } = request;
    return { kind, request: rest };
  });
  const options = { maxTokens: 4, stop: ["."], seed: 1, temperature: 1, topP: 1 };
  const raw = { kind: "generate", request: { prompt: "Once", ...options } };
  const messages = [{ role: "user", content: "Once" }];
  const chat = { kind: "chat", request: { messages, ...options, truncate: false } };
  const ids = { kind: "generate", request: { prompt: [1, 2], ...options } };
  assertEquals<unknown>(asked, [raw, raw, chat, chat, raw, ids]);
});

Deno.test("a model that thinks is asked not to: completions have no place for it", async () => {
  const test = createTestApp({ info: { thinks: true } });
  await test.post(path, { model: "tiny", prompt: "Once", raw: false });
  assertEquals((test.loaded[0]!.requests[0]!.request as { think?: boolean }).think, false);
});

Deno.test("each prompt of a list has a choice, and the counts are those of all", async () => {
  const cases: [unknown, string[]][] = [
    ["a", ["<a>!"]],
    ["", ["<>!"]],
    [["a", "b"], ["<a>!", "<b>!"]],
    [[1, 2], ["<1,2>!"]],
    [[[1, 2], [3]], ["<1,2>!", "<3>!"]],
    [["a", [3]], ["<a>!", "<3>!"]],
  ];
  for (const [prompt, texts] of cases) {
    const test = createTestApp({ script: echoes });
    const { choices, usage } = await (await test.post(path, { model: "tiny", prompt, raw: true }))
      .json();
    assertEquals(choices.map(({ text }: { text: string }) => text), texts);
    assertEquals(choices.map(({ index }: { index: number }) => index), [...texts.keys()]);
    assertEquals(usage.completion_tokens, fakeUsage.completionTokens * texts.length);
    assertEquals(usage.prompt_tokens, fakeUsage.promptTokens * texts.length);
    assertStringIncludes(test.lines.at(-1)!, `out ${3 * texts.length}`);
    await until(() => test.manager.running().length === 1);
  }
});

Deno.test("echo gives each prompt out before its continuation", async () => {
  const { post } = createTestApp();
  const body = { model: "story", prompt: ["Once ", "Then "], echo: true };
  const { choices } = await (await post(path, body)).json();
  assertEquals(choices.map(({ text }: { text: string }) => text), ["Once Hello", "Then Hello"]);
  const silent = createTestApp({ script: says() });
  const { choices: [choice] } = await (await silent.post(path, { ...body, prompt: "x" })).json();
  assertEquals(choice.text, "x");
});

Deno.test("a stream of completions says which choice each piece is of", async () => {
  const { post } = createTestApp({ script: echoes });
  const stream_options = { include_usage: true };
  const body = { model: "story", prompt: ["a", "b"], stream: true, echo: true, stream_options };
  const events = await readEvents(await post(path, body));
  assertEquals(events.pop()!.data, "[DONE]");
  const { usage, choices } = events.pop()!.data;
  assertEquals([choices, usage.completion_tokens], [[], 6]);
  const ids = new Set(events.map(({ data }) => `${data.id} ${data.object} ${data.created}`));
  assertEquals(ids.size, 1);
  const texts = ["", ""];
  const ends: string[] = [];
  for (const { data } of events) {
    const [{ index, text, finish_reason: reason }] = data.choices;
    texts[index] += text;
    if (reason) ends[index] = reason;
    assertEquals(data.usage, null);
  }
  assertEquals([texts, ends], [["a<a>!", "b<b>!"], ["stop", "stop"]]);
});

Deno.test("a prompt that cannot run fails the request before it begins, and ends the others", async () => {
  let ended = 0;
  const script: Script = (request) =>
    (request as { prompt: string }).prompt === "bad"
      ? failsAfter([], new ContextLengthError(10, 5))(request)
      : saysForever(() => ended++)(request);
  const { post, manager } = createTestApp({ script });
  const body = { model: "story", prompt: ["a", "bad", "b"], stream: true, keep_alive: 0 };
  const response = await post(path, body);
  assertEquals([response.status, (await response.json()).error.code], [
    400,
    "context_length_exceeded",
  ]);
  await until(() => ended === 2 && manager.running().length === 0);
});

Deno.test("a client that cancels a stream of several ends them all", async () => {
  let ended = 0;
  const { post, manager } = createTestApp({ script: saysForever(() => ended++) });
  const body = { model: "story", prompt: ["a", "b", "c"], stream: true, keep_alive: 0 };
  const reader = (await post(path, body)).body!.getReader();
  await reader.read();
  await reader.cancel();
  await until(() => ended === 3 && manager.running().length === 0);
});
