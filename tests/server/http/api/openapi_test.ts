// /openapi.json: that it is what OpenAPI 3.1 asks for, also in the eyes of others' tools, that it has
// every route and no other, that its schemas are those that requests are held against and its examples
// work; and that the check of answers finds what is wrong.

import { Ajv2020 } from "ajv/dist/2020.js";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { ResponseStore } from "../../../../server/http/response_store.ts";
import { describeApi } from "../../../../server/http/api/openapi/document.ts";
import type { OpenApiDocument } from "../../../../server/http/api/openapi/document.ts";
import { operations } from "../../../../server/http/api/routes.ts";
import { checkResponse } from "./check_answers.ts";
import { createTestApp } from "../../test_app.ts";

async function readDocument(): Promise<OpenApiDocument> {
  return await (await createTestApp().app.request("/openapi.json")).json();
}

/** An operation, as far as it is looked at here. */
interface DescribedOperation {
  operationId: string;
  summary: string;
  tags: string[];
  responses: Record<string, { content?: Record<string, object> }>;
  requestBody?: { content?: Record<string, object> };
  security?: object[];
}

/** What needs a store of models, which the application under test has none of. */
const MODEL_STORE = [
  "/api/control_vectors",
  "/api/show",
  "/api/create",
  "/api/copy",
  "/api/delete",
  "/api/pull",
  "/api/push",
  "/api/v1/models/download",
];

/** What compiles the schemas of a document by their names. */
function compiler(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false });
  ajv.addSchema(document, "document");
  return (name: string) => ajv.compile({ $ref: `document#/components/schemas/${name}` });
}

/** Every value below, with those of its descendants. */
function* descend(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  yield value as Record<string, unknown>;
  for (const child of Object.values(value)) yield* descend(child);
}

Deno.test("GET /openapi.json is an OpenAPI 3.1 document whose references lead somewhere", async () => {
  const document = await readDocument();
  assert(/^3\.1\.\d+$/.test(document.openapi));
  assertEquals([document.info.title, document.info.version], ["Quern", "1.2.3"]);
  const names = Object.keys(document.components.schemas);
  const references = [...descend(document)].flatMap(({ $ref }) => $ref ?? []) as string[];
  assertEquals(
    [...new Set(references)].sort(),
    names.map((name) => `#/components/schemas/${name}`).sort(),
  );
});

Deno.test("every operation has an id of its own, a sentence, a tag and the errors of its kind", async () => {
  const { paths, tags, security, components } = await readDocument();
  const ids = new Set<string>();
  const common = { 401: true, 403: true, 503: true, default: true };
  for (const [path, item] of Object.entries(paths)) {
    for (const operation of Object.values(item) as DescribedOperation[]) {
      const { operationId, summary, responses, requestBody } = operation;
      assertMatch(operationId, /^[a-z][A-Za-z]+$/);
      assert(!ids.has(operationId), operationId);
      ids.add(operationId);
      assert(summary.endsWith("."), summary);
      assert(tags.some(({ name }) => operation.tags[0] === name), path);
      const expected = operation.security?.length === 0
        ? { 403: true, default: true }
        : { ...common, ...(requestBody && { 400: true, 408: true, 413: true, 415: true }) };
      // Of what has no answer, 204 says that it is done, and 101 that it is a WebSocket.
      assert(["200", "204", "101"].some((status) => status in responses), path);
      for (const status of Object.keys(expected)) assert(status in responses, `${path} ${status}`);
    }
  }
  assertEquals(security, [{ bearer: [] }, { apiKey: [] }, {}]);
  assertEquals(Object.keys(components.securitySchemes), ["bearer", "apiKey"]);
});

Deno.test("every member of requests and answers says what it is, and every body has an example", async () => {
  const { components, paths } = await readDocument();
  const unclear = Object.entries(components.schemas).flatMap(([component, schema]) =>
    [...descend(schema)].flatMap(({ properties }) =>
      Object.entries((properties ?? {}) as Record<string, Record<string, unknown>>)
        .filter(([, member]) => typeof member === "object" && member !== null)
        .filter(([, { description, const: fixed }]) => !description && fixed === undefined)
        .map(([name]) => `${component}.${name}`)
    )
  );
  assertEquals(unclear, []);
  for (const [path, item] of Object.entries(paths)) {
    for (const operation of Object.values(item) as DescribedOperation[]) {
      const parts = [operation.requestBody, ...Object.values(operation.responses)];
      for (const [type, media] of parts.flatMap((part) => Object.entries(part?.content ?? {}))) {
        assert("example" in media || type === "application/octet-stream", `${path} ${type}`);
      }
    }
  }
});

Deno.test("the tools of others find nothing to object to", async () => {
  const text = await (await createTestApp().app.request("/openapi.json")).text();
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source: text, config });
  assertEquals(problems.map(({ message, location: [at] }) => `${at?.pointer}: ${message}`), []);
  const { valid, errors } = await new Validator().validate(JSON.parse(text));
  assertEquals([valid, errors], [true, undefined]);
});

Deno.test("its schemas are sound JSON Schemas of draft 2020-12", async () => {
  const document = await readDocument();
  const schemaOf = compiler(document);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    assert(ajv.validateSchema(schema), `${name}: ${ajv.errorsText()}`);
    schemaOf(name);
  }
});

Deno.test("it has every route of the application, and no other", async () => {
  const document = await readDocument();
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    // Routes of HEAD are those of GET.
    Object.keys(item).filter((method) => method !== "head")
      .map((method) => `${method.toUpperCase()} ${path}`)
  );
  const { app } = createTestApp();
  const routes = app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) =>
    `${method} ${path.replace(/:(\w+)(\{.*?\})?/g, "{$1}")}`
  );
  assertEquals(described.sort(), [...new Set(routes)].sort());
});

Deno.test("what the document's request schemas refuse, the server refuses, and what they take it takes", async () => {
  const schemaOf = compiler(await readDocument());
  const messages = [{ role: "user", content: "Hi" }];
  const bodies: [string, string, unknown][] = [
    ["ChatRequest", "/api/chat", { model: "tiny", messages, stream: false }],
    ["ChatRequest", "/api/chat", { model: "tiny", messages, stream: "no" }],
    ["ChatRequest", "/api/chat", { model: "tiny", messages: [{ content: "Hi" }] }],
    ["GenerateRequest", "/api/generate", { model: "tiny", prompt: "x", stream: false }],
    ["GenerateRequest", "/api/generate", { model: "tiny", options: { seed: "x" } }],
    ["EmbedRequest", "/api/embed", { model: "tiny", input: "x" }],
    ["EmbedRequest", "/api/embed", { model: "tiny", input: "x", dimensions: -1 }],
    ["MessagesRequest", "/v1/messages", { model: "tiny", max_tokens: 9, messages }],
    ["MessagesRequest", "/v1/messages", {
      model: "tiny",
      max_tokens: 9,
      messages: [{ role: "user", content: [{ type: "tool_result", content: [{ text: "x" }] }] }],
    }],
  ];
  for (const [name, path, body] of bodies) {
    const { status } = await createTestApp().post(path, body);
    const isValid = schemaOf(name)(body);
    assertEquals([path, body, isValid ? 200 : 400], [path, body, status]);
  }
});

Deno.test("every example of a body is answered as the document says", async () => {
  const uses = operations.filter(({ body, path }) => body && !MODEL_STORE.includes(path));
  assert(uses.length >= 10, `${uses.length}`);
  const folder = await Deno.makeTempDir();
  const bounds = { count: 9, bytes: 1e6, age: 3_600_000 };
  const responses = new ResponseStore({ folder, warn() {}, ...bounds });
  for (const { method, path, body, parameters = [] } of uses) {
    const query = parameters.some(({ name }) => name === "model") ? "?model=tiny" : "";
    const text = JSON.stringify(body!.example).replaceAll("quern:tiny", "tiny");
    const isEmbedding = path.includes("embed");
    const { app, manager } = createTestApp(
      { info: { isEmbeddingModel: isEmbedding, fillsInMiddle: true } },
      { responses },
    );
    const memory = { weights: 3, keyValueCache: 2, scratch: 1 };
    manager.estimate = () =>
      Promise.resolve({ memory, contextLength: 9, isShrunk: false, total: 9 });
    const response = await app.request(path + query, { method, body: text });
    // Those that change something would need to know what there is.
    assertEquals([path, response.status], [path, path.includes("{") ? 404 : 200]);
    await response.text();
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("describeApi() refuses two schemas of one name, and two operations of one id", () => {
  const [first] = operations;
  const error = { ...first!.error, schema: {} };
  const other = { ...first!, id: "other", path: "/x", error };
  assertThrows(() => describeApi([...operations, other], [], "1"), TypeError, '"Error"');
  const again = { ...first!, path: "/x" };
  assertThrows(() => describeApi([...operations, again], [], "1"), TypeError, `"${first!.id}"`);
});

Deno.test("describeApi() names the parameters of a path", () => {
  const [first] = operations;
  const { paths } = describeApi([{ ...first!, path: "/x/{model}/{part}" }], [], "1");
  const { parameters } = paths["/x/{model}/{part}"]!.get as { parameters: object[] };
  assertEquals(
    parameters.map((each) => ({ ...each, description: "", example: "" })),
    [
      { name: "model", in: "path", required: true, schema: { type: "string" } },
      { name: "part", in: "path", required: true, schema: { type: "string" } },
    ].map((each) => ({ ...each, description: "", example: "" })),
  );
});

Deno.test("the check of answers finds a wrong body, a wrong line, and a wrong type", async () => {
  const version = { method: "GET", url: "http://localhost/api/version?x=1" };
  const chat = { method: "POST", url: "http://localhost/api/chat" };
  const json = { headers: { "content-type": "application/json; charset=utf-8" } };
  const lines = { headers: { "content-type": "application/x-ndjson" } };
  const told = '{"version":"1","quern_version":"2"}';
  const read = (asked: typeof chat, body: string, init: ResponseInit) =>
    checkResponse(asked, new Response(body, init)).text();

  assertEquals(await read(version, told, json), told);
  await assertRejects(() => read(version, told.replace('"1"', "1"), json), Error, "no Version");
  await assertRejects(() => read(version, told.replace("}", ',"x":1}'), json), Error, "additional");
  await assertRejects(() => read(version, '{"error":1}', { ...json, status: 400 }), Error, "Error");
  const part = '{"model":"m","created_at":"2026-11-21T10:00:00Z","done":false,' +
    '"message":{"role":"assistant","content":"é"}}\n';
  assertEquals(await read(chat, part + '{"error":"x"}\n', lines), part + '{"error":"x"}\n');
  await assertRejects(() => read(chat, part + "{}\n", lines), Error, "no ChatLine");
  await assertRejects(() => read(chat, part + part.slice(0, 9), lines), Error, "no JSON");
  await assertRejects(() => read(chat, part.replace("T10:", " 10:"), lines), Error, "date-time");
  await assertRejects(
    async () => await read(chat, "<p>", { headers: { "content-type": "text/html" } }),
    Error,
    "an answer of text/html is not described",
  );
});
