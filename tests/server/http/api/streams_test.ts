// Streams that clients take up again by the name of their conversation, in every API that streams events:
// what a client has not got, once and in order, whether it asks by bytes or by the last event's id.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createKey, encodeKeys, KeyRing } from "../../../../server/keys/mod.ts";
import { saysForever } from "../../fake_model.ts";
import { createTestApp } from "../../test_app.ts";
import { until } from "../../../until.ts";
import { messages, readNumbered, steered } from "./openai/openai_scripts.ts";

const chat = { model: "tiny", messages, stream: true };
const headers = { "x-conversation-id": "chat-1" };

type App = ReturnType<typeof createTestApp>["app"];

const ask = (
  app: App,
  path: string,
  body: object,
  own: HeadersInit = headers,
  signal?: AbortSignal,
) =>
  app.request(path, {
    method: "POST",
    headers: own,
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });

const stream = (app: App, query = "", own: HeadersInit = {}) =>
  app.request(`/v1/stream?conv_id=chat-1${query}`, { headers: own });

Deno.test("a client that is cut off takes its stream up by bytes, from wherever it was", async () => {
  const { script, say, end } = steered();
  const { app, loaded } = createTestApp({ script });
  const left = new AbortController();
  const response = await ask(app, "/v1/chat/completions", chat, headers, left.signal);
  say("Hel");
  const reader = response.body!.getReader();
  const begun = (await reader.read()).value!;
  await reader.cancel();
  left.abort();
  say("lo");
  end();
  const rest = await (await stream(app, `&from=${begun.length}`)).bytes();
  const all = await (await stream(app)).bytes();
  assertEquals([...begun, ...rest], [...all]);
  assertStringIncludes(new TextDecoder().decode(all), "data: [DONE]\n\n");
  assertEquals(loaded[0]!.requests.length, 1);
  // In the midst of an event, too.
  const odd = await (await stream(app, `&from=${begun.length + 5}`)).bytes();
  assertEquals([...odd], [...all.subarray(begun.length + 5)]);
});

Deno.test("a browser that reconnects by itself names the last event, and gets those after it", async () => {
  const { app } = createTestApp();
  await (await ask(app, "/v1/chat/completions", chat)).text();
  const all = (await (await stream(app)).text()).split("\n\n");
  for (const [index, block] of all.slice(0, -2).entries()) {
    const id = /^id: (\d+)$/m.exec(block)![1]!;
    assertEquals(id, `${index}`);
    const rest = await stream(app, "&from=0", { "last-event-id": id });
    assertEquals((await rest.text()).split("\n\n"), all.slice(index + 1));
  }
});

const bodies: [path: string, body: object, last: RegExp][] = [
  ["/v1/chat/completions", chat, /\[DONE\]/],
  ["/v1/completions", { model: "tiny", prompt: "Hi", stream: true }, /\[DONE\]/],
  ["/v1/responses", { model: "tiny", input: "Hi", stream: true }, /response\.completed/],
  ["/v1/messages", { ...chat, max_tokens: 9 }, /message_stop/],
  ["/completion", { model: "tiny", prompt: "Hi", stream: true }, /"stop":true/],
];
for (const [path, body, last] of bodies) {
  Deno.test(`POST ${path} gives what it gives without a conversation, and ids`, async () => {
    const { app } = createTestApp();
    const plain = await (await ask(app, path, body, {})).text();
    assert(!plain.includes("id: "));
    const named = await (await ask(app, path, body)).text();
    const replayed = await (await stream(app)).text();
    assertEquals(replayed, named);
    const shape = (text: string) =>
      text.replaceAll(/"(?:id|created|created_at|completed_at|item_id)":("[^"]*"|\d+)/g, "");
    assertEquals(shape(named.replaceAll(/^id: \d+\n/gm, "")), shape(plain));
    assertMatch(named, last);
  });
}

Deno.test("a conversation has one stream: the next request ends the answer before it", async () => {
  let ended = 0;
  const { app } = createTestApp({ script: saysForever(() => ended++) });
  const first = await ask(app, "/v1/chat/completions", chat);
  const reading = first.text();
  const second = await ask(app, "/v1/chat/completions", chat);
  await until(() => ended === 1);
  assertStringIncludes(await reading, "request canceled");
  assertEquals((await readNumbered(second, 3)).length, 3);
  await app.request("/v1/stream?conv_id=chat-1", { method: "DELETE" });
  await until(() => ended === 2);
});

Deno.test("the end of a stream is asked for by its conversation, once or again", async () => {
  let ended = false;
  const { app } = createTestApp({ script: saysForever(() => ended = true) });
  const response = await ask(app, "/v1/chat/completions", chat);
  await response.body!.cancel();
  for (const _ of [1, 2]) {
    const { status } = await app.request("/v1/stream?conv_id=chat-1", { method: "DELETE" });
    assertEquals(status, 204);
  }
  await until(() => ended);
  assertEquals((await stream(app)).status, 404);
});

Deno.test("a lookup tells of the conversations that it names, and of those below them", async () => {
  const { app } = createTestApp({ script: saysForever() });
  const responses: Response[] = [];
  for (const id of ["chat-1", "chat-1::tiny", "chat-12", "other"]) {
    responses.push(await ask(app, "/v1/chat/completions", chat, { "x-conversation-id": id }));
  }
  const lookup = async (ids: unknown) => {
    const response = await ask(app, "/v1/streams/lookup", { conversation_ids: ids });
    return { status: response.status, body: await response.json() };
  };
  const { body } = await lookup(["chat-1", "none"]);
  const ids = body.map(({ conversation_id: id }: { conversation_id: string }) => id);
  assertEquals(ids, ["chat-1", "chat-1::tiny"]);
  assertEquals([body[0].is_done, body[0].completed_at], [false, 0]);
  assert(Math.abs(body[0].started_at - Date.now() / 1000) < 60);
  assertEquals((await lookup([])).body, []);
  assertEquals((await lookup(undefined)).status, 400);
  assertEquals((await lookup("chat-1")).status, 400);
  for (const id of ["chat-1", "chat-1::tiny", "chat-12", "other"]) {
    await app.request(`/v1/stream?conv_id=${encodeURIComponent(id)}`, { method: "DELETE" });
  }
  await Promise.all(responses.map((response) => response.text()));
});

Deno.test("what cannot be taken up is refused, and says what to do", async () => {
  const { app } = createTestApp();
  const refused: [query: string, status: number, part: string][] = [
    ["", 400, "conv_id is required"],
    ["?conv_id=none", 404, "no stream of conversation 'none'"],
    ["?conv_id=chat-1&from=x", 400, "from is no number"],
    ["?conv_id=chat-1&from=-3", 400, "from is no number"],
    ["?conv_id=chat-1&from=999999", 400, "bytes so far"],
  ];
  await (await ask(app, "/v1/chat/completions", chat)).text();
  for (const [query, status, part] of refused) {
    const response = await app.request(`/v1/stream${query}`);
    assertEquals(response.status, status, query);
    assertStringIncludes((await response.json()).error.message, part);
  }
  const odd = await stream(app, "", { "last-event-id": "abc" });
  assertEquals(odd.status, 400);
  await odd.body!.cancel();
  assertEquals((await app.request("/v1/stream", { method: "DELETE" })).status, 400);
  const long = await ask(app, "/v1/chat/completions", chat, {
    "x-conversation-id": "x".repeat(300),
  });
  assertEquals(long.status, 400);
  await long.body!.cancel();
  // A request that is refused leaves nothing to take up.
  const failed = await ask(app, "/v1/chat/completions", { ...chat, model: "none" });
  assertEquals(failed.status, 404);
  await failed.body!.cancel();
  assertEquals((await stream(app)).status, 200);
});

Deno.test("an answer that is not streamed, and one without a conversation, end with their clients", async () => {
  let ended = 0;
  const { app } = createTestApp({ script: saysForever(() => ended++) });
  for (const [body, own] of [[{ ...chat, stream: false }, headers], [chat, {}]] as const) {
    const left = new AbortController();
    const before = ended;
    const asked = ask(app, "/v1/chat/completions", body, own, left.signal);
    await new Promise((resolve) => setTimeout(resolve, 20));
    left.abort();
    await until(() => ended === before + 1);
    await (await asked).body?.cancel();
    assertEquals((await stream(app)).status, 404);
  }
});

Deno.test("a stream and a response in the background are only for the key that began them", async () => {
  const entry = createKey({ name: "alice" });
  const folder = await Deno.makeTempDir();
  const file = `${folder}/keys.json`;
  try {
    await Deno.writeTextFile(file, encodeKeys([entry.entry]));
    const keys = new KeyRing({ ownerKey: "secret", file, warn: () => {} });
    await keys.open();
    const { app } = createTestApp({}, { keys });
    const as = (key: string) => ({ ...headers, "x-api-key": key });
    await (await ask(app, "/v1/chat/completions", chat, as(entry.key))).text();
    const body = { model: "tiny", input: "Hi", background: true };
    const { id } = await (await ask(app, "/v1/responses", body, as(entry.key))).json();
    const statuses = async (key: string) => {
      const found: unknown[] = [];
      for (const path of ["/v1/stream?conv_id=chat-1", `/v1/responses/${id}`]) {
        const response = await app.request(path, { headers: as(key) });
        found.push(response.status);
        await response.text();
      }
      const lookup = { conversation_ids: ["chat-1"] };
      const told = await ask(app, "/v1/streams/lookup", lookup, as(key));
      return [...found, (await told.json()).length];
    };
    assertEquals(await statuses("secret"), [404, 404, 0]);
    assertEquals(await statuses(entry.key), [200, 200, 1]);
    // Whoever may not see it does not end it either.
    await app.request("/v1/stream?conv_id=chat-1", { method: "DELETE", headers: as("secret") });
    assertEquals(await statuses(entry.key), [200, 200, 1]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
