// The official ollama client, unmodified, by the handler and, where a connection matters, over a port.
// structured_test.ts and end_to_end_test.ts have it with a real model.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Message, Ollama } from "ollama";
import { says, saysForever } from "./fake_model.ts";
import { createTestApp, type TestApp, until } from "./test_app.ts";
import { asksForWeather, handlerWay, type Way, waysTo } from "./tiny_app.ts";

function reach({ url: host, fetch }: Way): Ollama {
  return new Ollama({ host, fetch });
}

function clientOf(test: TestApp): Ollama {
  return reach(handlerWay(test));
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

const able = { info: { callsTools: true, thinks: true } };
const weather = {
  type: "function",
  function: {
    name: "weather",
    description: "Tells the weather",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
};

for (const way of waysTo(createTestApp({ ...able, script: asksForWeather }))) {
  Deno.test(`the ollama client thinks, calls a tool and takes its result, ${way.how}`, async () => {
    const ask = { model: "tiny", tools: [weather], think: true };
    const { message } = await reach(way).chat({ ...ask, messages });
    const [call] = message.tool_calls!;
    assertEquals([message.content, message.thinking], ["", "Hm"]);
    assertEquals([call!.function.name, call!.function.arguments], ["weather", { city: "Rome" }]);
    const result = { role: "tool", tool_name: "weather", content: "22C in Rome" };
    const answer = await reach(way).chat({ ...ask, messages: [...messages, message, result] });
    assertEquals(answer.message.content, "It is 22C in Rome");
  });

  Deno.test(`the ollama client streams thinking and whole calls, ${way.how}`, async () => {
    const seen: Partial<Message>[] = [];
    const ask = { model: "tiny", messages, tools: [weather], think: "high" as const };
    for await (const { message, done } of await reach(way).chat({ ...ask, stream: true })) {
      if (!done) seen.push(message);
    }
    assertEquals(seen.map(({ thinking }) => thinking), ["Hm", undefined]);
    const calls = seen.map(({ tool_calls }) => tool_calls?.map((call) => call.function.arguments));
    assertEquals(calls, [undefined, [{ city: "Rome" }]]);
  });
}

let ended = 0;
const endless = createTestApp({ script: saysForever(() => ended++) });

for (const way of waysTo(endless)) {
  Deno.test(`aborting the ollama client's streams ends their generations, ${way.how}`, async () => {
    const client = reach(way);
    const last = { model: "tiny", keep_alive: 0, stream: true as const };
    for (const abortsAll of [false, true]) {
      ended = 0;
      const chat = await client.chat({ ...last, messages });
      const text = await client.generate({ ...last, prompt: "Hi" });
      const read = async (stream: typeof chat | typeof text) => {
        for await (const part of stream) {
          assert(!part.done);
          if (abortsAll) client.abort();
          else stream.abort();
        }
      };
      const reads = [chat, text].map((stream) => assertRejects(() => read(stream)));
      await Promise.all(reads);
      await until(() => ended === 2 && endless.manager.running().length === 0);
    }
  });
}
