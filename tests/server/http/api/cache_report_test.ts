// `cache_report` in every API, and the header with the count of cached tokens.

import { assertEquals, assertMatch } from "@std/assert";
import { ModelClosedError } from "../../../../engine/errors.ts";
import type { CacheReport } from "../../../../engine/types/mod.ts";
import { fakeUsage, type Script } from "../../fake_model.ts";
import { createTestApp } from "../../test_app.ts";
import { able, ANSWERING } from "./routes_of_answers.ts";

const cacheReport: CacheReport = {
  promptTokens: 900,
  commonTokens: 40,
  cachedTokens: 32,
  fromMemoryTokens: 16,
  fromDiskTokens: 0,
  lost: {
    tokens: 800,
    milliseconds: 1234.5,
    token: 40,
    offset: 99,
    before: "It is 10:1",
    was: "5. The",
    is: "6. The",
    message: 1,
    advice: "Put it last.",
  },
};

const reports: Script = async function* ({ cacheReport: isAsked }) {
  yield { type: "start", promptTokens: 11, cachedTokens: 4 };
  yield { type: "text", text: "Hi" };
  yield { type: "done", reason: "stop", usage: fakeUsage, ...(isAsked && { cacheReport }) };
};

const told = {
  prompt_tokens: 900,
  common_tokens: 40,
  cached_tokens: 32,
  from_memory: 16,
  from_disk: 0,
  lost: {
    tokens: 800,
    seconds: 1.235,
    token: 40,
    before: "It is 10:1",
    was: "5. The",
    is: "6. The",
    message: 1,
    advice: "Put it last.",
  },
};

for (const [path, least] of Object.entries(ANSWERING)) {
  Deno.test(`POST ${path}: cache_report tells what the prompt found, on request`, async () => {
    const { post } = createTestApp({ ...able, script: reports });
    const body = { model: "tiny", ...least, stream: false };
    const response = await post(path, { ...body, cache_report: true });
    assertEquals(response.headers.get("x-cached-tokens"), "4");
    assertEquals((await response.json()).cache_report, told);
    assertEquals((await (await post(path, body)).json()).cache_report, undefined);
    const streamed = await post(path, { ...body, stream: true, cache_report: true });
    assertEquals(streamed.headers.get("x-cached-tokens"), "4");
    assertMatch(await streamed.text(), /"cache_report":\{"prompt_tokens":900/);
    const wrong = await post(path, { ...body, cache_report: "yes" });
    assertEquals(wrong.status, 400);
    assertMatch(await wrong.text(), /cache_report/);
  });
}

Deno.test("GET /api/cache tells what each loaded model holds, by conversation", async () => {
  const { app, post, loaded } = createTestApp();
  const ask = async () => await (await app.request("/api/cache")).json();
  assertEquals(await ask(), { models: [] });
  await (await post("/api/chat", { model: "tiny", messages: [], stream: false })).text();
  assertEquals(await ask(), {
    models: [{ model: "tiny:latest", block_tokens: 32, conversations: [] }],
  });
  const conversation = {
    title: "Hi",
    requests: 3,
    lastUsed: Date.UTC(2026, 10, 29),
    tokens: 903,
    kept: { onDevice: 896, inMemory: 64, onDisk: 32, reusable: 864 },
    lastPrompt: cacheReport,
  };
  const session = { id: "s", isBeside: true };
  loaded[0]!.cached.conversations.push({ ...conversation, session }, conversation);
  const own = {
    title: "Hi",
    requests: 3,
    last_used: "2026-11-29T00:00:00.000Z",
    tokens: 903,
    on_device: 896,
    in_memory: 64,
    on_disk: 32,
    reusable: 864,
    last_prompt: told,
  };
  assertEquals((await ask()).models[0].conversations, [
    { ...own, session: "s", is_beside: true },
    own,
  ]);
  // A model that is closed meanwhile has none.
  loaded[0]!.cacheState = () => Promise.reject(new ModelClosedError("closed"));
  assertEquals(await ask(), { models: [] });
  loaded[0]!.cacheState = () => Promise.reject(new Error("broken"));
  assertEquals((await app.request("/api/cache")).status, 500);
});
