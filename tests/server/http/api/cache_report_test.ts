// `cache_report` in every API, and the header with the count of cached tokens.

import { assertEquals, assertMatch } from "@std/assert";
import type { CacheReport } from "../../../../engine/types/mod.ts";
import { fakeUsage, type Script } from "../../fake_model.ts";
import { createTestApp } from "../../test_app.ts";
import { able, ANSWERING } from "./routes_of_answers.ts";

const cacheReport: CacheReport = {
  promptTokens: 900,
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
  },
};

const reports: Script = async function* ({ cacheReport: isAsked }) {
  yield { type: "start", promptTokens: 11, cachedTokens: 4 };
  yield { type: "text", text: "Hi" };
  yield { type: "done", reason: "stop", usage: fakeUsage, ...(isAsked && { cacheReport }) };
};

const told = {
  prompt_tokens: 900,
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
