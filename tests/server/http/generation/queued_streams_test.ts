// Streams of requests that wait: what each dialect says meanwhile, that all that is wrong with a request
// is a status as ever, and that unmodified clients take no notice.

import Anthropic from "@anthropic-ai/sdk";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOllama } from "@langchain/ollama";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { streamText } from "ai";
import { createOllama as createReliable } from "ai-sdk-ollama";
import { Ollama } from "ollama";
import { createOllama as createPlain } from "ollama-ai-provider-v2";
import OpenAI from "openai";
import { ContextLengthError, ModelClosedError } from "../../../../engine/errors.ts";
import type { ChatEvent } from "../../../../engine/types/mod.ts";
import { failsAfter, fakeUsage, says, type Script } from "../../fake_model.ts";
import { serve } from "../connection/raw_client.ts";
import { createTestApp, readLines } from "../../test_app.ts";
import { until } from "../../../until.ts";
import { handlerWay } from "../../tiny_app.ts";

const messages = [{ role: "user", content: "Hi" }] as const;
const answer: ChatEvent[] = [
  { type: "start", promptTokens: 11, cachedTokens: 4 },
  { type: "text", text: "Hel" },
  { type: "text", text: "lo" },
  { type: "done", reason: "stop", usage: fakeUsage },
];

/** Longer than any test takes: no sign of life comes before what fails has failed. */
const NEVER = 3_600_000;

/** What a server answers, told of each record that is sent: how many there were before. */
function counted(response: Response, onRecord: (sent: number) => void): Response {
  let sent = 0;
  const records = new TransformStream({
    transform(record, controller) {
      controller.enqueue(record);
      onRecord(++sent);
    },
  });
  return new Response(response.body!.pipeThrough(records), response);
}

/** A script that waits behind so many, until the gate opens, and then goes on. */
function waits(gate: () => Promise<void>, rest: ChatEvent[] | Error = answer): Script {
  return async function* () {
    yield { type: "queued", ahead: 2 };
    yield { type: "queued", ahead: 1 };
    await gate();
    if (rest instanceof Error) throw rest;
    yield* rest;
  };
}

/** Paths, bodies, and what the two first chunks and a sign of life look like. */
const dialects: [path: string, body: object, queued: (ahead: number) => RegExp, alive: RegExp][] = [
  ["/api/chat", { messages }, (ahead) => lineOf(/"message":{[^}]*"content":""}/, ahead), lineOf()],
  ["/api/generate", { prompt: "Hi" }, (ahead) => lineOf(/"response":""/, ahead), lineOf()],
  [
    "/v1/messages",
    { messages, max_tokens: 9, stream: true },
    (ahead) => RegExp(`^: queued, ${ahead} ahead\nevent: ping\ndata: {"type":"ping"}\n\n$`),
    /^: queued, 1 ahead\nevent: ping\n/,
  ],
  ...[["chat/completions", { messages }], ["completions", { prompt: "Hi" }], [
    "responses",
    { input: "Hi" },
  ]].map(([path, body]): typeof dialects[0] => [
    `/v1/${path}`,
    { ...body as object, stream: true },
    (ahead) => RegExp(`^: queued, ${ahead} ahead\n\n$`),
    /^: queued, 1 ahead\n\n$/,
  ]),
];

function lineOf(part = /"/, ahead = 1): RegExp {
  return RegExp(`^{.*${part.source}.*"done":false,"queued_ahead":${ahead}}\n$`);
}

for (const [path, body, queued, alive] of dialects) {
  Deno.test(`POST ${path}: a stream that waits long begins, says so, and then answers`, async () => {
    // It waits until three records have been sent.
    const told = Promise.withResolvers<void>();
    const script = waits(() => told.promise);
    const { app } = createTestApp({ script }, { heartbeatMilliseconds: 20 });
    await using server = serve(async (request) =>
      counted(await app.fetch(request), (sent) => {
        if (sent === 3) told.resolve();
      })
    );
    using client = await server.connect();
    const text = JSON.stringify({ model: "tiny", ...body });
    await client.send(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    );
    const { status, chunks } = await client.answer();
    assertEquals(status, 200);
    assertMatch(chunks[0]!, queued(2));
    assertMatch(chunks[1]!, queued(1));
    assertMatch(chunks[2]!, alive);
    const said = chunks.join("");
    assert(said.includes("Hel") && said.lastIndexOf("queued") < said.indexOf("Hel"));
  });

  Deno.test(`POST ${path}: what fails before the stream begins is a status, later it is in the stream`, async () => {
    const send = async (script: Script, heartbeatMilliseconds = NEVER, more = {}) => {
      const { post } = createTestApp({ script }, { heartbeatMilliseconds });
      return await post(path, { model: "tiny", ...body, ...more });
    };
    const refused = await send(failsAfter([], new ContextLengthError(9000, 4096)));
    assertEquals(refused.status, 400);
    await refused.body?.cancel();
    const closed = new ModelClosedError("the model was closed");
    const lost = await send(waits(() => Promise.resolve(), closed));
    assertEquals(lost.status, 503);
    await lost.body?.cancel();
    const begun = Promise.withResolvers<void>();
    const broken = await send(waits(() => begun.promise, closed), 5);
    assertEquals(broken.status, 200);
    begun.resolve();
    assertStringIncludes(await broken.text(), "the model was closed");
    // Without a stream nothing is sent before the status is certain.
    const whole = await send(waits(() => Promise.resolve(), closed), NEVER, { stream: false });
    assertEquals(whole.status, 503);
    await whole.body?.cancel();
  });
}

Deno.test("a request counts as waiting until its turn comes", async () => {
  const gate = Promise.withResolvers<void>();
  const test = createTestApp({ script: waits(() => gate.promise) }, {
    maxQueue: 1,
    heartbeatMilliseconds: 100,
  });
  const first = await test.post("/api/chat", { model: "tiny", messages });
  assertEquals(first.status, 200);
  assertEquals((await test.post("/api/chat", { model: "tiny", messages })).status, 503);
  test.loaded[0]!.script = says("Hi");
  gate.resolve();
  const records = await readLines(first);
  const told = records.map(({ queued_ahead: ahead }) => ahead);
  assertEquals([...new Set(told)], [2, 1, undefined]);
  assertEquals(
    (await readLines(await test.post("/api/chat", { model: "tiny", messages }))).length,
    2,
  );
});

Deno.test("a client that leaves while it is queued ends its request", async () => {
  let ended = false;
  const script: Script = async function* ({ signal }) {
    yield { type: "queued", ahead: 1 };
    await new Promise((resolve) => signal!.addEventListener("abort", resolve));
    ended = true;
  };
  const { post, manager } = createTestApp({ script }, { heartbeatMilliseconds: 100 });
  const response = await post("/api/chat", { model: "tiny", messages, keep_alive: 0 });
  await response.body!.cancel();
  await until(() => ended && manager.running().length === 0);
});

/** What a client says of a stream that waited, with signs of life before and in it. */
const clients: Record<string, (url: string, fetch: typeof globalThis.fetch) => Promise<string>> = {
  async ollama(host, fetch) {
    let text = "";
    const stream = await new Ollama({ host, fetch }).chat({
      model: "tiny",
      messages: [...messages],
      stream: true,
    });
    for await (const { message } of stream) text += message.content;
    return text;
  },
  async "ollama, generate"(host, fetch) {
    let text = "";
    const options = { model: "tiny", prompt: "Hi", stream: true } as const;
    for await (const part of await new Ollama({ host, fetch }).generate(options)) {
      text += part.response;
    }
    return text;
  },
  async LangChain(baseUrl, fetch) {
    let text = "";
    const chat = new ChatOllama({ model: "tiny", baseUrl, fetch, maxRetries: 0 });
    for await (const { content } of await chat.stream([new HumanMessage("Hi")])) text += content;
    return text;
  },
  async "ollama-ai-provider-v2"(url, fetch) {
    const model = createPlain({ baseURL: `${url}/api`, fetch })("tiny");
    return await streamText({ model, prompt: "Hi", maxRetries: 0 }).text;
  },
  async "ai-sdk-ollama"(baseURL, fetch) {
    const model = createReliable({ baseURL, fetch })("tiny");
    return await streamText({ model, prompt: "Hi", maxRetries: 0 }).text;
  },
  async openai(url, fetch) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "x", fetch, maxRetries: 0 });
    let text = "";
    const stream = await client.chat.completions.create({
      model: "tiny",
      messages: [...messages],
      stream: true,
    });
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    return text;
  },
  async "openai, responses"(url, fetch) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "x", fetch, maxRetries: 0 });
    const stream = client.responses.stream({ model: "tiny", input: "Hi" });
    return (await stream.finalResponse()).output_text;
  },
  async Anthropic(baseURL, fetch) {
    const client = new Anthropic({ baseURL, apiKey: "x", fetch, maxRetries: 0 });
    const options = { model: "tiny", messages: [...messages], max_tokens: 9 };
    return await client.messages.stream(options).finalText();
  },
};

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

for (const [name, ask] of Object.entries(clients)) {
  Deno.test(`${name}: an answer that waited, and was slow, is what it would be without`, async () => {
    // Before each event three records go out, that of the event before and signs of life.
    let sent = 0;
    let waiting: { sent: number; go: () => void } | undefined;
    const script: Script = async function* () {
      yield { type: "queued", ahead: 1 };
      for (const event of answer) {
        await new Promise<void>((go) => waiting = { sent: sent + 3, go });
        yield event;
      }
    };
    const { url, fetch } = handlerWay(createTestApp({ script }, { heartbeatMilliseconds: 5 }));
    const slow: typeof fetch = async (input, init) =>
      counted(await fetch(input, init), (count) => {
        sent = count;
        if (waiting && sent >= waiting.sent) waiting.go();
      });
    assertEquals(await ask(url, slow), "Hello");
  });
}
