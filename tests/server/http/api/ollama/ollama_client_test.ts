// The official ollama client, unmodified, by the handler and, where a connection matters, over a port:
// with the model in the box where something is said, with a script where only one can bring it about.

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { type Message, Ollama } from "ollama";
import { OLLAMA_API_VERSION } from "../../../../../server/version.ts";
import { BOX, name, passage, sum, weather, weatherTool } from "../../../box_talk.ts";
import { says, saysForever } from "../../../fake_model.ts";
import { createTestApp, type TestApp } from "../../../test_app.ts";
import { until } from "../../../../until.ts";
import { createTinyApp, handlerWay, type Way, waysTo } from "../../../tiny_app.ts";

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
  assertEquals((await client.version()).version, OLLAMA_API_VERSION);
});

Deno.test("the ollama client gets errors as sentences with a status", async () => {
  const client = clientOf(createTestApp());
  for (const stream of [true, false]) {
    const ask = () => client.chat({ model: "nope", messages, stream: stream as false });
    const error = await assertRejects(ask, Error, "model 'nope' not found");
    assertEquals((error as Error & { status_code: number }).status_code, 404);
  }
});

const tiny = await createTinyApp("ollama_client");
const greedy = { model: BOX, options: { temperature: 0, num_predict: 120 } };
const user = (content: string) => ({ role: "user", content });

for (const way of waysTo(tiny)) {
  Deno.test(`the ollama client calls a tool and takes its result, ${way.how}`, async () => {
    const ask = { ...greedy, tools: [weatherTool] };
    const messages: Message[] = [user(weather.question)];
    const { message } = await reach(way).chat({ ...ask, messages });
    const [call] = message.tool_calls!;
    assertEquals([message.content, message.thinking], [weather.lead, undefined]);
    assertEquals([call!.function.name, call!.function.arguments], [
      weather.name,
      weather.arguments,
    ]);
    const calls: object[] = [];
    let lead = "";
    for await (const part of await reach(way).chat({ ...ask, messages, stream: true })) {
      lead += part.message.content;
      calls.push(...(part.message.tool_calls ?? []).map(({ function: { arguments: all } }) => all));
    }
    assertEquals([lead, calls], [weather.lead, [weather.arguments]]);
    messages.push(message, { role: "tool", tool_name: weather.name, content: weather.result });
    const answer = await reach(way).chat({ ...ask, messages });
    assertMatch(answer.message.content, weather.told);
    assertEquals(answer.message.tool_calls, undefined);
  });

  Deno.test(`the ollama client thinks when it is asked to, streaming and not, ${way.how}`, async () => {
    const ask = { ...greedy, messages: [user(sum.question)] };
    const { message } = await reach(way).chat({ ...ask, think: true });
    assertMatch(message.thinking!, sum.thought);
    assertMatch(message.content, sum.answer);
    let [thinking, content] = ["", ""];
    for await (const part of await reach(way).chat({ ...ask, think: "high", stream: true })) {
      assert(!(part.message.thinking && content), "Expected no thinking after the answer began");
      thinking += part.message.thinking ?? "";
      content += part.message.content;
    }
    assertEquals([thinking, content], [message.thinking, message.content]);
    const short = await reach(way).chat({ ...ask, think: false });
    assertEquals(short.message.thinking, undefined);
  });

  Deno.test(`the ollama client extracts facts under a format, ${way.how}`, async () => {
    const ask = { ...greedy, format: passage.schema };
    const { message } = await reach(way).chat({ ...ask, messages: [user(passage.question)] });
    assertEquals(JSON.parse(message.content), passage.facts);
    const { response } = await reach(way).generate({ ...ask, prompt: passage.question });
    assertEquals(JSON.parse(response!), passage.facts);
  });

  Deno.test(`the ollama client holds a conversation, ${way.how}`, async () => {
    const messages: Message[] = [];
    let last = "";
    for (const said of [name.told, "How are you?", name.question]) {
      messages.push(user(said));
      const { message } = await reach(way).chat({ ...greedy, messages });
      messages.push(message);
      last = message.content;
    }
    assertMatch(last, name.answer);
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
