// What the native API and OpenAI's tell of tokens, go on from and fill in: what reaches the engine, what
// stands in the records, and all of it over the tiny model.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createApp } from "../../../../server/http/app.ts";
import { createLog } from "../../../../server/log.ts";
import type { ChatEvent, TokenLogprob } from "../../../../engine/mod.ts";
import { inspectModel, loadModel, ModelManager, ModelStore } from "../../../../engine/mod.ts";
import { folder, pathOf, tinyLoad } from "../../../engine/harness.ts";
import { GAP_TOKENS, TOOL_TEMPLATE, writeTinyLlama } from "../../../tiny_model.ts";
import { checkAnswers } from "./check_answers.ts";
import { fakeUsage } from "../../fake_model.ts";
import { gives, messages, readEvents } from "./openai/openai_scripts.ts";
import { createTestApp, readLines } from "../../test_app.ts";

const encoder = new TextEncoder();

function told(token: string, logprob: number): TokenLogprob {
  const chosen = { token, bytes: [...encoder.encode(token)], logprob };
  return { ...chosen, top: [{ ...chosen }, { token: "x", bytes: [120], logprob: -9 }] };
}

const onWire = ({ top, ...chosen }: TokenLogprob) => ({ ...chosen, top_logprobs: top });
const [hm, hel, lo] = [told("Hm", -0.5), told("Hel", -0.25), told("lo", -2)];
const tells = gives([
  { type: "thinking", text: "Hm", logprobs: [hm] },
  { type: "text", text: "Hel", logprobs: [hel] },
  { type: "text", text: "lo", logprobs: [lo] },
]);

function requestsOf({ loaded }: ReturnType<typeof createTestApp>) {
  return loaded.flatMap(({ requests }) => requests).map(({ kind, request }) => {
    const { signal: _, ...rest } = request;
    return { kind, ...rest };
  });
}

Deno.test("native records carry the logprobs of their text, the whole answer all of them", async () => {
  for (const [path, body] of [["/api/chat", { messages }], ["/api/generate", { prompt: "Hi" }]]) {
    const test = createTestApp({ script: tells });
    const asked = { model: "tiny", ...body as object, logprobs: true, top_logprobs: 2 };
    const records = await readLines(await test.post(path as string, asked));
    const parts = records.map(({ logprobs }) => logprobs);
    assertEquals(parts, [[onWire(hm)], [onWire(hel)], [onWire(lo)], undefined]);
    const whole = await (await test.post(path as string, { ...asked, stream: false })).json();
    assertEquals(whole.logprobs, [hm, hel, lo].map(onWire));
    assertEquals(requestsOf(test).map(({ logprobs }) => logprobs), [2, 2]);
  }
});

Deno.test("logprobs without a count ask for no others, a count needs logprobs", async () => {
  const test = createTestApp();
  const ask = (body: object) =>
    test.post("/api/chat", { model: "tiny", messages, stream: false, ...body });
  await ask({ logprobs: true });
  await ask({ top_logprobs: 0 });
  assertEquals(requestsOf(test).map(({ logprobs }) => logprobs), [0, undefined]);
  const refused = await ask({ logprobs: false, top_logprobs: 3 });
  assertEquals(
    [refused.status, await refused.json()],
    [400, { error: "top_logprobs needs logprobs to be true" }],
  );
});

Deno.test("OpenAI's chats tell the logprobs of the content, in chunks and as a whole", async () => {
  const { post } = createTestApp({ script: tells });
  const body = { model: "tiny", messages, logprobs: true, top_logprobs: 2 };
  const { choices: [choice] } = await (await post("/v1/chat/completions", body)).json();
  const content = [hel, lo].map(onWire);
  assertEquals(choice.logprobs, { content, refusal: null });
  const events = await readEvents(await post("/v1/chat/completions", { ...body, stream: true }));
  const pieces = events.flatMap(({ data }) => data.choices ?? [])
    .filter(({ delta }) => delta.content)
    .map(({ logprobs }) => logprobs);
  assertEquals(pieces, content.map((each) => ({ content: [each], refusal: null })));
});

Deno.test("completions tell logprobs as lists, with offsets into the text", async () => {
  const test = createTestApp({ script: tells });
  const body = { model: "story", prompt: "Hi", logprobs: 2 };
  const { choices: [choice] } = await (await test.post("/v1/completions", body)).json();
  const all = {
    tokens: ["Hel", "lo"],
    token_logprobs: [-0.25, -2],
    top_logprobs: [{ Hel: -0.25, x: -9 }, { lo: -2, x: -9 }],
    text_offset: [0, 3],
  };
  assertEquals([choice.text, choice.logprobs], ["Hello", all]);
  const response = await test.post("/v1/completions", { ...body, stream: true });
  const pieces = (await readEvents(response)).flatMap(({ data }) => data.choices ?? []);
  assertEquals(pieces.map(({ logprobs }) => logprobs?.text_offset), [[0], [3], undefined]);
  assertEquals(requestsOf(test).map(({ logprobs }) => logprobs), [2, 2]);
});

Deno.test("a generation goes on from a context and ends with one, but for raw ones", async () => {
  const context = [5, 6, 7];
  const script = async function* (): AsyncGenerator<ChatEvent> {
    yield { type: "text", text: "Hi" };
    yield { type: "done", reason: "stop", usage: fakeUsage, context };
  };
  const test = createTestApp({ script });
  const ask = async (body: object) =>
    await (await test.post("/api/generate", { prompt: "x", stream: false, ...body })).json();
  assertEquals((await ask({ model: "tiny", context: [1, 2] })).context, context);
  await ask({ model: "story", context: null });
  await ask({ model: "tiny", raw: true });
  // Those of `tiny`, which was loaded first, then that of `story`.
  const given = requestsOf(test).map((request) => [request.kind, request.context]);
  assertEquals<unknown>(given, [["chat", [1, 2]], ["generate", undefined], ["generate", []]]);
});

Deno.test("a template goes to the engine, also for a model that has none", async () => {
  const test = createTestApp();
  const template = "{{ .Prompt }}!";
  for (const model of ["tiny", "story"]) {
    await test.post("/api/generate", { model, prompt: "x", template, stream: false });
  }
  const given = requestsOf(test).map((request) => [
    request.kind,
    "template" in request && request.template,
  ]);
  assertEquals<unknown>(given, [["chat", template], ["chat", template]]);
});

Deno.test("a suffix is for models that insert, which say so", async () => {
  const test = createTestApp({ info: { fillsInMiddle: true } });
  const { models } = await (await test.app.request("/api/tags")).json();
  assertEquals(models.map(({ capabilities }: { capabilities: string[] }) => capabilities), [
    ["completion", "insert"],
    ["completion"],
  ]);
  const body = { model: "tiny", prompt: "f(", suffix: ")", stream: false };
  await test.post("/api/generate", body);
  await test.post("/v1/completions", body);
  const given = requestsOf(test).map((request) => [
    request.kind,
    ...("suffix" in request ? [request.prompt, request.suffix] : []),
  ]);
  assertEquals<unknown>(given, [["generate", "f(", ")"], ["generate", "f(", ")"]]);
  for (const [name, text] of [["template", "{{ .Prompt }}"], ["system", "Be brief."]]) {
    const both = await test.post("/api/generate", { ...body, [name!]: text });
    assertEquals(both.status, 400);
    assertStringIncludes((await both.json()).error, `${name}: a prompt with a suffix`);
  }
  const none = await test.post("/api/generate", { ...body, model: "story" });
  assertStringIncludes((await none.json()).error, '"story" does not support insert');
});

const models = `${folder}/native`;
await Deno.mkdir(models);
await writeTinyLlama(`${models}/tiny.gguf`, { template: TOOL_TEMPLATE, metadata: GAP_TOKENS });
const store = new ModelStore({ folder: models, inspect: inspectModel });
const manager = new ModelManager({
  store,
  open: (source, options) => loadModel(pathOf(source), { ...tinyLoad, ...options }),
});
globalThis.addEventListener("unload", () => void manager.closeAll());
const log = createLog({ write: () => {} });
const app = checkAnswers(createApp({ store, manager, log, version: "0" }));

async function ask(path: string, body: object): Promise<Response> {
  const options = { temperature: 0, num_predict: 10 };
  return await app.request(path, {
    method: "POST",
    body: JSON.stringify({ model: "tiny", options, ...body }),
  });
}

// deno-lint-ignore no-explicit-any
async function askWhole(path: string, body: object): Promise<any> {
  return await (await ask(path, { stream: false, ...body })).json();
}

Deno.test("on a real model the pieces of a stream have the logprobs of the whole", async () => {
  const body = { messages, think: true, logprobs: true, top_logprobs: 3 };
  const whole = await askWhole("/api/chat", body);
  const records = await readLines(await ask("/api/chat", body));
  const pieces = records.flatMap(({ logprobs }) => logprobs ?? []);
  assertEquals<unknown>(pieces, whole.logprobs);
  assert(whole.logprobs.length > 0 && whole.logprobs.length <= 10);
  for (const { logprob, top_logprobs: top } of whole.logprobs) {
    assertEquals([top.length, top[0].logprob], [3, logprob]);
  }
  const { choices: [{ logprobs }] } = await askWhole("/v1/completions", {
    prompt: "Hi",
    raw: true,
    logprobs: 1,
    max_tokens: 6,
  });
  assertEquals(logprobs.tokens.length, logprobs.text_offset.length);
});

Deno.test("on a real model a generation's context carries the conversation on", async () => {
  const first = await askWhole("/api/generate", { prompt: "Hi" });
  assertEquals(first.context.length, first.prompt_eval_count + first.eval_count);
  const second = await askWhole("/api/generate", { prompt: "Go on", context: first.context });
  assertEquals(second.context.slice(0, first.context.length), first.context);
  const bad = await ask("/api/generate", { prompt: "Hi", context: [1, 300] });
  assertEquals(bad.status, 400);
  assertMatch((await bad.json()).error, /token 300 is out of range/);
  const raw = await askWhole("/api/generate", { prompt: "Hi", raw: true });
  assertEquals("context" in raw, false);
});

Deno.test("on a real model templates and gaps are run, and a full window ends by length", async () => {
  const template = "<{{ .Prompt }}>";
  const rendered = await askWhole("/api/generate", {
    prompt: "Hi",
    template,
    _debug_render_only: true,
  });
  assertEquals(rendered._debug_info.rendered_template, "<Hi>");
  const bad = await ask("/api/generate", { prompt: "Hi", template: "\n{{ .Prompt" });
  assertEquals(bad.status, 400);
  assertMatch((await bad.json()).error, /line 2/);
  const filled = await askWhole("/api/generate", { prompt: "ab", suffix: "cd" });
  assertEquals(filled.prompt_eval_count, "ab".length + "cd".length + 3);
  const full = await askWhole("/api/generate", {
    prompt: "abcd".repeat(30),
    raw: true,
    shift: true,
    options: { temperature: 0 },
  });
  assertEquals([full.done_reason, full.prompt_eval_count, full.eval_count], ["length", 120, 8]);
});
