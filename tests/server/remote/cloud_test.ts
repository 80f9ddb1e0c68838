// Remote models in the application: names of the cloud, models created with a host, lists, errors.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  createModel,
  inspectModel,
  ModelManager,
  ModelStore,
  UnsupportedModelError,
} from "../../../engine/mod.ts";
import { createApp } from "../../../server/http/app.ts";
import { cloudModelOf, RemoteModels, type RemoteOptions } from "../../../server/remote/mod.ts";
import { checkAnswers } from "../http/api/check_answers.ts";
import { until } from "../../until.ts";
import { delta, endless, serveOllama, serveOpenAi, type Upstream } from "./upstream.ts";

const messages = [{ role: "user", content: "Hi" }];
const done = { done: true, done_reason: "stop", prompt_eval_count: 5, eval_count: 3 };

/** An application over an empty store, with remote models and no others. */
async function createRemoteApp(options: RemoteOptions) {
  const folder = await Deno.makeTempDir();
  const remote = new RemoteModels(options);
  const store = new ModelStore({ folder, inspect: inspectModel, remote });
  const manager = new ModelManager({
    store,
    open(source) {
      if (source.kind === "remote") return remote.open(source);
      throw new UnsupportedModelError("Expected a remote model");
    },
  });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const hasCloud = options.cloudHost !== undefined;
  const app = checkAnswers(createApp({ store, manager, log, version: "0", hasCloud }));
  return {
    app,
    store,
    get: async (path: string) => await (await app.request(path)).json(),
    post: async (path: string, body: unknown) =>
      await app.request(path, { method: "POST", body: JSON.stringify(body) }),
    async [Symbol.asyncDispose]() {
      await manager.closeAll();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

Deno.test("cloudModelOf() takes the mark off a name, and off no other", () => {
  const cases: [string, string | undefined][] = [
    ["kimi-k2:cloud", "kimi-k2"],
    ["gpt-oss:120b-cloud", "gpt-oss:120b"],
    ["Qwen/Qwen3-8B:cloud", "Qwen/Qwen3-8B"],
    ["a/b:free-tier-cloud", "a/b:free-tier"],
    ["my-cloud", undefined],
    ["cloud", undefined],
    ["cloud:latest", undefined],
    ["x:cloudy", undefined],
    ["x:-cloud", undefined],
    [":cloud", undefined],
  ];
  for (const [name, model] of cases) assertEquals([name, cloudModelOf(name)], [name, model]);
});

Deno.test("without QUERN_CLOUD_HOST cloud names get 403 and how to set it, in each dialect", async () => {
  await using world = await createRemoteApp({});
  const asked: Record<string, object> = {
    "/api/chat": { messages },
    "/api/generate": { prompt: "x" },
    "/api/embed": { input: "x" },
    "/api/show": {},
    "/v1/messages": { messages, max_tokens: 5 },
    "/v1/chat/completions": { messages },
    "/v1/responses": { input: "x" },
    "/v1/embeddings": { input: "x" },
  };
  for (const [path, members] of Object.entries(asked)) {
    const response = await world.post(path, { model: "kimi-k2:cloud", ...members });
    const { error } = await response.json();
    assertEquals([path, response.status], [path, 403]);
    assertStringIncludes(error.message ?? error, "QUERN_CLOUD_HOST");
  }
  assertEquals((await world.post("/api/pull", { model: "kimi-k2:cloud" })).status, 403);
  assertEquals((await world.post("/api/chat", { model: "other", messages })).status, 404);
  assertEquals(await world.get("/api/status"), { cloud: { disabled: true, source: "config" } });
  assertEquals(await world.get("/api/tags"), { models: [] });
});

/** The text of an answer in each dialect. */
const DIALECTS: [path: string, ask: object, text: (answer: never) => unknown][] = [
  ["/api/chat", { messages }, (answer: { message: unknown }) => answer.message],
  ["/api/generate", { prompt: "Hi" }, ({ response }: { response: string }) => response],
  [
    "/v1/chat/completions",
    { messages },
    ({ choices: [choice] }: { choices: [{ message: { content: string } }] }) =>
      choice.message.content,
  ],
  [
    "/v1/messages",
    { messages, max_tokens: 9 },
    (
      { content: [block], usage }: { content: [{ text: string }]; usage: { input_tokens: number } },
    ) => [block.text, usage.input_tokens],
  ],
];

for (
  const [name, serve] of [
    [
      "Ollama",
      () => {
        const text = { message: { content: "Hello" }, response: "Hello" };
        return serveOllama([{ ...text, done: false }, { message: { content: "" }, ...done }]);
      },
    ],
    [
      "OpenAI",
      () =>
        serveOpenAi([
          delta({ content: "Hello" }, "stop"),
          { choices: [], usage: { prompt_tokens: 5, completion_tokens: 3 } },
        ]),
    ],
  ] as [string, () => Upstream][]
) {
  Deno.test(`a cloud model of a server of ${name} answers in every dialect`, async () => {
    await using upstream = serve();
    await using world = await createRemoteApp({ cloudHost: upstream.url });
    const expected = [{ role: "assistant", content: "Hello" }, "Hello", "Hello", ["Hello", 5]];
    for (const [index, [path, ask, text]] of DIALECTS.entries()) {
      const body = { model: "far/model:cloud", stream: false, ...ask };
      const answer = await (await world.post(path, body)).json();
      assertEquals([path, text(answer as never)], [path, expected[index]]);
    }
    assertEquals(await world.get("/api/ps"), { models: [] });
    const pulled = await world.post("/api/pull", { model: "far/model:cloud", stream: false });
    assertEquals(await pulled.json(), { status: "success" });
    for (const [keepAlive, reason] of [[-1, "load"], [0, "unload"]]) {
      const body = { model: "far/model:cloud", keep_alive: keepAlive };
      const answer = await (await world.post("/api/generate", body)).json();
      assertEquals([answer.done, answer.done_reason], [true, reason]);
    }
  });
}

Deno.test("cloud models are listed and shown with what their server says", async () => {
  const details = { family: "llama", parameter_size: "8B", quantization_level: "Q4_0" };
  const facts = { details, capabilities: ["completion", "tools", "thinking"] };
  const modified_at = "2026-01-02T03:04:05.000Z";
  await using upstream = serveOllama([], {
    "/api/tags": () =>
      Response.json({
        models: [{ name: "big:latest", modified_at, ...facts }, {
          name: "big:70b",
          modified_at,
          ...facts,
        }],
      }),
    "/api/show": () => Response.json({ ...facts, model_info: { "llama.context_length": 999 } }),
  });
  await using world = await createRemoteApp({ cloudHost: upstream.url });
  const { models } = await world.get("/api/tags");
  assertEquals(
    models.map((
      { name, size, modified_at, remote_host: host, remote_model: model }: never,
    ) => [name, size, modified_at, host, model]),
    [["big:cloud", 0, modified_at, upstream.url, "big"], [
      "big:70b-cloud",
      0,
      modified_at,
      upstream.url,
      "big:70b",
    ]],
  );
  assertEquals(models[0].capabilities, facts.capabilities);
  await world.get("/api/tags");
  assertEquals(upstream.of("/api/tags").length, 1);
  const shown = await (await world.post("/api/show", { model: "big:cloud" })).json();
  assertEquals([shown.remote_host, shown.remote_model], [upstream.url, "big"]);
  assertEquals([shown.details.family, shown.details.context_length], ["llama", 999]);
  assertEquals(shown.capabilities, facts.capabilities);
  assertEquals(await world.get("/api/status"), { cloud: { disabled: false, source: "none" } });
});

Deno.test("a cloud server that does not answer breaks no list and holds none up for long", async () => {
  const { promise: never, resolve } = Promise.withResolvers<Response>();
  await using upstream = serveOllama([], { "/api/tags": () => never });
  await using world = await createRemoteApp({ cloudHost: upstream.url });
  const started = performance.now();
  assertEquals(await world.get("/api/tags"), { models: [] });
  // It is waited for a second, and elsewhere ten.
  assert(performance.now() - started < 9000);
  assertEquals(await world.get("/v1/models"), { object: "list", data: [] });
  assertEquals(upstream.of("/api/tags").length, 1);
  resolve(new Response());
});

Deno.test("models created with a host, and copies of cloud models, are forwarded too", async () => {
  await using other = serveOllama([{ message: { content: "Far" }, ...done }], {
    "/api/show": () => Response.json({ capabilities: ["completion", "thinking"] }),
  });
  await using cloud = serveOpenAi([delta({ content: "Cloud" }, "stop")]);
  await using world = await createRemoteApp({
    cloudHost: cloud.url,
    cloudKey: "secret",
    remotes: ["127.0.0.1"],
  });
  const request = {
    model: "mine",
    from: "gpt-oss:120b",
    remoteHost: other.url,
    system: "Be brief.",
  };
  const { signal } = new AbortController();
  await Array.fromAsync(createModel(world.store, request, { signal }));
  const copy = { source: "far/model:cloud", destination: "claude-3-5-sonnet" };
  assertEquals((await world.post("/api/copy", copy)).status, 200);

  const ask = async (model: string, more = {}) =>
    await (await world.post("/api/chat", { model, messages, stream: false, ...more })).json();
  assertEquals((await ask("mine", { think: true })).message.content, "Far");
  const { body, authorization } = other.of("/api/chat")[0]!;
  assertEquals([body.model, authorization], ["gpt-oss:120b", null]);
  assertEquals(body.messages, [{ role: "system", content: "Be brief." }, ...messages]);
  assertEquals((await ask("claude-3-5-sonnet")).message.content, "Cloud");
  assertEquals(cloud.of("/v1/chat/completions")[0]!.authorization, "Bearer secret");
  const { models } = await world.get("/api/tags");
  assertEquals(
    models.map(({ name }: { name: string }) => name).toSorted(),
    ["claude-3-5-sonnet:latest", "far/model:cloud", "mine:latest"],
  );
});

Deno.test("a server's refusal reaches the client with its status and Retry-After", async () => {
  const refuse = () =>
    Response.json({ error: "slow down" }, { status: 429, headers: { "retry-after": "9" } });
  await using upstream = serveOllama([], { "/api/chat": refuse, "/api/embed": refuse });
  await using world = await createRemoteApp({ cloudHost: upstream.url });
  const chat = { model: "x:cloud", messages, max_tokens: 5 };
  for (const path of ["/api/chat", "/v1/messages", "/v1/chat/completions", "/api/embed"]) {
    const body = path === "/api/embed" ? { model: "x:cloud", input: "a" } : chat;
    const response = await world.post(path, body);
    const { error } = await response.json();
    assertEquals([response.status, response.headers.get("retry-after")], [429, "9"]);
    assertStringIncludes(error.message ?? error, "slow down");
  }
});

Deno.test("a client that hangs up ends the request at the other server", async () => {
  const ended = Promise.withResolvers<void>();
  const piece = `${JSON.stringify({ message: { content: "x" }, done: false })}\n`;
  await using upstream = serveOllama([], { "/api/chat": () => endless(piece, ended.resolve) });
  await using world = await createRemoteApp({ cloudHost: upstream.url });
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => world.app.fetch(request),
  );
  const abort = new AbortController();
  const response = await fetch(`http://127.0.0.1:${server.addr.port}/api/chat`, {
    method: "POST",
    body: JSON.stringify({ model: "x:cloud", messages }),
    signal: abort.signal,
  });
  const reader = response.body!.getReader();
  await reader.read();
  abort.abort();
  await reader.read().catch(() => {});
  await ended.promise;
  await until(() => upstream.of("/api/chat").length === 1);
});
