// num_ctx in every dialect, where a larger or a smaller window is loaded already: it bounds the request
// that names it, and no other.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { createTinyApp } from "../../tiny_app.ts";

const { app } = await createTinyApp("num_ctx");
const LARGE = 1024;
const SMALL = 512;
/** A token per byte. */
const LONG = "word ".repeat(120);

async function post(path: string, body: object) {
  const response = await app.request(path, { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

await post("/api/generate", { model: "tools", options: { num_ctx: LARGE } });

const limits = { model: "tools", stream: false };
const messages = [{ role: "user", content: LONG }];
/** A request of each path whose prompt is longer than the small window. */
const dialects: [path: string, body: Record<string, unknown>][] = [
  ["/api/chat", { messages }],
  ["/api/generate", { prompt: LONG }],
  ["/api/generate", { prompt: LONG, raw: true }],
  ["/v1/chat/completions", { messages, max_tokens: 3 }],
  ["/v1/completions", { prompt: LONG, max_tokens: 3 }],
  ["/v1/responses", { input: LONG, max_output_tokens: 16 }],
  ["/v1/messages", { messages, max_tokens: 3 }],
];

for (const [path, body] of dialects) {
  Deno.test(`POST ${path} of ${Object.keys(body)} is refused at its own num_ctx`, async () => {
    const options = { temperature: 0, num_predict: 3 };
    const whole = await post(path, { ...limits, ...body, options });
    assertEquals(whole.status, 200, JSON.stringify(whole.body));
    const cut = await post(path, { ...limits, ...body, options: { ...options, num_ctx: SMALL } });
    assertEquals(cut.status, 400);
    assertMatch(JSON.stringify(cut.body), /the window 512|> 512 maximum/);
  });
}

for (const [path, body] of [...dialects, ["/api/embed", { input: LONG }] as const]) {
  Deno.test(`POST ${path} of ${Object.keys(body)} has the default window after a smaller num_ctx`, async () => {
    await post("/api/generate", { model: "tools", keep_alive: 0 });
    const small = await post("/api/generate", { ...limits, options: { num_ctx: SMALL } });
    assertEquals([small.status, await loadedWindow()], [200, SMALL]);
    const options = { temperature: 0, num_predict: 3 };
    const whole = await post(path, { ...limits, ...body, options });
    assertEquals(whole.status, 200, JSON.stringify(whole.body));
    const { prompt_eval_count: read } = whole.body;
    assert(read === undefined || read > SMALL, `${read} tokens were read`);
    // The small window fits into it.
    await post("/api/generate", { ...limits, options: { num_ctx: SMALL } });
    assertEquals(await loadedWindow(), LARGE);
  });
}

async function loadedWindow(): Promise<number> {
  const { models } = await (await app.request("/api/ps")).json();
  return models[0].context_length;
}

Deno.test("a conversation is cut at num_ctx with a notice, and refused with truncate false", async () => {
  const turns = Array.from(
    { length: 6 },
    (_, i) => ({ role: "user", content: `${i} `.repeat(60) }),
  );
  const chat = { ...limits, messages: turns };
  const options = { temperature: 0, num_predict: 3 };
  const whole = await post("/api/chat", { ...chat, options });
  assertEquals(whole.body.dropped_messages, undefined);
  const small = { ...options, num_ctx: SMALL };
  const cut = await post("/api/chat", { ...chat, options: small });
  const { dropped_messages: count, dropped_indexes: which } = cut.body;
  assert(count > 1);
  assertEquals(which, Array.from({ length: count }, (_, index) => index));
  const system = { role: "system", content: "Be short." };
  const openai = { ...limits, messages: [system, ...turns], options: small, truncate: true };
  const other = await post("/v1/chat/completions", openai);
  const { dropped_messages, dropped_indexes } = other.body;
  assert(dropped_messages >= count, JSON.stringify(other.body));
  assertEquals(dropped_indexes, Array.from({ length: dropped_messages }, (_, i) => i + 1));
  assert(cut.body.prompt_eval_count < SMALL);
  const refused = await post("/api/chat", { ...chat, truncate: false, options: small });
  assertEquals(refused.status, 400);
});

Deno.test("an answer ends with length where prompt and answer fill num_ctx", async () => {
  const options = { temperature: 0, num_ctx: 64 };
  const body = { ...limits, prompt: "x".repeat(50), raw: true, options };
  const { body: answer } = await post("/api/generate", body);
  const total = answer.prompt_eval_count + answer.eval_count;
  assertEquals([answer.done_reason, total], ["length", 64]);
});

Deno.test("texts to embed are cut at num_ctx, and refused with truncate false", async () => {
  const options = { num_ctx: SMALL };
  const cut = await post("/api/embed", { model: "tools", input: LONG, options });
  assertEquals(cut.body.prompt_eval_count, SMALL);
  const refused = await post("/api/embed", {
    model: "tools",
    input: LONG,
    truncate: false,
    options,
  });
  assertEquals(refused.status, 400);
});
