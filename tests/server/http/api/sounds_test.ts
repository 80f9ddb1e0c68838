// Sounds in every dialect that has them: what the engine gets of them, what is refused, and OpenAI's
// client. The model is a fake that hears; what it would hear is tested with the engine.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { OpenAI } from "openai";
import { AUDIO_PLACEHOLDER as MARK, type ChatRequest } from "../../../../engine/mod.ts";
import { createTestApp, type TestApp } from "../../test_app.ts";
import { handlerWay } from "../../tiny_app.ts";

const model = "tiny";
const [one, other] = [Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5)];
const [one64, other64] = [one.toBase64(), other.toBase64()];

function hearing(info = {}): TestApp {
  return createTestApp({ info: { hears: true, ...info } });
}

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

Deno.test("/api/chat and /api/generate take sounds beside images", async () => {
  const test = hearing({ readsImages: true });
  const messages = [{ role: "user", content: "Who?", audio: [one64], images: [other64] }];
  await ask(test, "/api/chat", { messages });
  const turn = { role: "user" as const, content: "Who?", images: [other], audio: [one] };
  assertEquals(turnsOf(test), [turn]);
  await ask(test, "/api/generate", { prompt: "Who?", audio: [one64, other64] });
  assertEquals(turnsOf(test), [{ role: "user", content: "Who?", audio: [one, other] }]);
  await ask(test, "/api/generate", { audio: [one64] });
  assertEquals(turnsOf(test), [{ role: "user", content: "", audio: [one] }]);
});

const part = (data: string) => ({
  type: "input_audio" as const,
  input_audio: { data, format: "wav" as const },
});

Deno.test("OpenAI's chats and responses take input_audio where it stands in a text", async () => {
  const test = hearing();
  const { url, fetch } = handlerWay(test);
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", fetch, maxRetries: 0 });
  const text = (text: string) => ({ type: "text" as const, text });
  await client.chat.completions.create({
    model,
    messages: [{ role: "user", content: [text("First"), part(one64), text("or"), part(other64)] }],
  });
  const content = `First${MARK}or${MARK}`;
  assertEquals(turnsOf(test), [{ role: "user", content, audio: [one, other] }]);
  const said = [{ type: "input_text", text: "Who?" }, part(one64)];
  await ask(test, "/v1/responses", { input: [{ role: "user", content: said }] });
  assertEquals(turnsOf(test), [{ role: "user", content: `Who?${MARK}`, audio: [one] }]);
});

Deno.test("what is no sound is refused, and so are sounds by models that do not hear", async () => {
  const refusalOf = async (test: TestApp, path: string, body: object) => {
    const response = await test.post(path, { model, ...body });
    assertEquals(response.status, 400);
    return JSON.stringify(await response.json());
  };
  const chat = (audio: string[]) => ({ messages: [{ role: "user", content: "", audio }] });
  const broken = await refusalOf(hearing(), "/api/chat", chat([one64, "§"]));
  assertStringIncludes(broken, "messages[0].audio[1]: illegal base64 data");
  assertStringIncludes(await refusalOf(hearing(), "/api/chat", chat([""])), "the sound is empty");
  const deaf = createTestApp();
  assertStringIncludes(
    await refusalOf(deaf, "/api/chat", chat([one64])),
    "does not support audio input: leave out messages[0].audio[0]",
  );
  const messages = (content: object[]) => ({ messages: [{ role: "user", content }] });
  assertStringIncludes(
    await refusalOf(deaf, "/v1/chat/completions", messages([part(one64)])),
    "use a model with the capability",
  );
  assertStringIncludes(
    await refusalOf(hearing(), "/v1/chat/completions", messages([{ type: "input_audio" }])),
    "lacks",
  );
});

Deno.test("models that hear have the capability audio", async () => {
  const { models } = await (await hearing().app.request("/api/tags")).json();
  assertEquals(models.map(({ capabilities }: { capabilities: string[] }) => capabilities), [
    ["completion", "audio"],
    ["completion"],
  ]);
});
