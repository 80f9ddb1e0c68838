// What clients of the Messages API do wrong and what goes wrong before the first event: status,
// shape and sentence of each, for /v1/messages and, where it applies, for count_tokens.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  ChatTemplateError,
  ContextLengthError,
  EngineError,
  GgufError,
  ModelClosedError,
  RequestError,
  SchemaError,
  UnsupportedModelError,
} from "../../../../../engine/mod.ts";
import { base, FAULTS, tool } from "./anthropic_faults.ts";
import { failsAfter, says } from "../../../fake_model.ts";
import { createTestApp } from "../../../test_app.ts";
import { until } from "../../../../until.ts";

/** The kinds that Anthropic's clients know, by status. */
const TYPES: Record<number, string> = {
  400: "invalid_request_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  500: "api_error",
  503: "overloaded_error",
};

/** Checks shape and headers; gives the sentence. */
async function readError(response: Response, status: number): Promise<string> {
  assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
  const { error, request_id: id, ...rest } = await response.json();
  assertEquals([response.status, rest, Object.keys(error)], [
    status,
    { type: "error" },
    ["type", "message"],
  ]);
  assertEquals([error.type, id], [TYPES[status], response.headers.get("request-id")]);
  assertMatch(id, /^req_\w{24}$/);
  return error.message;
}

Deno.test("requests that cannot be answered get a 4xx that says why", async (t) => {
  const { post, loaded } = createTestApp({ info: { callsTools: true, thinks: true } });
  for (const [body, status, sentence] of FAULTS) {
    await t.step(`${JSON.stringify(body)}: ${status}`, async () => {
      for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
        assertStringIncludes(await readError(await post(path, body), status), sentence);
      }
    });
  }
  assertEquals(loaded.length, 0);
});

Deno.test("max_tokens must be given, whole and positive, where something is generated", async () => {
  const { post } = createTestApp();
  for (const max_tokens of [undefined, null, 0, -1]) {
    const message = await readError(await post("/v1/messages", { ...base, max_tokens }), 400);
    assertEquals(message, "max_tokens is required and must be positive");
  }
  for (const max_tokens of ["5", 1.5]) {
    const message = await readError(await post("/v1/messages", { ...base, max_tokens }), 400);
    assertEquals(message, "max_tokens must be of type integer");
  }
  const { max_tokens: _, ...unlimited } = base;
  assertEquals((await post("/v1/messages/count_tokens", unlimited)).status, 200);
});

Deno.test("what a model cannot do is refused, thinking is left out", async () => {
  const { post, loaded } = createTestApp();
  const tools = await readError(await post("/v1/messages", { ...base, tools: [tool] }), 400);
  assertEquals(tools, '"tiny" does not support tools');
  const thinking = { type: "enabled", budget_tokens: 1024 };
  assertEquals((await post("/v1/messages", { ...base, thinking })).status, 200);
  assertEquals("think" in loaded[0]!.requests[0]!.request, false);
  const embedding = createTestApp({ info: { isEmbeddingModel: true } });
  const chat = await readError(await embedding.post("/v1/messages", base), 400);
  assertEquals(chat, '"tiny" does not support chat');
});

Deno.test("errors of the engine before the first event become statuses, streamed or not", async () => {
  const tooLong = new ContextLengthError(5000, 4096);
  const cases: [Error, number, string?][] = [
    [tooLong, 400, `prompt is too long: 5000 tokens > 4096 maximum: ${tooLong.message}`],
    [new RequestError("top_p: out of range"), 400],
    [new SchemaError("/properties/a", "pattern", "no such group"), 400],
    [new ChatTemplateError("refused", "Roles must alternate"), 400],
    [new UnsupportedModelError("Cannot run the model: no such architecture"), 400],
    [new GgufError("a.gguf", "magic", "not GGUF"), 400],
    [new EngineError("something else"), 500],
    [new ModelClosedError("the model was closed"), 503],
    [new Error("a defect"), 500],
  ];
  for (const [error, status, sentence = error.message] of cases) {
    const { post } = createTestApp({ script: failsAfter([], error) });
    for (const stream of [true, false]) {
      const response = await post("/v1/messages", { ...base, stream });
      assertEquals(response.headers.get("retry-after"), status === 503 ? "1" : null);
      assertEquals(await readError(response, status), sentence);
    }
  }
});

Deno.test("requests beyond the queue get 503 with the time to come back", async () => {
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const { post } = createTestApp({
    script: async function* (request) {
      waiting++;
      await gate.promise;
      yield* says("ok")(request);
    },
  }, { maxQueue: 1 });
  const admitted = post("/v1/messages", base);
  await until(() => waiting === 1);
  const refused = await post("/v1/messages", base);
  assertEquals(refused.headers.get("retry-after"), "1");
  const message = await readError(refused, 503);
  assertStringIncludes(
    message,
    "server busy, please try again.  maximum pending requests exceeded",
  );
  gate.resolve();
  assertEquals((await admitted).status, 200);
});

Deno.test("a request that counts on a kept conversation is told to send it whole", async () => {
  const { post } = createTestApp();
  for (const thread of [{ type: "create" }, { type: "continue", previous_message_id: "msg_1" }]) {
    const response = await post("/v1/messages", { ...base, thread });
    const { error } = await response.json();
    assertEquals([response.status, error.type], [400, "invalid_request_error"]);
    assertEquals(error.details, {
      error_code: "thread_unsupported_request",
      unsupported: ["thread"],
    });
  }
  assertEquals((await post("/v1/messages", { ...base, thread: null })).status, 200);
});

Deno.test("guards before the routes answer in Anthropic's shape too", async () => {
  const { app, post } = createTestApp({}, { maxBodyBytes: 100 });
  const big = { ...base, system: "x".repeat(200) };
  assertStringIncludes(
    await readError(await post("/v1/messages", big), 413),
    "larger than 100 bytes",
  );
  const foreign = (headers: Record<string, string>) =>
    app.request("/v1/messages", { method: "POST", body: "{}", headers });
  const origin = await readError(await foreign({ origin: "http://a.example" }), 403);
  assertStringIncludes(origin, "OLLAMA_ORIGINS");
  assertStringIncludes(await readError(await foreign({ host: "a.example" }), 403), "a.example");
});

Deno.test("what is not there is told: batches 404, other methods 405", async () => {
  const { app, post } = createTestApp();
  for (const path of ["", "/msgbatch_1", "/msgbatch_1/results"]) {
    const response = await app.request(`/v1/messages/batches${path}`);
    assertStringIncludes(await readError(response, 404), "batches are not available");
  }
  const created = await post("/v1/messages/batches", { requests: [] });
  assertStringIncludes(await readError(created, 404), "batches are not available");
  assertEquals((await app.request("/v1/messages")).status, 405);
  assertEquals((await app.request("/v1/messages/count_tokens")).status, 405);
});

Deno.test("keys, versions, betas and queries of any kind are let in", async () => {
  const { app } = createTestApp();
  const all: Record<string, string>[] = [
    {},
    { "x-api-key": "sk-ant-nothing" },
    { authorization: "Bearer x", "anthropic-version": "1999-01-01", "anthropic-beta": "a,b" },
  ];
  for (const headers of all) {
    const init = { method: "POST", body: JSON.stringify(base), headers };
    assertEquals((await app.request("/v1/messages?beta=true", init)).status, 200);
  }
});

Deno.test("what does not fit the window can be counted all the same", async () => {
  const { post, loaded } = createTestApp();
  await post("/v1/messages/count_tokens", base);
  loaded[0]!.countTokens = () => Promise.reject(new ContextLengthError(5000, 4096));
  const response = await post("/v1/messages/count_tokens", base);
  assertEquals([response.status, await response.json()], [200, { input_tokens: 5000 }]);
});
