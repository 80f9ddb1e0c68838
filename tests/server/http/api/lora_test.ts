// LoRA adapters over HTTP: a model with one, its answers in every API, the adapters of requests that name
// none, and what is wrong with those that do.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { RandomWeights } from "../../../engine/reference/weights.ts";
import { writeModelFile } from "../../../model_file.ts";
import { createTinyApp } from "../../tiny_app.ts";

const { app } = await createTinyApp("lora");

async function ask(path: string, body?: unknown, method = body ? "POST" : "GET") {
  const response = await app.request(path, {
    method,
    ...body !== undefined && { body: JSON.stringify(body) },
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

/** Makes a model of "plain" and adapters, each of which turns answers another way. */
async function create(model: string, names: readonly string[]): Promise<void> {
  const adapters: Record<string, string> = {};
  for (const name of names) {
    const pairs = new RandomWeights();
    pairs.tensor("output.weight.lora_a", [64, 4], { deviation: 5 });
    pairs.tensor("output.weight.lora_b", [4, 300], { deviation: 1 });
    if (name === "brief") pairs.tensors.get("output.weight.lora_b")!.values.reverse();
    const path = await writeModelFile({
      "general.type": "adapter",
      "general.architecture": "llama",
      "general.name": name,
      "adapter.type": "lora",
    }, pairs.writable());
    const bytes = await Deno.readFile(path);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    adapters[`${name}.gguf`] = `sha256:${hash}`;
    await (await app.request(`/api/blobs/sha256:${hash}`, { method: "POST", body: bytes })).text();
  }
  const { status, body } = await ask("/api/create", {
    model,
    from: "plain",
    adapters,
    stream: false,
  });
  assertEquals([status, body.status], [200, "success"]);
}

await create("both", ["formal", "brief"]);
await create("one", ["formal"]);

const CHAT = { messages: [{ role: "user", content: "Hi" }], temperature: 0, max_tokens: 12 };

/** The answer of an API, as it begins. */
async function answer(path: string, request: object): Promise<string> {
  const { status, body } = await ask(path, request);
  assertEquals(status, 200, JSON.stringify(body));
  return body.content?.[0]?.text ?? body.content ?? body.message?.content ??
    body.choices?.[0].message?.content ??
    body.choices?.[0].text ?? body.response ?? body.output[0].content[0].text;
}

Deno.test("every API takes the adapters of an answer, and a model's name stands for its own", async () => {
  const ollama = { options: { temperature: 0, num_predict: 12 }, stream: false };
  const routes: [string, object][] = [
    ["/api/chat", { messages: CHAT.messages, ...ollama }],
    ["/api/generate", { prompt: "Hi", ...ollama }],
    ["/v1/chat/completions", CHAT],
    ["/v1/messages", CHAT],
    ["/v1/responses", { input: "Hi", temperature: 0, max_output_tokens: 16 }],
    ["/completion", { prompt: "Hi", temperature: 0, n_predict: 12 }],
  ];
  for (const [path, request] of routes) {
    const of = (model: string, lora?: object[]) =>
      answer(path, { ...request, model, ...lora && { lora } });
    const plain = await of("plain");
    assertEquals(await of("both", []), plain, path);
    const formal = await of("both", [{ id: 0 }]);
    assert(formal !== plain, path);
    assertEquals(await of("both", [{ name: "formal", scale: 1 }]), formal, path);
    assertEquals(await of("both", [{ id: "formal" }, { id: 1, scale: 0 }]), formal, path);
    assertEquals(await of("one"), formal, path);
    const brief = await of("both", [{ id: 1 }]);
    assert(brief !== formal && brief !== plain, path);
  }
});

Deno.test("decisions and rankings take them as well", async () => {
  const questions = [{
    type: "choice",
    instructions: "Which?",
    choices: [{ value: "a" }, { value: "b" }, { value: "c" }],
  }];
  const documents = ["one", "two", "three"];
  const routes: [string, object][] = [
    ["/api/decide", { input: "Hi", questions }],
    ["/v1/decisions", { input: "Hi", questions }],
    ["/api/rerank", { query: "Hi", documents }],
    ["/v1/score", { text_1: "Hi", text_2: documents }],
  ];
  for (const [path, request] of routes) {
    const of = async (model: string, lora?: object[]) => {
      const { status, body } = await ask(path, { ...request, model, ...lora && { lora } });
      assertEquals(status, 200, JSON.stringify(body));
      return body.answers ?? body.results ?? body.data;
    };
    const [plain, one] = [await of("plain"), await of("one")];
    assert(JSON.stringify(plain) !== JSON.stringify(one), path);
    assertEquals(await of("both", []), plain, path);
    assertEquals(await of("both", [{ id: "formal" }]), one, path);
  }
});

Deno.test("/lora-adapters lists a model's adapters, and sets those of requests that name none", async () => {
  const { body: listed } = await ask("/lora-adapters?model=both");
  const described = ["formal", "brief"].map((name, id) => ({ id, path: name, name, scale: 1 }));
  assertEquals(listed, described);
  assertEquals((await ask("/lora-adapters?model=plain")).body, []);
  const of = (lora?: object[]) =>
    answer("/v1/chat/completions", { ...CHAT, model: "both", ...lora && { lora } });
  const brief = await of([{ id: 1, scale: 0.5 }]);
  const both = await of();
  assert(both !== brief);
  const { status, body } = await ask("/lora-adapters?model=both", [{ id: 1, scale: 0.5 }]);
  assertEquals([status, body], [200, { success: true }]);
  assertEquals(await of(), brief);
  assertEquals(await of([{ id: 0 }, { id: 1 }]), both);
  const scales = (await ask("/lora-adapters?model=both")).body.map((one: { scale: number }) =>
    one.scale
  );
  assertEquals(scales, [0, 0.5]);
});

Deno.test("what is wrong with an adapter is said", async () => {
  const wrong: [unknown, string][] = [
    [[{ id: 7 }], 'Cannot apply adapter 7: the model has 0 (\\"formal\\"), 1 (\\"brief\\")'],
    [[{ scale: 1 }], "lora[0].id is required"],
    [[{ id: 0, name: "formal" }], "lora[0]: id and name exclude each other"],
    [[{ id: 0, scale: 1000 }], "its scale is 1000"],
    [[{ id: 0, weight: 1 }], "lora[0].weight"],
    ["formal", "lora must be of type array"],
  ];
  for (const [lora, state] of wrong) {
    const { status, body } = await ask("/v1/chat/completions", { ...CHAT, model: "both", lora });
    assertEquals(status, 400, JSON.stringify(body));
    assertStringIncludes(JSON.stringify(body), state);
  }
  for (const [body, state] of [[[{ id: 9 }], "adapter 9"], [{ id: 0 }, "must be"]]) {
    const said = await ask("/lora-adapters?model=both", body);
    assertEquals(said.status, 400);
    assertStringIncludes(JSON.stringify(said.body), state as string);
  }
});
