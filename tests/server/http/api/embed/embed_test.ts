// The three embedding endpoints over a model without weights: what they ask it for, what they
// answer, and what they refuse.

import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  ContextLengthError,
  ModelClosedError,
  RequestError,
  UnsupportedModelError,
} from "../../../../../engine/errors.ts";
import { type FakeModelOptions } from "../../../fake_model.ts";
import { createTestApp } from "../../../test_app.ts";
import { until } from "../../../../until.ts";

const vectors: FakeModelOptions = { info: { isEmbeddingModel: true, architecture: "bert" } };

/** What the model was last asked for, without the signal. */
function lastRequest({ loaded }: ReturnType<typeof createTestApp>) {
  const { signal: _, ...request } = loaded.at(-1)!.embedRequests.at(-1)!;
  return request;
}

Deno.test("POST /api/embed gives a vector per text, counts and times", async () => {
  const test = createTestApp(vectors);
  const response = await test.post("/api/embed", { model: "tiny", input: ["four", "a"] });
  const { total_duration: total, load_duration: _, ...body } = await response.json();
  assertEquals(body, {
    model: "tiny",
    embeddings: [[4, 0.1, 0.2].map(Math.fround), [1, 0.1, 0.2].map(Math.fround)]
      .map((vector) => vector.map((value) => Number(value.toPrecision(9)))),
    prompt_eval_count: 5,
  });
  assertEquals(Number.isInteger(total) && total > 0, true);
  assertEquals(lastRequest(test), { inputs: ["four", "a"], truncate: true });
  assertMatch(test.lines.at(-1)!, /^POST \/api\/embed 200 - tiny - in 5 - /);
});

Deno.test("POST /api/embed takes one text, options, a keep-alive and dimensions", async () => {
  const test = createTestApp(vectors);
  const response = await test.post("/api/embed", {
    model: "tiny",
    input: "text",
    truncate: false,
    dimensions: 2,
    keep_alive: 0,
    options: { num_ctx: 256, temperature: 1 },
  });
  assertEquals((await response.json()).embeddings.map((vector: number[]) => vector.length), [2]);
  const asked = { truncate: false, dimensions: 2, contextLength: 256 };
  assertEquals(lastRequest(test), { inputs: ["text"], ...asked });
  assertEquals(test.loads[0].options.contextLength, 256);
  await until(() => test.manager.running().length === 0);
});

Deno.test("the numbers of an answer are the vector's f32 values exactly", async () => {
  // Each power of ten that an f32 has, with the numbers before and after it.
  const powers = Array.from({ length: 84 }, (_, i) => 10 ** (i - 45));
  const near = powers.flatMap((power) => [power * (1 - 2 ** -23), -power, power * (1 + 2 ** -23)]);
  const vector = Float32Array.of(1 / 3, -1e-20, 0.1, 16777215, 1.1754943508222875e-38, 0, ...near);
  const embedder = () => ({ embeddings: [vector], promptTokens: 1 });
  const { post } = createTestApp({ ...vectors, embedder });
  const { embeddings } = await (await post("/api/embed", { model: "tiny", input: "x" })).json();
  assertEquals(Float32Array.from(embeddings[0]), vector);
  const legacy = await post("/api/embeddings", { model: "tiny", prompt: "x" });
  assertEquals(await legacy.json(), { embedding: embeddings[0] });
  const body = { model: "tiny", input: "x", encoding_format: "BASE64" };
  const { data } = await (await post("/v1/embeddings", body)).json();
  const bytes = Uint8Array.fromBase64(data[0].embedding);
  const view = new DataView(bytes.buffer);
  assertEquals(Array.from(vector, (_, i) => view.getFloat32(i * 4, true)), [...vector]);
});

Deno.test("requests without anything to embed load the model, or unload it", async () => {
  for (const input of [undefined, null, "", []]) {
    const test = createTestApp(vectors);
    const loaded = await test.post("/api/embed", { model: "tiny", input });
    const { embeddings, model, prompt_eval_count: count } = await loaded.json();
    assertEquals([loaded.status, model, embeddings, count], [200, "tiny", [], undefined]);
    assertEquals(test.manager.running().length, 1);
    const unloaded = await test.post("/api/embeddings", { model: "tiny", keep_alive: 0 });
    assertEquals(await unloaded.json(), { embedding: [] });
    assertEquals([test.manager.running().length, test.loaded[0].embedRequests], [0, []]);
  }
});

Deno.test("POST /v1/embeddings answers in OpenAI's form and takes token ids", async () => {
  const test = createTestApp(vectors);
  const cases: [unknown, unknown[]][] = [
    ["abc", ["abc"]],
    ["", [""]],
    [["abc", "d"], ["abc", "d"]],
    [[1, 2, 3], [[1, 2, 3]]],
    [[[1, 2], [3]], [[1, 2], [3]]],
    [["ab", [3]], ["ab", [3]]],
  ];
  for (const [input, inputs] of cases) {
    const response = await test.post("/v1/embeddings", { model: "tiny", input, dimensions: 1 });
    const lengths = inputs.map((item) => (item as string).length);
    const tokens = lengths.reduce((sum, length) => sum + length, 0);
    assertEquals(await response.json(), {
      object: "list",
      data: lengths.map((length, index) => ({ object: "embedding", embedding: [length], index })),
      model: "tiny",
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    });
    assertEquals(lastRequest(test).inputs as unknown, inputs);
  }
});

Deno.test("a long answer is whole, and sent in pieces", async () => {
  const vector = Float32Array.from({ length: 300 }, (_, i) => i / 7);
  const embeddings = Array.from({ length: 200 }, (_, i) => vector.map((value) => value + i));
  const { post } = createTestApp({ ...vectors, embedder: () => ({ embeddings, promptTokens: 9 }) });
  for (const path of ["/api/embed", "/v1/embeddings"]) {
    const response = await post(path, { model: "tiny", input: "x" });
    assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
    const pieces = await Array.fromAsync(response.body!.pipeThrough(new TextDecoderStream()));
    assert(pieces.length > 5 && Math.max(...pieces.map(({ length }) => length)) < 100_000);
    const body = JSON.parse(pieces.join(""));
    const rows = body.embeddings ??
      body.data.map(({ embedding }: { embedding: number[] }) => embedding);
    assertEquals(rows.map((row: number[]) => Float32Array.from(row)), embeddings);
    assertEquals(body.prompt_eval_count ?? body.usage.prompt_tokens, 9);
  }
});

Deno.test("more vectors than an answer can hold are refused, with the number that fits", async () => {
  const info = { ...vectors.info, embeddingLength: 2 ** 20 };
  const { post, loaded } = createTestApp({ ...vectors, info });
  const input = new Array(9).fill("x");
  for (const path of ["/api/embed", "/v1/embeddings"]) {
    const refused = await post(path, { model: "tiny", input });
    assertEquals(refused.status, 400);
    assertMatch(
      JSON.stringify(await refused.json()),
      /9 vectors of 1048576 numbers, at most 8 fit/,
    );
  }
  assertEquals(loaded.length, 0);
  const shorter = await post("/api/embed", { model: "tiny", input, dimensions: 2 ** 19 });
  assertEquals(shorter.status, 200);
});

Deno.test("500,000 inputs are refused before the model is loaded, however short their vectors", async () => {
  const { post, loaded } = createTestApp(vectors);
  const input = new Array(500_000).fill("x");
  for (const path of ["/api/embed", "/v1/embeddings"]) {
    const refused = await post(path, { model: "tiny", input, dimensions: 1 });
    assertEquals(refused.status, 400);
    assertMatch(JSON.stringify(await refused.json()), /500000, at most 32768 are possible/);
  }
  assertEquals(loaded.length, 0);
});

/** Path, body, status, message. */
const faults: [string, unknown, number, string][] = [
  ["/api/embed", "", 400, "missing request body"],
  ["/api/embed", { input: "x" }, 400, "model is required"],
  ["/api/embed", { model: "a b", input: "x" }, 400, "invalid model name"],
  [
    "/api/embed",
    { model: "nope", input: "x" },
    404,
    'model "nope" not found, try pulling it first',
  ],
  ["/api/embed", { model: "tiny", input: 5 }, 400, "invalid input type"],
  ["/api/embed", { model: "tiny", input: ["x", 5] }, 400, "invalid input type"],
  ["/api/embed", { model: "tiny", input: [1, 2] }, 400, "invalid input type"],
  ["/api/embed", { model: "tiny", input: {} }, 400, "invalid input type"],
  ["/api/embed", { model: "tiny", input: "x", dimensions: -1 }, 400, "dimensions must be >= 0"],
  [
    "/api/embed",
    { model: "tiny", input: "x", truncate: "no" },
    400,
    "truncate must be of type boolean",
  ],
  [
    "/api/embed",
    { model: "tiny", input: "x", keep_alive: "soon" },
    400,
    'keep_alive: time: invalid duration "soon"',
  ],
  ["/api/embeddings", { model: "tiny", prompt: ["x"] }, 400, "prompt must be of type string"],
  [
    "/api/embeddings",
    { model: "nope", keep_alive: 0 },
    404,
    'model "nope" not found, try pulling it first',
  ],
  ["/v1/embeddings", { model: "tiny" }, 400, "invalid input"],
  ["/v1/embeddings", { model: "tiny", input: [] }, 400, "invalid input"],
  ["/v1/embeddings", { model: "tiny", input: [1.5] }, 400, "invalid input type"],
  ["/v1/embeddings", { model: "tiny", input: [["x"]] }, 400, "invalid input type"],
  [
    "/v1/embeddings",
    { model: "tiny", input: "x", encoding_format: "int8" },
    400,
    "Invalid value for 'encoding_format' = int8. Supported values: ['float', 'base64'].",
  ],
  [
    "/v1/embeddings",
    { model: "nope", input: "x" },
    404,
    'model "nope" not found, try pulling it first',
  ],
];

/** The body of an error on this path. */
function errorBody(path: string, status: number, message: string): unknown {
  if (!path.startsWith("/v1/")) return { error: message };
  const types: Record<number, string> = { 400: "invalid_request_error", 404: "not_found_error" };
  return { error: { message, type: types[status] ?? "api_error", param: null, code: null } };
}

Deno.test("requests that cannot be embedded get a 4xx that says why", async (t) => {
  const { post, loaded } = createTestApp(vectors);
  for (const [path, body, status, message] of faults) {
    await t.step(`${path} ${JSON.stringify(body)}: ${status}`, async () => {
      const response = await post(path, body);
      assertEquals(response.status, status);
      assertEquals(await response.json(), errorBody(path, status, message));
    });
  }
  assertEquals(loaded.length, 0);
});

Deno.test("errors of the model become statuses, and a closed model is dropped", async () => {
  const cases: [Error, number, string?][] = [
    [new ContextLengthError(600, 512), 400, "the input length exceeds the context length"],
    [new RequestError("Cannot embed: token 5000 is out of range"), 400],
    [new UnsupportedModelError("Cannot embed: no vectors"), 400],
    [new ModelClosedError("the model was closed"), 503],
    [new Error("a defect"), 500],
  ];
  for (const [error, status, message = error.message] of cases) {
    const { post, manager } = createTestApp({ ...vectors, embedder: () => Promise.reject(error) });
    for (const path of ["/api/embed", "/v1/embeddings"]) {
      const response = await post(path, { model: "tiny", input: "x", truncate: false });
      assertEquals(response.status, status);
      const answer = await response.json();
      if (error instanceof ContextLengthError && path === "/v1/embeddings") {
        assertEquals(answer.error.code, "context_length_exceeded");
        assertMatch(answer.error.message, /^This model's maximum context length is 512 tokens: /);
      } else assertEquals(answer, errorBody(path, status, message));
      assertEquals(response.headers.get("retry-after"), status === 503 ? "1" : null);
    }
    assertEquals(manager.running().length, status === 503 ? 0 : 1);
  }
});

Deno.test("an embedding ends when its client goes away, and gives the model back", async () => {
  const client = new AbortController();
  const test = createTestApp({
    ...vectors,
    embedder: ({ signal }) =>
      new Promise((_, reject) => {
        signal!.addEventListener("abort", () => reject(signal!.reason));
        client.abort();
      }),
  });
  const body = JSON.stringify({ model: "tiny", input: "x", keep_alive: 0 });
  const { signal } = client;
  const response = await test.app.request("/api/embed", { method: "POST", body, signal });
  assertEquals(response.status, 499);
  await until(() => test.manager.running().length === 0);
});

Deno.test("an embedding model says so, and refuses to chat and to generate", async () => {
  const { app, post, loaded } = createTestApp(vectors);
  const { models } = await (await app.request("/api/tags")).json();
  assertEquals(
    models.map(({ capabilities }: { capabilities: string[] }) => capabilities),
    [["embedding"], ["completion"]],
  );
  const messages = [{ role: "user", content: "Hi" }];
  const chat = await post("/api/chat", { model: "tiny", messages });
  assertEquals([chat.status, await chat.json()], [400, { error: '"tiny" does not support chat' }]);
  for (const raw of [true, false]) {
    const generate = await post("/api/generate", { model: "tiny", prompt: "x", raw });
    const error = '"tiny" does not support generate';
    assertEquals([generate.status, await generate.json()], [400, { error }]);
  }
  assertEquals(loaded.length, 0);
  const load = await post("/api/generate", { model: "tiny" });
  assertEquals([load.status, (await load.json()).done_reason], [200, "load"]);
});
