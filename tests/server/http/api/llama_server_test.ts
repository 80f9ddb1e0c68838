// llama-server's own routes, with right and wrong input.

import { assertEquals, assertMatch } from "@std/assert";
import { createBoxApp } from "../../tiny_app.ts";
import { says } from "../../fake_model.ts";
import { createTestApp } from "../../test_app.ts";

const { app } = await createBoxApp();

async function post(path: string, body: object) {
  const response = await app.request(path, { method: "POST", body: JSON.stringify(body) });
  return await response.json();
}

Deno.test("tokens of a text become that text again, with and without what is around it", async () => {
  const content = "Hällo 🐦 <|im_end|>";
  const { tokens } = await post("/tokenize", { content });
  assertEquals(await post("/detokenize", { tokens }), { content });
  const { tokens: plain } = await post("/tokenize", { content, parse_special: false });
  assertEquals([
    plain.length > tokens.length,
    (await post("/detokenize", { tokens: plain })).content,
  ], [
    true,
    content,
  ]);
  const { tokens: pieces } = await post("/tokenize", { content, with_pieces: true });
  assertEquals(pieces.map(({ id }: { id: number }) => id), tokens);
  const bytes = pieces.flatMap(({ piece }: { piece: string | number[] }) =>
    typeof piece === "string" ? [...new TextEncoder().encode(piece)] : piece
  );
  assertEquals(new TextDecoder().decode(Uint8Array.from(bytes)), content);
});

Deno.test("/apply-template lays a conversation out, and runs nothing", async () => {
  const { prompt } = await post("/apply-template", {
    messages: [{ role: "system", content: "Be kind." }, { role: "user", content: "Hi" }],
  });
  assertMatch(prompt, /Be kind\.[^]*Hi[^]*assistant/);
});

Deno.test("/completion continues a text as it is, whole or in pieces", async () => {
  const script = says("Hel", "lo");
  const test = createTestApp({ script }, {});
  const body = { model: "tiny", prompt: "Say: ", n_predict: 7 };
  const whole = await (await test.post("/completion", body)).json();
  assertEquals([whole.content, whole.stop, whole.stop_type], ["Hello", true, "eos"]);
  assertEquals([whole.tokens_evaluated, whole.tokens_cached, whole.timings.cache_n], [11, 4, 4]);
  const { kind, request } = test.loaded[0]!.requests[0]!;
  assertEquals([kind, "prompt" in request && request.prompt, request.maxTokens], [
    "generate",
    "Say: ",
    7,
  ]);
  const events = await (await test.post("/completion", { ...body, stream: true })).text();
  const data = events.trim().split("\n\n").map((event) => JSON.parse(event.slice(6)));
  assertEquals(data.map(({ content, stop }) => [content, stop]), [
    ["Hel", false],
    ["lo", false],
    ["", true],
  ]);
});

Deno.test("/infill gives what is around a gap to a model that fills it", async () => {
  const test = createTestApp({ info: { fillsInMiddle: true } });
  const body = {
    model: "tiny",
    input_extra: [{ filename: "a.py", text: "import b" }],
    input_prefix: "def f():\n",
    input_suffix: "\n  return x",
    prompt: "  x = ",
  };
  assertEquals((await test.post("/infill", body)).status, 200);
  const { request } = test.loaded[0]!.requests[0]!;
  assertEquals("suffix" in request && [request.prompt, request.suffix], [
    "a.py\nimport b\ndef f():\n  x = ",
    "\n  return x",
  ]);
  const { error } = await (await createTestApp().post("/infill", body)).json();
  assertEquals([error.param, error.message], ["model", '"tiny" does not support insert']);
});

Deno.test("/props tells of the model, loaded or not", async () => {
  const { app } = await createBoxApp();
  const get = async (path: string) => await (await app.request(path)).json();
  const before = await get("/props");
  assertEquals([before.is_loaded, before.total_slots], [false, undefined]);
  assertEquals(before.modalities, { vision: false, audio: false });
  assertMatch(before.chat_template, /\{%/);
  const body = JSON.stringify({ model: "quern:tiny", options: { num_ctx: 512 } });
  await app.request("/api/generate", { method: "POST", body });
  const loaded = await get("/props?model=quern:tiny");
  assertEquals([loaded.is_loaded, loaded.total_slots > 0], [true, true]);
  assertEquals(loaded.default_generation_settings, before.default_generation_settings);
});

Deno.test("/slots tells which places of a loaded model are at work", async () => {
  const { app, post } = createTestApp({ contextLength: 4096 });
  const get = async (path: string) => await (await app.request(path)).json();
  assertEquals(await get("/slots?model=tiny"), []);
  await post("/api/generate", { model: "tiny" });
  const slot = (id: number) => ({ id, n_ctx: 4096, is_processing: id === 0 });
  assertEquals(await get("/slots"), [0, 1, 2, 3].map(slot));
});

Deno.test("a request that does not say which of several models is told so", async () => {
  const { post } = createTestApp();
  const response = await post("/tokenize", { content: "Hi" });
  assertEquals(response.status, 400);
  const { error } = await response.json();
  assertEquals(
    [error.param, error.message],
    ["model", "model is required, in the body or the query: there are tiny:latest, story:latest"],
  );
  await post("/api/generate", { model: "tiny" });
  assertEquals(await (await post("/tokenize", { content: "Hi" })).json(), { tokens: [0, 1] });
  const queried = await post("/tokenize?model=story", { content: "Hi" });
  assertEquals(queried.status, 200);
  await queried.body?.cancel();
});

const wrong: [path: string, body: object, member: string, message: RegExp][] = [
  ["/tokenize", {}, "content", /^content is required/],
  ["/tokenize", { content: "x".repeat(2 ** 18 + 1) }, "content", /over 262144 characters/],
  ["/tokenize", { content: 5 }, "content", /content/],
  ["/tokenize", { content: "x", with_piece: true }, "with_piece", /with_pieces/],
  ["/detokenize", {}, "tokens", /^tokens is required/],
  ["/detokenize", { tokens: ["a"] }, "tokens[0]", /tokens/],
  ["/completion", {}, "prompt", /^prompt is required/],
  ["/completion", { prompt: "x", n_predikt: 3 }, "n_predikt", /n_predict/],
  ["/infill", { input_prefix: 5 }, "input_prefix", /input_prefix/],
  ["/apply-template", { messages: "Hi" }, "messages", /messages/],
];

for (const [path, body, member, message] of wrong) {
  const name = JSON.stringify(body).slice(0, 40);
  Deno.test(`POST ${path} refuses ${name} and names the member`, async () => {
    const { post } = createTestApp();
    const response = await post(path, { model: "tiny", ...body });
    assertEquals(Math.floor(response.status / 100), 4);
    const { error } = await response.json();
    assertMatch(error.message, message);
    if (error.param !== null) assertEquals(error.param, member);
  });
}

Deno.test("an id that is no token is refused", async () => {
  const { error } = await post("/detokenize", { tokens: [1, 10_000_000] });
  assertMatch(error.message, /token 10000000: the vocabulary has 0 to \d+/);
});
