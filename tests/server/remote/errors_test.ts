// What goes wrong with other servers: their refusals, their ends, and ours; and who gets the key.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type ChatModel, ModelClosedError } from "../../../engine/mod.ts";
import { RemoteError, type RemoteOptions } from "../../../server/remote/mod.ts";
import { until } from "../../until.ts";
import {
  type Answer,
  delta,
  endless,
  eventsOf,
  openAt,
  serveOllama,
  serveOpenAi,
  serveUpstream,
  streamOf,
} from "./upstream.ts";

const messages = [{ role: "user" as const, content: "Hi" }];

/** What a chat fails with. */
async function failureOf(model: ChatModel): Promise<RemoteError> {
  return await assertRejects(() => eventsOf(model.chat({ messages })), RemoteError);
}

const REFUSALS: [body: unknown, status: number, sentence: string][] = [
  [{ error: "model 'far/model' not found" }, 404, "model 'far/model' not found"],
  [{ error: { message: "too long", type: "x" } }, 400, "too long"],
  [{ object: "error", message: "busy" }, 429, "busy"],
  [{ detail: [{ msg: "bad field" }] }, 422, "bad field"],
  ["<html>\n  down</html>", 503, "<html> down</html>"],
  ["", 501, "it answered 501 without a word"],
  [{ error: "unauthorized" }, 401, "QUERN_CLOUD_KEY"],
];

for (
  const [name, serve, path] of [
    ["Ollama", serveOllama, "/api/chat"],
    ["OpenAI", serveOpenAi, "/v1/chat/completions"],
  ] as const
) {
  Deno.test(`the refusals of a server of ${name} keep status, sentence and Retry-After`, async () => {
    for (const [body, status, sentence] of REFUSALS) {
      const refuse: Answer = () =>
        new Response(typeof body === "string" ? body : JSON.stringify(body), {
          status,
          headers: { "retry-after": "7" },
        });
      await using upstream = serve([], { [path]: refuse });
      await using model = await openAt(upstream);
      const error = await failureOf(model);
      assertEquals([error.status, error.retryAfter], [status, "7"]);
      assertStringIncludes(error.message, `Cannot use the models of ${upstream.url}: `);
      assertStringIncludes(error.message, sentence);
    }
  });

  Deno.test(`an answer of ${name} that breaks off, fails or is no JSON is an error`, async () => {
    const piece = name === "Ollama"
      ? `${JSON.stringify({ message: { content: "x" }, done: false })}\n`
      : `data: ${JSON.stringify(delta({ content: "x" }))}\n\n`;
    const failure = '{"error":{"message":"out of memory"}}';
    for (
      const [rest, sentence] of [
        ["", "ended before it was whole"],
        [name === "Ollama" ? `${failure}\n` : `data: ${failure}\n\n`, "out of memory"],
        [name === "Ollama" ? "{oops\n" : "data: {oops\n\n", "no JSON: {oops"],
      ]
    ) {
      await using upstream = serve([], { [path]: () => streamOf([piece, rest!]) });
      await using model = await openAt(upstream);
      const types: string[] = [];
      const error = await assertRejects(async () => {
        for await (const event of model.chat({ messages })) types.push(event.type);
      }, RemoteError);
      assertEquals([types, error.status], [["start", "text"], 502]);
      assertStringIncludes(error.message, sentence!);
    }
  });

  Deno.test(`an abort, a reader that leaves and close() end the request at ${name}`, async () => {
    const piece = name === "Ollama"
      ? `${JSON.stringify({ message: { content: "x" }, done: false })}\n`
      : `data: ${JSON.stringify(delta({ content: "x" }))}\n\n`;
    let ended = 0;
    await using upstream = serve([], { [path]: () => endless(piece, () => ended++) });
    const model = await openAt(upstream);

    const abort = new AbortController();
    const types: string[] = [];
    for await (const { type } of model.chat({ messages, signal: abort.signal })) {
      types.push(type);
      if (types.length === 3) abort.abort();
    }
    assertEquals(types.slice(0, 3), ["start", "text", "text"]);
    assert(!types.includes("done"));
    await until(() => ended === 1);

    for await (const { type } of model.chat({ messages })) if (type === "text") break;
    await until(() => ended === 2);

    const running = model.chat({ messages })[Symbol.asyncIterator]();
    await running.next();
    await model.close();
    await assertRejects(async () => {
      for (;;) await running.next();
    }, ModelClosedError);
    await until(() => ended === 3);
    await assertRejects(() => eventsOf(model.chat({ messages })), ModelClosedError);
  });
}

Deno.test("a server that is not there, sends elsewhere or wants a key is told at opening", async () => {
  await using gone = serveOllama([]);
  await gone[Symbol.asyncDispose]();
  const refused = await assertRejects(() => openAt(gone), RemoteError, "QUERN_CLOUD_HOST");
  assertEquals(refused.status, 502);
  assertStringIncludes(refused.message, `${gone.url}: it cannot be reached (`);
  assertStringIncludes(refused.message, "Connection refused");

  await using locked = serveUpstream({
    "/v1/models": () => Response.json({ error: { message: "no key" } }, { status: 401 }),
  });
  assertEquals((await assertRejects(() => openAt(locked), RemoteError, "no key")).status, 401);

  const location = "http://elsewhere.test/api/chat";
  await using moved = serveOllama([], {
    "/api/chat": () => new Response(null, { status: 308, headers: { location } }),
  });
  await using model = await openAt(moved);
  const error = await failureOf(model);
  assertEquals(error.status, 502);
  assertStringIncludes(error.message, location);
});

Deno.test("the key goes to the cloud server's origin and to no other", async () => {
  const records = [{ message: { content: "x" }, done: true }];
  await using cloud = serveOllama(records);
  await using other = serveOllama(records);
  const options: RemoteOptions = { cloudHost: cloud.url, cloudKey: "secret" };
  for (const upstream of [cloud, other]) {
    await using model = await openAt(upstream, options);
    await eventsOf(model.chat({ messages }));
  }
  assertEquals(new Set(cloud.seen.map((seen) => seen.authorization)), new Set(["Bearer secret"]));
  assertEquals(new Set(other.seen.map((seen) => seen.authorization)), new Set([null]));
});

Deno.test("the API is found by asking once, or said by QUERN_CLOUD_API or /v1", async () => {
  const chunk = { choices: [{ index: 0, delta: { content: "x" }, finish_reason: "stop" }] };
  const chats = {
    "/api/chat": () => Response.json({ message: { content: "x" }, done: true }),
    "/v1/chat/completions": () => streamOf([`data: ${JSON.stringify(chunk)}\n\n`]),
  };
  const cases: [paths: Record<string, Answer>, options: RemoteOptions, asked: string][] = [
    [{ ...chats, "/api/version": () => Response.json({ version: "1" }) }, {}, "/api/chat"],
    [{ ...chats, "/v1/models": () => Response.json({ data: [] }) }, {}, "/v1/chat/completions"],
    [{ "/api/chat": chats["/api/chat"] }, {}, "/api/chat"],
    [{ "/v1/chat/completions": chats["/v1/chat/completions"] }, {}, "/v1/chat/completions"],
    [chats, { cloudApi: "openai" }, "/v1/chat/completions"],
  ];
  for (const [paths, options, asked] of cases) {
    await using upstream = serveUpstream(paths);
    await using model = await openAt(upstream, { ...options, cloudHost: upstream.url });
    await eventsOf(model.chat({ messages }));
    await eventsOf(model.chat({ messages }));
    assertEquals(upstream.of(asked).filter(({ body }) => body.messages).length, 2);
    assert(upstream.of("/api/version").length <= 1);
  }
});
