// What clients of OpenAI's API do wrong and what goes wrong before the first token: status, sentence,
// the member at fault and the code of each.

import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  ContextLengthError,
  EngineError,
  GgufError,
  ModelClosedError,
  RequestError,
  SchemaError,
} from "../../../../../engine/mod.ts";
import { failsAfter, says } from "../../../fake_model.ts";
import {
  chat,
  chatFaults,
  completions,
  input,
  model,
  otherFaults,
  responses,
} from "./openai_faults.ts";
import { messages } from "./openai_scripts.ts";
import { createTestApp } from "../../../test_app.ts";
import { until } from "../../../../until.ts";

Deno.test("requests that cannot be answered get 400 that says why, and load nothing", async (t) => {
  const { post, loaded } = createTestApp();
  for (const [path, body, sentence, param] of [...chatFaults, ...otherFaults]) {
    await t.step(`${path} ${JSON.stringify(body).slice(0, 150)}`, async () => {
      const response = await post(path, body);
      assertEquals(response.status, 400);
      assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
      const { error } = await response.json();
      assertStringIncludes(error.message, sentence);
      assertEquals(Object.keys(error), ["message", "type", "param", "code"]);
      assertEquals([error.type, error.code], ["invalid_request_error", null]);
      if (param !== undefined) assertEquals(error.param, param);
    });
  }
  assertEquals(loaded.length, 0);
});

const bodies: [string, Record<string, unknown>][] = [
  [chat, { model, messages }],
  [completions, { model, prompt: "x" }],
  [responses, { model, input }],
];

Deno.test("unknown models get 404 and a code, cloud models 403, on all paths", async () => {
  const { post } = createTestApp();
  for (const [path, body] of bodies) {
    const unknown = await post(path, { ...body, model: "nope" });
    const message = "model 'nope' not found";
    const error = { message, type: "not_found_error", param: null, code: "model_not_found" };
    assertEquals([unknown.status, await unknown.json()], [404, { error }]);
    const cloud = await post(path, { ...body, model: "gpt-oss:120b-cloud" });
    assertStringIncludes((await cloud.json()).error.message, "ollama cloud is disabled");
    assertEquals(cloud.status, 403);
  }
});

Deno.test("a model that only embeds does not chat", async () => {
  const { post } = createTestApp({ info: { isEmbeddingModel: true } });
  const tasks = ["chat", "generate", "chat"];
  for (const [index, [path, body]] of bodies.entries()) {
    const { error } = await (await post(path, body)).json();
    assertEquals([error.message, error.param], [
      `"tiny" does not support ${tasks[index]}`,
      "model",
    ]);
  }
});

Deno.test("errors of the engine before an answer begins become statuses, streamed or not", async () => {
  const tool = 'the schema of tool "f"';
  const cases: [Error, number, string | null][] = [
    [new ContextLengthError(5000, 4096), 400, "context_length_exceeded"],
    [new RequestError("Cannot sample: topP is -1"), 400, null],
    [new SchemaError("/a", "pattern", "it is no regular expression"), 400, null],
    [new SchemaError("/a", "pattern", "it is no regular expression", tool), 400, null],
    [new ModelClosedError("the model was closed"), 503, null],
    [new GgufError("a.gguf", "magic", "not GGUF"), 400, null],
    [new EngineError("something else"), 500, null],
  ];
  const schema = { type: "json_schema", json_schema: { schema: {} } };
  const formats: [param: string | null, members: object][] = [
    ["response_format", { response_format: schema }],
    [null, {}],
    ["text.format", { text: { format: { type: "json_schema", schema: {} } } }],
  ];
  for (const [error, status, code] of cases) {
    const { post } = createTestApp({ script: failsAfter([], error) });
    for (const [index, [path, body]] of bodies.entries()) {
      for (const stream of [true, false]) {
        const [ofFormat, members] = formats[index]!;
        const response = await post(path, { ...body, ...members, stream });
        const { error: answered } = await response.json();
        assertEquals([response.status, answered.code], [status, code]);
        const words = error instanceof ContextLengthError
          ? `This model's maximum context length is 4096 tokens: ${error.message}`
          : error.message;
        assertEquals(answered.message, words);
        assertEquals(answered.type, status === 400 ? "invalid_request_error" : "api_error");
        assertEquals(response.headers.get("retry-after"), status === 503 ? "1" : null);
        const isOfTool = error.message.includes("tool");
        const param = isOfTool ? "tools" : ofFormat;
        assertEquals(answered.param, error instanceof SchemaError ? param : null);
      }
    }
  }
});

Deno.test("a prompt over the window is refused with both numbers", async () => {
  const script = failsAfter([], new ContextLengthError(5000, 4096));
  const { post } = createTestApp({ script });
  const { error } = await (await post(chat, { model, messages })).json();
  assertStringIncludes(error.message, "the prompt is longer than the context length");
  assertStringIncludes(error.message, "5000 tokens, the window 4096");
  assertStringIncludes(error.message, "This model's maximum context length is 4096 tokens");
});

Deno.test("requests beyond the queue get 503 with a time to come back", async () => {
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const { post } = createTestApp({
    script: async function* (request) {
      waiting++;
      await gate.promise;
      yield* says("ok")(request);
    },
  }, { maxQueue: 1 });
  const admitted = post(chat, { model, messages });
  await until(() => waiting === 1);
  for (const [path, body] of bodies) {
    const refused = await post(path, body);
    assertEquals([refused.status, refused.headers.get("retry-after")], [503, "1"]);
    const { error } = await refused.json();
    assertEquals(error.type, "api_error");
    assertStringIncludes(error.message, "server busy, please try again.  maximum pending requests");
  }
  gate.resolve();
  assertEquals((await admitted).status, 200);
});

Deno.test("other methods get 405 and bodies over the limit 413", async () => {
  const { app, post } = createTestApp({}, { maxBodyBytes: 100 });
  for (const [path, body] of bodies) {
    assertEquals((await app.request(path)).status, 405);
    const large = await post(path, { ...body, user: "x".repeat(200) });
    const { error } = await large.json();
    assertEquals([large.status, error.message], [413, "the request body is larger than 100 bytes"]);
  }
});
