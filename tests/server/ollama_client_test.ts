// The official ollama client, unmodified, against the application without a port.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { Ollama } from "ollama";
import { says, saysForever } from "./fake_model.ts";
import { createTestApp, type TestApp, until } from "./test_app.ts";

function clientOf({ app }: TestApp): Ollama {
  const fetch = async (input: URL | RequestInfo, init?: RequestInit) =>
    await app.fetch(new Request(input, init));
  return new Ollama({ host: "http://127.0.0.1:11434", fetch });
}

const messages = [{ role: "user", content: "Hi" }];

Deno.test("the ollama client chats, streaming and not", async () => {
  const client = clientOf(createTestApp());
  const whole = await client.chat({ model: "tiny", messages });
  assertEquals([whole.message.content, whole.done_reason], ["Hello", "stop"]);
  assertEquals([whole.prompt_eval_count, whole.eval_count], [11, 3]);
  let text = "";
  let last;
  for await (const part of await client.chat({ model: "tiny", messages, stream: true })) {
    text += part.message.content;
    last = part;
  }
  assertEquals([text, last!.done, last!.eval_duration], ["Hello", true, 20_000_000]);
});

Deno.test("the ollama client generates, streaming and not", async () => {
  const client = clientOf(createTestApp({ script: says("grüß ", "😀") }));
  const whole = await client.generate({ model: "story", prompt: "Once", options: { seed: 1 } });
  assertEquals(whole.response, "grüß 😀");
  let text = "";
  for await (
    const part of await client.generate({ model: "story", prompt: "", raw: true, stream: true })
  ) {
    text += part.response;
  }
  assertEquals(text, "grüß 😀");
});

Deno.test("the ollama client embeds, by both endpoints", async () => {
  const client = clientOf(createTestApp({ info: { isEmbeddingModel: true } }));
  const { embeddings, prompt_eval_count: count, model } = await client.embed({
    model: "tiny",
    input: ["four", "a"],
    dimensions: 1,
  });
  assertEquals([embeddings, count, model], [[[4], [1]], 5, "tiny"]);
  assertEquals((await client.embed({ model: "tiny", input: "abc" })).embeddings[0].length, 3);
  const { embedding } = await client.embeddings({ model: "tiny", prompt: "four" });
  assertEquals(embedding.map(Math.fround), [4, 0.1, 0.2].map(Math.fround));
  const refused = () => client.embed({ model: "nope", input: "x" });
  await assertRejects(refused, Error, 'model "nope" not found, try pulling it first');
  await assertRejects(() => client.chat({ model: "tiny", messages }), Error, "not support chat");
});

Deno.test("the ollama client lists, shows what runs, and reads the version", async () => {
  const test = createTestApp();
  const client = clientOf(test);
  assertEquals((await client.list()).models.map(({ name }) => name), [
    "tiny:latest",
    "story:latest",
  ]);
  await client.generate({ model: "tiny", prompt: "" });
  const { models } = await client.ps();
  assertEquals(models.map(({ name, size_vram }) => [name, size_vram]), [["tiny:latest", 1230]]);
  assertEquals((await client.version()).version, "1.2.3");
});

Deno.test("the ollama client gets errors as sentences with a status", async () => {
  const client = clientOf(createTestApp());
  for (const stream of [true, false]) {
    const ask = () => client.chat({ model: "nope", messages, stream: stream as false });
    const error = await assertRejects(ask, Error, "model 'nope' not found");
    assertEquals((error as Error & { status_code: number }).status_code, 404);
  }
});

Deno.test("aborting the ollama client's stream ends the generation", async () => {
  let ended = false;
  const test = createTestApp({ script: saysForever(() => ended = true) });
  const stream = await clientOf(test).chat({
    model: "tiny",
    messages,
    stream: true,
    keep_alive: 0,
  });
  const read = async () => {
    for await (const part of stream) {
      assert(!part.done);
      stream.abort();
    }
  };
  await assertRejects(read);
  await until(() => ended && test.manager.running().length === 0);
});
