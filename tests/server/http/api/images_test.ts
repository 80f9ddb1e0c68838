// Images in every dialect: what the engine gets of them, what is refused, and the official clients.
// The model is a fake that sees; what it would see is tested with the engine.

import Anthropic from "@anthropic-ai/sdk";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Ollama } from "ollama";
import { OpenAI } from "openai";
import { type ChatRequest, IMAGE_PLACEHOLDER as MARK } from "../../../../engine/mod.ts";
import { createTestApp, type TestApp } from "../../test_app.ts";
import { handlerWay } from "../../tiny_app.ts";

const model = "tiny";

/** A PNG of one pixel, with a byte behind its end that tells one from another. */
function pngOf(tag: number): Uint8Array<ArrayBuffer> {
  const chunks = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAC" +
    "hwGA60e6kgAAAABJRU5ErkJggg==";
  return Uint8Array.of(...Uint8Array.fromBase64(chunks), tag);
}

const [cat, dog] = [pngOf(1), pngOf(2)];
const [cat64, dog64] = [cat.toBase64(), dog.toBase64()];
const blockOf = (data: string) => ({
  type: "image" as const,
  source: { type: "base64" as const, media_type: "image/png" as const, data },
});
const dataUrl = `data:image/png;base64,${cat64}`;

function seeing(info = {}): TestApp {
  return createTestApp({ info: { readsImages: true, callsTools: true, ...info } });
}

/** The turns that the engine was given last. */
/** The messages that reached the model, without where they stood in the body. */
function turnsOf({ loaded }: TestApp): ChatRequest["messages"] {
  const { messages } = loaded[0]!.requests.at(-1)!.request as ChatRequest;
  return messages.map(({ index: _, ...turn }) => turn);
}

async function ask(test: TestApp, path: string, body: object): Promise<void> {
  const response = await test.post(path, { model, stream: false, ...body });
  const text = await response.text();
  assertEquals([response.status, text], [200, text]);
}

Deno.test("/api/chat takes images in any turn, with line breaks in their base64", async () => {
  const test = seeing();
  const messages = [
    { role: "user", content: "Which?", images: [cat64.replace(/(.{20})/g, "$1\r\n"), dog64] },
    { role: "assistant", content: "A cat" },
    { role: "user", content: "And this?", images: [cat64] },
  ];
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
  await ask(test, "/api/chat", { messages, format: { type: "object" }, tools });
  assertEquals(turnsOf(test), [
    { role: "user", content: "Which?", images: [cat, dog] },
    { role: "assistant", content: "A cat" },
    { role: "user", content: "And this?", images: [cat] },
  ]);
  const { format, tools: offered } = test.loaded[0]!.requests[0]!.request as ChatRequest;
  assertEquals([format, offered?.length], [{ schema: { type: "object" } }, 1]);
});

Deno.test("/api/generate takes images with a prompt, without one, and raw", async () => {
  const test = seeing();
  await ask(test, "/api/generate", { prompt: "Which?", images: [cat64] });
  assertEquals(turnsOf(test), [{ role: "user", content: "Which?", images: [cat] }]);
  await ask(test, "/api/generate", { images: [cat64] });
  assertEquals(turnsOf(test), [{ role: "user", content: "", images: [cat] }]);
  await ask(test, "/api/generate", { prompt: "[img]Which?", images: [dog64], raw: true });
  const { kind, request } = test.loaded[0]!.requests.at(-1)!;
  assert("prompt" in request);
  assertEquals([kind, request.prompt, request.images], ["generate", "[img]Which?", [dog]]);
});

Deno.test("a prompt that is only shown tells how many images it has", async () => {
  const { post } = seeing();
  const images = [cat64, dog64];
  const messages = [{ role: "user", content: "Which?", images }];
  for (const body of [{ messages }, { prompt: "Which?", images, raw: true }]) {
    const path = "messages" in body ? "/api/chat" : "/api/generate";
    const shown = await post(path, { model, ...body, _debug_render_only: true });
    assertEquals((await shown.json())._debug_info.image_count, 2);
  }
});

Deno.test("/v1/messages keeps texts and images in order, also in results of tools", async () => {
  const test = seeing();
  const text = (text: string) => ({ type: "text", text });
  const call = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
  const result = { type: "tool_result", tool_use_id: "toolu_1" };
  const messages = [
    { role: "user", content: [blockOf(cat64), text("Which?")] },
    { role: "user", content: [text("Or"), blockOf(dog64), text("this")] },
    { role: "assistant", content: [call] },
    { role: "user", content: [{ ...result, content: [text("Here:"), blockOf(cat64)] }] },
  ];
  await ask(test, "/v1/messages", { max_tokens: 5, messages });
  const [user, , answer] = turnsOf(test);
  assertEquals(user, {
    role: "user",
    content: `${MARK}Which?\nOr${MARK}this`,
    images: [cat, dog],
  });
  assertEquals([answer!.role, answer!.content, answer!.images], ["tool", `Here:${MARK}`, [cat]]);
});

Deno.test("/v1/messages/count_tokens counts with the images", async () => {
  const test = seeing();
  const messages = [{ role: "user", content: [blockOf(cat64)] }];
  const counted: ChatRequest[] = [];
  await ask(test, "/v1/messages", { max_tokens: 5, messages });
  test.loaded[0]!.countTokens = (request) => Promise.resolve(counted.push(request) + 40);
  const response = await test.post("/v1/messages/count_tokens", { model, messages });
  assertEquals(await response.json(), { input_tokens: 41 });
  assertEquals(counted[0]!.messages, [{ role: "user", content: MARK, images: [cat] }]);
});

Deno.test("OpenAI's APIs take data URLs, as objects and as texts", async () => {
  const test = seeing();
  const content = [
    { type: "text", text: "One" },
    { type: "image_url", image_url: { url: dataUrl, detail: "low" } },
    { type: "text", text: "Two" },
    { type: "text", text: "Three" },
    { type: "image_url", image_url: `data:;base64,${dog64}` },
  ];
  const turn = { role: "user", content: `One${MARK}Two\nThree${MARK}`, images: [cat, dog] };
  await ask(test, "/v1/chat/completions", { messages: [{ role: "user", content }] });
  assertEquals(turnsOf(test), [turn as ChatRequest["messages"][0]]);
  const input = [{
    role: "user",
    content: [{ type: "input_image", image_url: dataUrl }, { type: "input_text", text: "Which?" }],
  }];
  await ask(test, "/v1/responses", { input });
  assertEquals(turnsOf(test), [{ role: "user", content: `${MARK}Which?`, images: [cat] }]);
});

Deno.test("images that cannot be read get 400 before anything is loaded", async (t) => {
  const test = seeing({ fillsInMiddle: true });
  const blind = createTestApp();
  const native = (image: unknown) => ({
    messages: [{ role: "user", content: "x", images: [cat64, image] }],
  });
  const chat = (image_url: unknown) => ({
    messages: [{ role: "user", content: [{ type: "image_url", image_url }] }],
  });
  const claude = (source: object) => ({
    max_tokens: 5,
    messages: [{ role: "user", content: [{ type: "image", source }] }],
  });
  const faults: [app: TestApp, path: string, body: object, sentence: string][] = [
    [
      test,
      "/api/chat",
      native("x y"),
      "messages[0].images[1]: illegal base64 data at input byte 1",
    ],
    [test, "/api/chat", native("a=b"), "messages[0].images[1]: illegal base64"],
    [test, "/api/chat", native(""), "messages[0].images[1]: the image is empty"],
    [test, "/api/chat", native(dataUrl), "as base64, not a URL or a path"],
    [test, "/api/chat", native(5), "messages[0].images[1] must be of type string"],
    [test, "/api/generate", { prompt: "x", images: ["/a.png"] }, "images[0]: illegal base64"],
    [test, "/api/generate", { prompt: "x", suffix: "y", images: [cat64] }, "images: a prompt with"],
    [
      test,
      "/v1/chat/completions",
      chat({ url: "https://a.example/b.png" }),
      "takes only data URLs",
    ],
    [test, "/v1/chat/completions", chat("/etc/passwd"), "takes only data URLs"],
    [test, "/v1/chat/completions", chat("data:image/png;base64,?"), "content[0]: illegal base64"],
    [test, "/v1/chat/completions", chat(5), "image_url must be of type"],
    [test, "/v1/chat/completions", chat(null), "content[0]: the image is empty"],
    [test, "/v1/messages", claude({ type: "file", file_id: "a" }), "Only base64 images"],
    [test, "/v1/messages", claude({ type: "base64", data: "" }), "source.data: the image is empty"],
    [
      blind,
      "/v1/messages",
      { max_tokens: 5, messages: [{ role: "assistant", content: [blockOf(cat64)] }] },
      '"tiny" does not support image input',
    ],
    [blind, "/api/chat", native(cat64), '"tiny" does not support image input'],
    [blind, "/api/generate", { images: [cat64] }, '"tiny" does not support image input'],
    [blind, "/v1/chat/completions", chat(dataUrl), '"tiny" does not support image input'],
    [blind, "/v1/messages", claude(blockOf(cat64).source), '"tiny" does not support image input'],
  ];
  for (const [{ post }, path, body, sentence] of faults) {
    await t.step(`${path} ${sentence}`, async () => {
      const response = await post(path, { model, ...body });
      const { error } = await response.json();
      assertStringIncludes(error.message ?? error, sentence);
      assertEquals(response.status, 400);
    });
  }
  assertEquals([test.loaded.length, blind.loaded.length], [0, 0]);
});

Deno.test("a body of many images is taken up to 32 MiB, and 413 says so", async () => {
  const test = seeing();
  const large = new Uint8Array(5 * 2 ** 20).toBase64();
  const ofImages = (count: number) => ({
    messages: [{ role: "user", content: "x", images: Array(count).fill(large) }],
  });
  await ask(test, "/api/chat", ofImages(4));
  assertEquals(turnsOf(test)[0]!.images?.length, 4);
  const refused = await test.post("/api/chat", { model, ...ofImages(5) });
  assertEquals(refused.status, 413);
  assertStringIncludes((await refused.json()).error, "larger than 33554432 bytes");
});

Deno.test("capabilities say vision exactly where the model sees", async () => {
  const { app } = seeing();
  const { models } = await (await app.request("/api/tags")).json();
  assertEquals(models.map(({ capabilities }: { capabilities: string[] }) => capabilities), [
    ["completion", "vision", "tools"],
    ["completion"],
  ]);
});

Deno.test("the ollama client sends pictures, twice in one conversation and with a schema", async () => {
  const test = seeing();
  const { url: host, fetch } = handlerWay(test);
  const client = new Ollama({ host, fetch });
  const first = { role: "user", content: "Which?", images: [cat] };
  const { message } = await client.chat({ model, messages: [first] });
  const messages = [first, message, { role: "user", content: "And?", images: [dog64] }];
  await client.chat({ model, messages, format: { type: "object" } });
  assertEquals(turnsOf(test).map(({ images }) => images), [[cat], undefined, [dog]]);
  await client.generate({ model, prompt: "Which?", images: [dog] });
  assertEquals(turnsOf(test)[0]!.images, [dog]);
});

Deno.test("Anthropic's client sends pictures, twice in one conversation", async () => {
  const test = seeing();
  const { url: baseURL, fetch } = handlerWay(test);
  const client = new Anthropic({ apiKey: "any", baseURL, maxRetries: 0, fetch });
  const messages: Anthropic.MessageParam[] = [
    { role: "user", content: [blockOf(cat64), { type: "text", text: "Which?" }] },
  ];
  const { content } = await client.messages.create({ model, max_tokens: 9, messages });
  messages.push({ role: "assistant", content }, { role: "user", content: [blockOf(dog64)] });
  await client.messages.create({ model, max_tokens: 9, messages });
  assertEquals(turnsOf(test).map(({ images }) => images), [[cat], undefined, [dog]]);
});

Deno.test("the openai client sends pictures by both of its APIs", async () => {
  const test = seeing();
  const { url, fetch } = handlerWay(test);
  const client = new OpenAI({ apiKey: "any", baseURL: `${url}/v1`, maxRetries: 0, fetch });
  const content = [{ type: "image_url" as const, image_url: { url: dataUrl } }];
  await client.chat.completions.create({ model, messages: [{ role: "user", content }] });
  assertEquals(turnsOf(test)[0]!.images, [cat]);
  const part = { type: "input_image" as const, image_url: dataUrl, detail: "auto" as const };
  await client.responses.create({ model, input: [{ role: "user", content: [part] }] });
  assertEquals(turnsOf(test)[0]!.images, [cat]);
});
