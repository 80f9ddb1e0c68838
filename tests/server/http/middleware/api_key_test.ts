// QUERN_API_KEY: which routes need the key, how it may be sent, and the shape of a refusal.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createTestApp, ringOf } from "../../test_app.ts";

const PROTECTED: [method: string, path: string][] = [
  ["POST", "/api/chat"],
  ["POST", "/api/generate"],
  ["POST", "/api/embed"],
  ["GET", "/api/tags"],
  ["GET", "/api/ps"],
  ["GET", "/api/version"],
  ["GET", "/metrics"],
  ["GET", "/openapi.json"],
  ["POST", "/v1/chat/completions"],
  ["POST", "/v1/messages"],
  ["GET", "/health/"],
  ["GET", "//health"],
  ["GET", "/nothing/here"],
];

Deno.test("with a key set, every route but / and /health answers 401 without it", async () => {
  const { app, loaded } = createTestApp({}, { keys: ringOf("secret") });
  for (const [method, path] of PROTECTED) {
    const response = await app.request(`http://localhost${path}`, { method });
    assertEquals([path, response.status], [path, 401]);
    assertEquals(response.headers.get("www-authenticate"), "Bearer");
    await response.body!.cancel();
  }
  for (const path of ["/", "/health"]) {
    for (const method of ["GET", "HEAD"]) {
      assertEquals((await app.request(path, { method })).status, 200);
    }
  }
  assertEquals(loaded.length, 0);
});

Deno.test("the key is taken as a bearer token and as x-api-key, and nothing like it is", async () => {
  const { app } = createTestApp({}, { keys: ringOf("secret") });
  const cases: [Record<string, string>, number][] = [
    [{ authorization: "Bearer secret" }, 200],
    [{ authorization: "bearer  secret" }, 200],
    [{ "x-api-key": "secret" }, 200],
    [{ authorization: "Bearer wrong", "x-api-key": "secret" }, 200],
    [{ authorization: "Bearer secret", "x-api-key": "ollama" }, 200],
    [{ authorization: "secret" }, 401],
    [{ authorization: "Basic secret" }, 401],
    [{ authorization: "Bearer Secret" }, 401],
    [{ authorization: "Bearer secre" }, 401],
    [{ authorization: "Bearer secrets" }, 401],
    [{ authorization: "Bearer " }, 401],
    [{ "x-api-key": "" }, 401],
    [{ "x-api-key": "secret,secret" }, 401],
    [{ cookie: "x-api-key=secret" }, 401],
  ];
  for (const [headers, status] of cases) {
    const response = await app.request("/api/version?api_key=secret", { headers });
    assertEquals([headers, response.status], [headers, status]);
    const { error = "" } = await response.json();
    assert(!error.includes("secret"), error);
  }
});

Deno.test("a refusal has the shape of the API that was asked, and says what to send", async () => {
  const { app } = createTestApp({}, { keys: ringOf("secret") });
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    return await (await app.request(path, { method: "POST", headers })).json();
  };
  const missing = 'the API key is missing: send it as "Authorization: Bearer" or "x-api-key"';
  assertEquals(await ask("/api/chat"), { error: missing });
  const { error } = await ask("/v1/chat/completions", { authorization: "Bearer no" });
  assertStringIncludes(error.message, "the API key is not this server's");
  assertEquals([error.param, error.code], [null, null]);
  const { type, error: inner, ...rest } = await ask("/v1/messages", { "x-api-key": "no" });
  assertEquals([type, inner.type, Object.keys(rest)], [
    "error",
    "authentication_error",
    ["request_id"],
  ]);
});

Deno.test("a page of an allowed origin can read that its key is missing", async () => {
  const { app } = createTestApp({}, { keys: ringOf("secret") });
  const headers = { origin: "http://localhost:3000" };
  const response = await app.request("/api/tags", { headers });
  assertEquals(response.status, 401);
  assertEquals(response.headers.get("access-control-allow-origin"), headers.origin);
});
