// What a model's creator chose reaches every request that leaves it open, in all dialects.

import { assertEquals } from "@std/assert";
import type { ChatRequest, GenerateRequest, ModelDefaults } from "../../../../engine/mod.ts";
import {
  type DefaultedModel,
  withConversation,
  withParameters,
} from "../../../../server/http/api/defaults.ts";
import { fakeInfo } from "../../fake_model.ts";
import { createStoreApp } from "../../store_app.ts";

function modelWith(
  defaults: Partial<ModelDefaults>,
  { hasChatTemplate = true, isRemote = false } = {},
): DefaultedModel {
  return {
    info: { ...fakeInfo, hasChatTemplate },
    source: isRemote
      ? { kind: "remote", host: "http://h", model: "m" }
      : { kind: "files", path: "/x", adapters: [] },
    defaults: { parameters: {}, messages: [], license: [], ...defaults },
  };
}

Deno.test("withParameters() puts the model's parameters under those of the request", () => {
  const model = modelWith({
    parameters: { temperature: 0.5, stop: ["a"], num_ctx: 512, num_keep: 4, seed: "x" },
  });
  assertEquals(withParameters({}, model), {
    options: { temperature: 0.5, stop: ["a"], num_ctx: 512 },
  });
  const body = { model: "m", options: { stop: ["b"], temperature: null, top_k: 3 } };
  assertEquals(withParameters<object>(body, model), {
    model: "m",
    options: { temperature: 0.5, num_ctx: 512, stop: ["b"], top_k: 3 },
  });
  assertEquals(withParameters({ options: null }, modelWith({})), { options: null });
});

const user = { role: "user", content: "Hi" } as const;
const other = { role: "system", content: "Be kind." } as const;
const turns = [{ role: "user", content: "1" }, { role: "assistant", content: "2" }];

Deno.test("withConversation() begins with the model's system prompt and turns", () => {
  const model = modelWith({ system: "Be short.", messages: turns });
  const begin = (...messages: ChatRequest["messages"]) =>
    withConversation({ messages }, model).messages.map(({ content }) => content);
  assertEquals(begin(user), ["Be short.", "1", "2", "Hi"]);
  assertEquals(begin(other, user), ["Be kind.", "1", "2", "Hi"]);
  assertEquals(begin(user, other), ["1", "2", "Hi", "Be kind."]);
  assertEquals(begin(other), ["Be kind.", "1", "2"]);
  const going = withConversation({ messages: [user], context: [1, 2] }, model);
  assertEquals(going.messages, [user]);
  const starting = withConversation({ messages: [user], context: [] }, model);
  assertEquals(starting.messages.length, 4);
});

Deno.test("withConversation() takes the model's template where the file has none, or it was chosen", () => {
  const request = { messages: [user] };
  const cases: [DefaultedModel, string | undefined][] = [
    [modelWith({ template: "T" }), undefined],
    [modelWith({ template: "T", templateSource: "modelfile" }), "T"],
    [modelWith({ template: "T" }, { hasChatTemplate: false }), "T"],
    [modelWith({ template: "T", templateSource: "modelfile" }, { isRemote: true }), undefined],
    [modelWith({}), undefined],
    // Beside a renderer the file's template stands in for it.
    [modelWith({ template: "T", templateSource: "modelfile", renderer: "r" }), undefined],
    [modelWith({ template: "T", renderer: "r" }, { hasChatTemplate: false }), "T"],
    ...["{{ .Prompt }}", "{{.Prompt}}\n", " {{- .Prompt -}}"].map((
      template,
    ): [DefaultedModel, undefined] => [
      modelWith({ template, renderer: "r" }, { hasChatTemplate: false }),
      undefined,
    ]),
    [modelWith({ template: "{{ .Prompt }}", templateSource: "modelfile" }), "{{ .Prompt }}"],
  ];
  for (const [model, template] of cases) {
    assertEquals(withConversation(request, model).template, template);
    assertEquals(withConversation({ ...request, template: "own" }, model).template, "own");
  }
});

const { ask, loads } = await createStoreApp();
await ask("/api/create", {
  model: "mario",
  from: "tiny",
  system: "Be Mario.",
  template: "{{ .System }}|{{ .Prompt }}",
  parameters: { temperature: 0.25, top_p: 0.5, stop: ["END"], num_ctx: 200, num_predict: 9 },
  messages: turns,
  stream: false,
});
await ask("/api/create", {
  model: "texts",
  from: "plain",
  template: "<{{ .Prompt }}>",
  stream: false,
});

/** What the loaded model was asked last. */
function lastRequest(): ChatRequest & GenerateRequest {
  return loads.at(-1)!.model.requests.at(-1)!.request as ChatRequest & GenerateRequest;
}

const messages = [user];
const dialects: [path: string, body: Record<string, unknown>, override: object][] = [
  ["/api/chat", { messages, stream: false }, { options: { temperature: 1, stop: ["X"] } }],
  ["/api/generate", { prompt: "Hi", stream: false }, { options: { temperature: 1, stop: ["X"] } }],
  ["/v1/chat/completions", { messages }, { temperature: 1, stop: "X" }],
  ["/v1/completions", { prompt: "Hi", raw: false }, { temperature: 1, stop: ["X"] }],
  ["/v1/responses", { input: "Hi" }, { temperature: 1, options: { stop: ["X"] } }],
  ["/v1/messages", { messages, max_tokens: 3 }, { temperature: 1, stop_sequences: ["X"] }],
];

for (const [path, body, override] of dialects) {
  Deno.test(`POST ${path} completes its requests from the model's defaults`, async () => {
    await ask(path, { model: "mario", ...body });
    const { temperature, topP, stop, template, messages, maxTokens } = lastRequest();
    assertEquals([temperature, topP, stop], [0.25, 0.5, ["END"]]);
    assertEquals(template, "{{ .System }}|{{ .Prompt }}");
    assertEquals(messages.map(({ content }) => content), ["Be Mario.", "1", "2", "Hi"]);
    assertEquals(maxTokens, path === "/v1/messages" ? 3 : 9);
    await ask(path, { model: "mario", ...body, ...override });
    assertEquals([lastRequest().temperature, lastRequest().stop], [1, ["X"]]);
  });
}

Deno.test("a model's num_ctx is the window that it is loaded with, unless the request has one", async () => {
  const { ask, app } = await createStoreApp();
  await ask("/api/create", {
    model: "x",
    from: "tiny",
    parameters: { num_ctx: 200 },
    stream: false,
  });
  await ask("/api/chat", { model: "x", messages, stream: false });
  const running = async () => (await (await app.request("/api/ps")).json()).models[0];
  const small = await running();
  await ask("/api/embed", { model: "x", input: [], options: { num_ctx: 220 } });
  const large = await running();
  assertEquals([small.context_length, large.context_length], [200, 220]);
});

Deno.test("a prompt is laid out by the model's template where the file has none", async () => {
  for (const [path, body] of dialects.filter(([, body]) => "prompt" in body)) {
    await ask(path, { model: "texts", ...body });
    assertEquals([lastRequest().template, lastRequest().messages], ["<{{ .Prompt }}>", messages]);
    await ask(path, { model: "texts", ...body, raw: true });
    assertEquals([lastRequest().prompt, lastRequest().messages], ["Hi", undefined]);
  }
});
