// What answers tell of how they came about beyond Ollama's API: what a format allowed at each token,
// cached tokens, the tokens of a text, what a load would take, the last requests, the doctor.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { BOX_MODEL } from "../../../../engine/box/mod.ts";
import { createEstimate, inspectModel, ModelManager, ModelStore } from "../../../../engine/mod.ts";
import { createApp } from "../../../../server/http/app.ts";
import { createLog } from "../../../../server/log.ts";
import { checkAnswers } from "./check_answers.ts";
import { createBoxApp, createTinyApp } from "../../tiny_app.ts";
import { createTestApp } from "../../test_app.ts";

const model = "quern:tiny";
const options = { temperature: 0, num_predict: 60, num_ctx: 1024 };
const messages = [{ role: "user", content: "Anna Weber is 34 years old. Who is it?" }];

const { app } = await createBoxApp();

async function post(path: string, body: object, from = app) {
  const response = await from.request(path, {
    method: "POST",
    body: JSON.stringify({ model, stream: false, ...body }),
  });
  return { status: response.status, answer: await response.json() };
}

interface Told {
  token: string;
  logprob: number;
  mask: {
    allowed: number;
    vocabulary: number;
    forced?: string;
    top_allowed: { token: string; logprob: number }[];
    top_forbidden: { token: string; logprob: number }[];
    pointers?: string[];
    spans?: [number, number][];
  };
}

Deno.test("mask_info tells what the format allowed at each token, and what it forbade", async () => {
  const format = {
    type: "object",
    properties: { name: { enum: ["Anna", "Bo"] }, age: { type: "integer" } },
    required: ["name", "age"],
  };
  const { answer } = await post("/api/chat", {
    messages,
    options,
    format,
    mask_info: true,
    top_logprobs: 4,
  });
  const told: Told[] = answer.logprobs;
  assertEquals(told.map(({ token }) => token).join(""), answer.message.content);
  const { name, age } = JSON.parse(answer.message.content);
  assert(["Anna", "Bo"].includes(name) && Number.isInteger(age));
  for (const { token, logprob, mask } of told) {
    assert(mask.allowed > 0 && mask.allowed < mask.vocabulary);
    assertEquals(mask.top_allowed.length, Math.min(4, mask.allowed));
    assertEquals(mask.top_forbidden.length, 4);
    // Without a temperature the likeliest of what is allowed comes.
    assertEquals([mask.top_allowed[0]!.token, mask.top_allowed[0]!.logprob], [token, logprob]);
    const forbidden = new Set(mask.top_forbidden.map((one) => one.token));
    for (const one of mask.top_allowed) assert(!forbidden.has(one.token), one.token);
    const sorted = mask.top_forbidden.map((one) => one.logprob);
    assertEquals(sorted, sorted.toSorted((a, b) => b - a));
  }
  // Once the object is begun its first key has to come; which name, is a choice.
  const key = told.findIndex(({ token }) => token.startsWith("n"));
  assertEquals(told[key]!.mask.forced, 'name":');
  const choice = told.slice(key).find(({ token }) => /^(A|B)/.test(token))!;
  assertEquals(choice.mask.forced, undefined);
  assertEquals(told[key]!.mask.pointers, [""]);
  assertEquals(choice.mask.pointers, ["/properties/name"]);
  assert(told.every(({ mask }) => mask.pointers && !mask.spans));
});

Deno.test("mask_info is told while streaming, and nothing of it where there is no format", async () => {
  const streamed = await app.request("/api/generate", {
    method: "POST",
    body: JSON.stringify({ model, prompt: "Hi", options, mask_info: true, pattern: "yes|no" }),
  });
  const lines = (await streamed.text()).trim().split("\n").map((line) => JSON.parse(line));
  const told: Told[] = lines.flatMap(({ logprobs = [] }) => logprobs);
  assertEquals(
    lines.map(({ response }) => response).join(""),
    told.map((one) => one.token).join(""),
  );
  assert(told.length > 0 && told.every(({ mask }) => mask.allowed > 0 && !mask.pointers));
  // "y" and "n" of the pattern.
  assertEquals(told[0]!.mask.spans, [[0, 1], [4, 5]]);
  const free = await post("/api/chat", { messages, options, mask_info: true });
  assert(free.answer.logprobs.every((one: object) => !("mask" in one)));
  const quiet = await post("/api/chat", { messages, options, format: "json" });
  assertEquals(quiet.answer.logprobs, undefined);
});

Deno.test("pattern and grammar are formats; two formats at once are refused", async () => {
  const asked = { prompt: "Is water wet?", options };
  const pattern = await post("/api/generate", { ...asked, pattern: "(yes|no), [a-z]{3,8}\\." });
  assert(/^(yes|no), [a-z]{3,8}\.$/.test(pattern.answer.response), pattern.answer.response);
  const grammar = await post("/api/generate", {
    ...asked,
    grammar: 'root ::= "<" ("a" | "b") ">"',
  });
  assert(/^<[ab]>$/.test(grammar.answer.response), grammar.answer.response);
  const both = await post("/api/chat", { messages, format: "json", pattern: "a" });
  assertEquals([both.status, both.answer], [400, {
    error: "format and pattern exclude each other: give one",
  }]);
  const wrong = await post("/api/generate", { ...asked, grammar: "root = a" });
  assertEquals(wrong.status, 400);
});

Deno.test("an answer tells how much of its prompt was cached", async () => {
  const { app } = await createTinyApp("cached");
  const asked = {
    model: "tools",
    messages: [{ role: "user", content: "word ".repeat(40) }],
    options,
  };
  const first = await post("/api/chat", asked, app);
  assertEquals(first.answer.prompt_cached_count, undefined);
  const { answer } = await post("/api/chat", asked, app);
  assert(answer.prompt_cached_count > 0 && answer.prompt_cached_count < answer.prompt_eval_count);
});

Deno.test("POST /api/tokenize splits a text as a prompt is split", async () => {
  const text = "Grüße, 世界!\n";
  const { answer } = await post("/api/tokenize", { text });
  const bytes = answer.tokens.flatMap((token: { bytes: number[] }) => token.bytes);
  assertEquals(new TextDecoder().decode(Uint8Array.from(bytes)), text);
  assert(answer.tokens.every(({ id }: { id: number }) => Number.isInteger(id)));
  assertEquals((await post("/api/tokenize", { text: "" })).answer.tokens, []);
  assertEquals((await post("/api/tokenize", { model: "nope", text })).status, 404);
  const long = await post("/api/tokenize", { text: "a".repeat(2 ** 18 + 1) });
  assertEquals([long.status, long.answer.error.split(":")[0]], [413, "text"]);
});

Deno.test("POST /api/plan tells what a load takes beside what there is, and loads nothing", async () => {
  const folder = await Deno.makeTempDir();
  const store = new ModelStore({ folder, inspect: inspectModel, builtin: [BOX_MODEL] });
  const manager = new ModelManager({
    store,
    open: () => Promise.reject(new Error("nothing is to be loaded")),
    estimate: (source) => createEstimate(source),
    budget: () => Promise.resolve({ total: 64e6, source: "the test" }),
  });
  const log = createLog({ write: () => {} });
  const app = checkAnswers(createApp({ store, manager, log, version: "0" }));
  const plan = async (options: object) => (await post("/api/plan", { options }, app)).answer;
  const [small, large] = [await plan({ num_ctx: 512 }), await plan({ num_ctx: 2048 })];
  assertEquals([small.context_length, large.context_length], [512, 2048]);
  assert(small.weights > 5e6 && small.weights === large.weights);
  assert(small.kv_cache < large.kv_cache);
  assertEquals([large.total, large.is_shrunk], [64e6, false]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("POST /api/plan says that nothing is known, where nothing is", async () => {
  const { status, answer } = await post("/api/plan", {});
  assertEquals(status, 400);
  assertStringIncludes(answer.error, "nothing is known of the memory");
});

Deno.test("GET /api/requests lists requests to models with their times, and no word of them", async () => {
  const { app, post } = createTestApp();
  await (await post("/api/chat", { model: "tiny", messages })).text();
  await (await post("/api/chat", { model: "nope", messages })).text();
  await (await app.request("/api/tags")).text();
  const text = await (await app.request("/api/requests")).text();
  assert(!text.includes("Anna"));
  const { requests } = JSON.parse(text);
  assertEquals(
    requests.map(({ path, status, model }: Record<string, unknown>) => [path, status, model]),
    [["/api/chat", 404, "nope"], ["/api/chat", 200, "tiny"]],
  );
  const [, { prompt_tokens, cached_tokens, completion_tokens, tokens_per_second }] = requests;
  assertEquals([prompt_tokens, cached_tokens, completion_tokens, tokens_per_second], [
    11,
    4,
    3,
    100,
  ]);
});

Deno.test("many who ask GET /api/doctor at once share two looks at the machine", async () => {
  let looks = 0;
  const { app } = createTestApp({}, { examine: () => Promise.resolve((looks++, [])) });
  const asked = Array.from({ length: 8 }, () => app.request("/api/doctor"));
  for (const answer of await Promise.all(asked)) {
    assertEquals(await answer.json(), { sections: [] });
  }
  assertEquals(looks, 2);
});

Deno.test("GET /api/doctor tells what was found of the machine", async () => {
  const finding = { mark: "ok" as const, subject: "Adapter", text: "there is one" };
  const { app } = createTestApp({}, {
    examine: () =>
      Promise.resolve([
        { title: "GPU", findings: [finding], facts: { a: 1 } },
        { title: "Memory", findings: [], table: [["MODEL", "Q8_0"], ["1B", "fits"]] },
      ]),
  });
  const { sections } = await (await app.request("/api/doctor")).json();
  assertEquals(sections, [
    { title: "GPU", findings: [finding] },
    { title: "Memory", findings: [], table: [["MODEL", "Q8_0"], ["1B", "fits"]] },
  ]);
  const without = createTestApp().app;
  assertEquals(await (await without.request("/api/doctor")).json(), { sections: [] });
});
