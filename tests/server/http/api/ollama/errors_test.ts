// What clients do wrong and what goes wrong before the first token: status and sentence of each.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  ChatTemplateError,
  ContextLengthError,
  EngineError,
  GgufError,
  GpuMemoryError,
  ModelClosedError,
  NotFiniteError,
  RequestError,
  TokenizerError,
  UnsupportedModelError,
} from "../../../../../engine/mod.ts";
import { failsAfter, says, saysForever } from "../../../fake_model.ts";
import { createTestApp } from "../../../test_app.ts";
import { until } from "../../../../until.ts";

const messages = [{ role: "user", content: "Hi" }];
const image = "iVBORw0KGgo=";

type Fault = [path: string, body: unknown, status: number, sentence: string];

const faults: Fault[] = [
  ["/api/chat", "", 400, "missing request body"],
  ["/api/chat", " \n", 400, "missing request body"],
  ["/api/chat", "{x", 400, "invalid JSON"],
  ["/api/chat", [], 400, "request body must be of type object"],
  ["/api/chat", { messages }, 400, "model is required"],
  ["/api/chat", { model: "", messages }, 400, "model is required"],
  ["/api/generate", { prompt: "x" }, 400, "model is required"],
  ["/api/chat", { model: 5, messages }, 400, "model must be of type string"],
  ["/api/chat", { model: "a b", messages }, 400, "invalid model name"],
  ["/api/chat", { model: "../tiny", messages }, 400, "invalid model name"],
  ["/api/chat", { model: "x:cloud:local", messages }, 400, "use either :local or :cloud, not both"],
  ["/api/chat", { model: "gpt-oss:120b-cloud", messages }, 403, "cloud is disabled"],
  ["/api/chat", { model: "nope", messages }, 404, "model 'nope' not found"],
  ["/api/generate", { model: "nope", prompt: "x" }, 404, "model 'nope' not found"],
  ["/api/generate", { model: "/etc/x.gguf", prompt: "x" }, 404, "model '/etc/x.gguf' not found"],
  ["/api/chat", { model: "nope", messages: [], keep_alive: 0 }, 404, "model 'nope' not found"],
  ["/api/chat", { model: "tiny", messages: "Hi" }, 400, "messages must be of type array"],
  ["/api/chat", { model: "tiny", messages: ["Hi"] }, 400, "messages[0] must be of type object"],
  ["/api/chat", { model: "tiny", messages: [{ content: "x" }] }, 400, 'messages[0] lacks "role"'],
  [
    "/api/chat",
    { model: "tiny", messages: [{ role: "user", content: 1 }] },
    400,
    "messages[0].content must",
  ],
  [
    "/api/chat",
    { model: "tiny", messages: [{ role: "bot" }] },
    400,
    "messages[0].role must be one of system",
  ],
  ["/api/chat", { model: "tiny", messages, stream: "no" }, 400, "stream must be of type boolean"],
  [
    "/api/chat",
    { model: "tiny", messages, options: { seed: "x" } },
    400,
    'option "seed" must be of type integer',
  ],
  [
    "/api/chat",
    { model: "tiny", messages, options: { seed: 1.5 } },
    400,
    'option "seed" must be of type integer',
  ],
  [
    "/api/chat",
    { model: "tiny", messages, options: { temperature: "hot" } },
    400,
    'option "temperature" must be of type number',
  ],
  [
    "/api/chat",
    { model: "tiny", messages, options: { stop: "x" } },
    400,
    'option "stop" must be of type array',
  ],
  [
    "/api/chat",
    { model: "tiny", messages, options: { stop: [1] } },
    400,
    'option "stop[0]" must be of type string',
  ],
  ["/api/chat", { model: "tiny", messages, options: [] }, 400, "options must be of type object"],
  [
    "/api/chat",
    { model: "tiny", messages, keep_alive: "soon" },
    400,
    'keep_alive: time: invalid duration "soon"',
  ],
  [
    "/api/chat",
    { model: "tiny", messages, keep_alive: true },
    400,
    "keep_alive must be of type string or number",
  ],
  [
    "/api/chat",
    { model: "tiny", messages, format: "xml" },
    400,
    'invalid format: "xml"; expected "json"',
  ],
  [
    "/api/chat",
    { model: "tiny", messages, format: [] },
    400,
    'invalid format: []; expected "json" or a valid JSON Schema object',
  ],
  [
    "/api/generate",
    { model: "tiny", prompt: "x", format: true },
    400,
    "invalid format: true",
  ],
  ["/api/chat", { model: "tiny", messages, think: true }, 400, '"tiny" does not support thinking'],
  ["/api/chat", { model: "tiny", messages, think: "max" }, 400, '"tiny" does not support thinking'],
  ["/api/chat", { model: "tiny", messages, think: "hard" }, 400, 'invalid think value: "hard"'],
  ["/api/chat", { model: "tiny", messages, think: 5 }, 400, "invalid think value: 5"],
  [
    "/api/chat",
    { model: "tiny", messages, top_logprobs: 21 },
    400,
    "top_logprobs must be between 0 and 20",
  ],
  [
    "/api/chat",
    { model: "tiny", messages, tools: [{ type: "function" }] },
    400,
    'tools[0] lacks "function"',
  ],
  [
    "/api/chat",
    { model: "tiny", messages, tools: [{ type: "function", function: { name: "f" } }] },
    400,
    '"tiny" does not support tools',
  ],
  [
    "/api/chat",
    { model: "tiny", messages: [{ ...messages[0], images: [image] }] },
    400,
    '"tiny" does not support image input',
  ],
  [
    "/api/generate",
    { model: "tiny", prompt: "x", images: [image] },
    400,
    '"tiny" does not support image input',
  ],
  [
    "/api/generate",
    { model: "tiny", prompt: "x", suffix: "y" },
    400,
    '"tiny" does not support insert',
  ],
  ...[{ system: "y" }, { template: "y" }, { context: [1] }].map((given): Fault => [
    "/api/generate",
    { model: "tiny", prompt: "x", raw: true, ...given },
    400,
    "raw mode does not support template, system, or context",
  ]),
  ...([
    ["no base64!", "messages[0].images[0]: illegal base64 data at input byte 2"],
    ["aGVsbG8", "messages[0].images[0]: illegal base64 data at input byte 7"],
    ["https://example.com/cat.png", "base64 data at input byte 5: send the bytes of the image as"],
    ["data:image/png;base64,aGVsbG8=", "illegal base64 data at input byte 4"],
    ["./cat.png", "illegal base64 data at input byte 0"],
    ["aGVs\r\nbG8=", '"tiny" does not support image input'],
    ["", '"tiny" does not support image input'],
    [1, "messages[0].images[0] must be of type string"],
  ] as const).map(([given, sentence]): Fault => [
    "/api/chat",
    { model: "tiny", messages: [{ ...messages[0], images: [given] }] },
    400,
    sentence,
  ]),
  ["/api/chat", { model: "tiny", messages, top_logprobs: -1 }, 400, "must be between 0 and 20"],
];

Deno.test("requests that cannot be answered get a 4xx that says why", async (t) => {
  const { post, loaded } = createTestApp();
  for (const [path, body, status, sentence] of faults) {
    await t.step(`${path} ${JSON.stringify(body)}: ${status}`, async () => {
      const response = await post(path, body);
      assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
      const { error, ...rest } = await response.json();
      assertStringIncludes(error, sentence);
      assertEquals([response.status, rest], [status, {}]);
    });
  }
  assertEquals(loaded.length, 0);
});

Deno.test("members that are null or empty are taken as not given, known or not", async () => {
  const { post } = createTestApp();
  const nothing = {
    format: null,
    think: null,
    tools: [],
    keep_alive: null,
    options: null,
    raw: null,
  };
  const empty = { format: "", suffix: "", template: "", images: [], context: [], surprise: "" };
  const chat = await post("/api/chat", { model: "tiny", messages, stream: false, ...nothing });
  assertEquals(chat.status, 200);
  const generate = { model: "tiny", prompt: "x", stream: false, ...nothing, ...empty };
  assertEquals((await post("/api/generate", generate)).status, 200);
});

Deno.test("errors of the engine before the first token become statuses", async () => {
  const cases: [Error, number][] = [
    [new ContextLengthError(5000, 4096), 400],
    [new RequestError("top_p: out of range"), 400],
    [new UnsupportedModelError("Cannot run the model: no such architecture"), 400],
    [new NotFiniteError("logits"), 400],
    [new ChatTemplateError("failed", "no such filter"), 400],
    [new TokenizerError("no vocabulary"), 400],
    [new GgufError("a.gguf", "magic", "not GGUF"), 400],
    [new GpuMemoryError("weights", 9 * 2 ** 30, "there is no more memory"), 500],
    [new EngineError("something else"), 500],
    [new ModelClosedError("the model was closed"), 503],
    [new Error("a defect"), 500],
  ];
  for (const [error, status] of cases) {
    const { post } = createTestApp({ script: failsAfter([], error) });
    for (const stream of [true, false]) {
      const response = await post("/api/chat", { model: "tiny", messages, stream });
      assertEquals([response.status, await response.json()], [status, { error: error.message }]);
      assertEquals(response.headers.get("retry-after"), status === 503 ? "1" : null);
    }
  }
});

Deno.test("a generation that ends without a result is an error, not an empty answer", async () => {
  const { post } = createTestApp({ script: async function* () {} });
  const response = await post("/api/chat", { model: "tiny", messages });
  assertEquals(response.status, 500);
  assertStringIncludes((await response.json()).error, "ended without a result");
});

Deno.test("requests beyond the queue get 503 until one has its first token", async () => {
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const { post, lines } = createTestApp({
    script: async function* (request) {
      waiting++;
      await gate.promise;
      yield* says("ok")(request);
    },
  }, { maxQueue: 2 });
  const ask = () => post("/api/chat", { model: "tiny", messages, stream: false });
  const admitted = [ask(), ask()];
  await until(() => waiting === 2);
  const refused = await ask();
  assertEquals([refused.status, refused.headers.get("retry-after")], [503, "1"]);
  assertStringIncludes((await refused.json()).error, "server busy, please try again");
  // A line of access, and no fault: hundreds may be sent away at once.
  assertEquals(lines.map((line) => / 503 /.test(line) && !/HttpError/.test(line)), [true]);
  gate.resolve();
  for (const answer of admitted) assertEquals((await answer).status, 200);
  assertEquals((await ask()).status, 200);
});

Deno.test("a stream that is being read holds no place in the queue", async () => {
  const { post } = createTestApp({ script: saysForever() }, { maxQueue: 1 });
  const streams = [];
  for (let i = 0; i < 3; i++) streams.push(await post("/api/chat", { model: "tiny", messages }));
  assertEquals(streams.map(({ status }) => status), [200, 200, 200]);
  for (const { body } of streams) await body!.cancel();
});

Deno.test("a body over the limit gets 413, with and without Content-Length", async () => {
  const { app, lines } = createTestApp({}, { maxBodyBytes: 100 });
  const text = JSON.stringify({ model: "tiny", prompt: "x".repeat(200) });
  const stream = new Blob([text]).stream();
  const sized = { "content-length": String(text.length) };
  for (const init of [{ body: text, headers: sized }, { body: stream }, { body: text }]) {
    const response = await app.request("/api/generate", { method: "POST", ...init });
    assertEquals(response.status, 413);
    assertStringIncludes((await response.json()).error, "larger than 100 bytes");
  }
  assertEquals(lines.length, 3);
});

Deno.test("errors of a model's files name them without their folders", async () => {
  const cases: [Error, string][] = [
    [new GgufError("/home/me/models/a b.gguf", "magic", "not GGUF"), '"a b.gguf": magic'],
    [new GgufError("C:\\models\\a.gguf", "magic", "not GGUF"), '"a.gguf": magic'],
    [
      new UnsupportedModelError('Cannot load "/a.gguf": it has "rope/yarn"'),
      'Cannot load "a.gguf": it has "rope/yarn"',
    ],
  ];
  for (const [error, sentence] of cases) {
    const { post } = createTestApp({ script: failsAfter([], error) });
    for (
      const [path, body] of [["/api/chat", {}], ["/v1/chat/completions", {}], ["/v1/messages", {
        max_tokens: 9,
      }]] as const
    ) {
      const response = await post(path, { model: "tiny", messages, stream: false, ...body });
      const text = JSON.stringify(await response.json());
      assertStringIncludes(text, JSON.stringify(sentence).slice(1, -1));
      assert(!text.includes("models"), text);
    }
  }
});
