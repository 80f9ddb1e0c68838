// Several keys over HTTP: whose use is counted and shown to whom, and what a limit answers.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { createKey, encodeKeys, type KeyEntry, KeyRing } from "../../../../server/keys/mod.ts";
import { createTestApp, type TestApp } from "../../test_app.ts";

const KEYS: Record<string, Omit<KeyEntry, "name" | "sha256">> = {
  alice: {},
  bob: { requests_per_minute: 1 },
};

async function withKeys(
  test: (
    app: TestApp["app"],
    keys: Record<string, string>,
    loaded: TestApp["loaded"],
  ) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const made = Object.entries(KEYS).map(([name, more]) => createKey({ name, ...more }));
    const file = `${folder}/keys.json`;
    await Deno.writeTextFile(file, encodeKeys(made.map(({ entry }) => entry)));
    const ring = new KeyRing({ ownerKey: "secret", file, warn: () => {} });
    await ring.open();
    const keys = Object.fromEntries(made.map(({ key, entry }) => [entry.name, key]));
    const { app, loaded } = createTestApp({}, { keys: ring });
    await test(app, { owner: "secret", ...keys }, loaded);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const chat = (key: string, path = "/api/chat") => ({
  path,
  method: "POST",
  headers: { authorization: `Bearer ${key}` },
  body: JSON.stringify({
    model: "tiny",
    stream: false,
    messages: [{ role: "user", content: "hi" }],
    ...(path === "/v1/messages" && { max_tokens: 8 }),
  }),
});

Deno.test("each key's use is counted, and shown to it and to the owner", () =>
  withKeys(async (app, keys) => {
    const { path, ...request } = chat(keys.alice!);
    const answer = await (await app.request(path, request)).json();
    const usageOf = async (key: string) => {
      const headers = { "x-api-key": key };
      return (await (await app.request("/api/usage", { headers })).json()).keys;
    };
    const [alice, ...others] = await usageOf(keys.alice!);
    assertEquals(others, []);
    assertEquals([alice.name, alice.requests, alice.refused], ["alice", 1, 0]);
    assertEquals(alice.prompt_tokens, answer.prompt_eval_count);
    assertEquals(alice.completion_tokens, answer.eval_count);
    const all = await usageOf(keys.owner!);
    assertEquals(all.map(({ name }: { name: string }) => name), ["owner", "alice", "bob"]);
    const text = await (await app.request("/metrics", { headers: { "x-api-key": keys.bob! } }))
      .text();
    assertStringIncludes(
      text,
      `quern_key_tokens_total{key="alice",kind="completion"} ${answer.eval_count}`,
    );
  }));

Deno.test("a limit answers 429 in each dialect, says when to come again, and spares other keys", () =>
  withKeys(async (app, keys) => {
    const ask = ({ path, ...request }: ReturnType<typeof chat>) => app.request(path, request);
    const first = await ask(chat(keys.bob!));
    assertEquals([first.status, first.headers.get("x-ratelimit-remaining-requests")], [200, "0"]);
    await first.body?.cancel();
    const state = 'the limit of key "bob" is reached: 1 requests in a minute';
    for (const path of ["/api/chat", "/v1/chat/completions", "/v1/messages"]) {
      const response = await ask(chat(keys.bob!, path));
      assertEquals(response.status, 429);
      assertEquals(Number(response.headers.get("retry-after")) > 50, true);
      const { error } = await response.json();
      assertStringIncludes(error.message ?? error, state);
      if (path !== "/api/chat") assertEquals(error.type, "rate_limit_error");
    }
    // What computes nothing is not counted.
    const headers = { "x-api-key": keys.bob! };
    assertEquals((await app.request("/api/tags", { headers })).status, 200);
    assertEquals((await ask(chat(keys.alice!))).status, 200);
  }));

Deno.test("what the cache holds of a key's conversations is told to it and to the owner", () =>
  withKeys(async (app, keys, loaded) => {
    const { path, ...request } = chat(keys.alice!);
    await (await app.request(path, request)).text();
    const { share } = loaded[0]!.requests[0]!.request;
    const lastPrompt = {
      promptTokens: 1,
      commonTokens: 0,
      cachedTokens: 0,
      fromMemoryTokens: 0,
      fromDiskTokens: 0,
    };
    const kept = { onDevice: 0, inMemory: 0, onDisk: 0, reusable: 0 };
    const one = { requests: 1, lastUsed: 0, tokens: 1, kept, lastPrompt };
    loaded[0]!.cached.conversations.push(
      { ...one, title: "of Alice", owner: share!.id },
      { ...one, title: "of nobody" },
    );
    const titlesFor = async (key: string) => {
      const headers = { "x-api-key": key };
      const { models } = await (await app.request("/api/cache", { headers })).json();
      return models[0].conversations.map(({ title }: { title: string }) => title);
    };
    assertEquals(await titlesFor(keys.alice!), ["of Alice"]);
    assertEquals(await titlesFor(keys.bob!), []);
    assertEquals(await titlesFor(keys.owner!), ["of Alice", "of nobody"]);
  }));
