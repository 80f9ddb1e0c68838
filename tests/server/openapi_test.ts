// /openapi.json: that it is what OpenAPI 3.1 asks for, that it has every route and no other, that its
// schemas are those that requests are held against; and that the check of answers finds what is wrong.

import { Ajv2020 } from "ajv/dist/2020.js";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describeApi } from "../../server/openapi/document.ts";
import { type OpenApiDocument, operations } from "../../server/openapi/mod.ts";
import { checkResponse } from "./check_answers.ts";
import { createTestApp } from "./test_app.ts";

async function readDocument(): Promise<OpenApiDocument> {
  return await (await createTestApp().app.request("/openapi.json")).json();
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
  const references = [...descend(document.paths)].flatMap(({ $ref }) => $ref ?? []) as string[];
  assertEquals(
    [...new Set(references)].sort(),
    names.map((name) => `#/components/schemas/${name}`).sort(),
  );
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item) as { summary: string; responses: object }[]) {
      assert(operation.summary.endsWith("."), operation.summary);
      assertEquals(Object.keys(operation.responses), ["200", "default"]);
    }
  }
});

Deno.test("its schemas are sound JSON Schemas of draft 2020-12", async () => {
  const { components } = await readDocument();
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const [name, schema] of Object.entries(components.schemas)) {
    assert(ajv.validateSchema(schema), `${name}: ${ajv.errorsText()}`);
    ajv.compile(schema);
  }
});

Deno.test("it has every route of the application, and no other", async () => {
  const document = await readDocument();
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    // Routes of HEAD alone are those of GET, which they refuse.
    Object.keys(item).map((method) => `${method.toUpperCase().replace("HEAD", "GET")} ${path}`)
  );
  const { app } = createTestApp();
  const routes = app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) =>
    `${method} ${path.replace(/:(\w+)(\{.*?\})?/g, "{$1}")}`
  );
  assertEquals(described.sort(), [...new Set(routes)].sort());
});

Deno.test("what the document's request schemas refuse, the server refuses, and what they take it takes", async () => {
  const { components } = await readDocument();
  const ajv = new Ajv2020({ strict: false });
  const messages = [{ role: "user", content: "Hi" }];
  const bodies: [string, string, unknown][] = [
    ["ChatRequest", "/api/chat", { model: "tiny", messages, stream: false }],
    ["ChatRequest", "/api/chat", { model: "tiny", messages, stream: "no" }],
    ["ChatRequest", "/api/chat", { model: "tiny", messages: [{ content: "Hi" }] }],
    ["GenerateRequest", "/api/generate", { model: "tiny", prompt: "x", stream: false }],
    ["GenerateRequest", "/api/generate", { model: "tiny", options: { seed: "x" } }],
    ["EmbedRequest", "/api/embed", { model: "tiny", input: "x" }],
    ["EmbedRequest", "/api/embed", { model: "tiny", input: "x", dimensions: -1 }],
  ];
  for (const [name, path, body] of bodies) {
    const { status } = await createTestApp().post(path, body);
    const isValid = ajv.validate(components.schemas[name]!, body);
    assertEquals([path, body, isValid ? 200 : 400], [path, body, status]);
  }
});

Deno.test("describeApi() refuses two schemas of one name", () => {
  const [first] = operations;
  const other = { ...first!, path: "/x", error: { name: "Error", schema: {} } };
  assertThrows(() => describeApi([...operations, other], "1"), TypeError, '"Error"');
});

Deno.test("describeApi() names the parameters of a path", () => {
  const [first] = operations;
  const { paths } = describeApi([{ ...first!, path: "/v1/models/{model}" }], "1");
  assertEquals((paths["/v1/models/{model}"]!.get as { parameters: unknown }).parameters, [
    { name: "model", in: "path", required: true, schema: { type: "string" } },
  ]);
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
