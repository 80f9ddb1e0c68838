// Generation on the GPU with the tiny model: where a text ends, what a seed fixes, and that
// sequences do not see each other, in one batch or in a cache that is too small for all.

import { generate } from "../../../engine/generate/generate.ts";
import {
  type ChatEvent,
  ContextLengthError,
  loadModel,
  ModelClosedError,
  RequestError,
} from "../../../engine/mod.ts";
import { Scheduler } from "../../../engine/run/scheduler.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { until } from "../../until.ts";
import { FakeRunner } from "../run/fake_runner.ts";
import { assert, assertEquals, assertNotEquals, assertRejects, assertThrows } from "@std/assert";

const model = await loadModel(tinyPath, tinyLoad);
globalThis.addEventListener("unload", () => void model.close());

const greedy = { temperature: 0, maxTokens: 24 };

Deno.test("a stream gives out all tokens, its text in pieces, and exact counts", async () => {
  const { text, tokens, done } = await readAnswer(model.generate({ prompt: "hello", ...greedy }));
  assertEquals(done!.reason, "length");
  assertEquals([done!.usage.promptTokens, done!.usage.completionTokens], [5, 24]);
  assertEquals(tokens.length, 24);
  assertEquals(text, model.tokenizer.decode(tokens));
  assert(done!.usage.promptMilliseconds > 0 && done!.usage.completionMilliseconds > 0);
});

Deno.test("a prompt as text and as token ids give the same", async () => {
  const ids = model.tokenizer.encode("hello");
  const [asText, asIds] = await Promise.all([
    readAnswer(model.generate({ prompt: "hello", ...greedy })),
    readAnswer(model.generate({ prompt: ids, ...greedy })),
  ]);
  assertEquals(asIds.tokens, asText.tokens);
});

Deno.test("greedy decoding follows the logits", async () => {
  const prompt = model.tokenizer.encode("hello");
  const { tokens } = await readAnswer(model.generate({ prompt, temperature: 0, maxTokens: 6 }));
  const logits = await model.logits([...prompt, ...tokens]);
  const best = (position: number) => {
    const row = logits.subarray(300 * position, 300 * (position + 1));
    return row.indexOf(Math.max(...row));
  };
  assertEquals(tokens, tokens.map((_, i) => best(prompt.length - 1 + i)));
});

Deno.test("same seed, same text; another seed, another text", async () => {
  const ask = (seed: number) =>
    readAnswer(model.generate({ prompt: "hello", maxTokens: 24, temperature: 1, seed }));
  const [first, again, other] = await Promise.all([ask(7), ask(7), ask(8)]);
  assertEquals(again.tokens, first.tokens);
  assertNotEquals(other.tokens, first.tokens);
});

Deno.test("a repeat penalty keeps greedy decoding from repeating itself", async () => {
  const ask = (repeatPenalty: number) =>
    readAnswer(model.generate({ prompt: "hello", ...greedy, repeatPenalty, repeatLastN: -1 }));
  const [plain, penalized] = await Promise.all([ask(1), ask(100)]);
  assert(new Set(plain.tokens).size < plain.tokens.length);
  assertEquals(new Set(penalized.tokens).size, penalized.tokens.length);
});

Deno.test("a stop string ends the text before it, wherever it falls", async () => {
  const whole = await readAnswer(model.generate({ prompt: "hello", ...greedy }));
  for (const [from, to] of [[0, 1], [3, 6], [10, 14]]) {
    const stop = whole.text.slice(from, to);
    const answer = await readAnswer(
      model.generate({ prompt: "hello", ...greedy, stop: ["not in it", stop] }),
    );
    assertEquals(answer.text, whole.text.slice(0, whole.text.indexOf(stop)));
    assertEquals([answer.done!.reason, answer.done!.stopString], ["stop", stop]);
  }
});

Deno.test("includeStop ends the text with the stop string, in chats and in continuations", async () => {
  const { text } = await readAnswer(model.generate({ prompt: "hello", ...greedy }));
  const stop = text.slice(3, 5);
  const ask = { ...greedy, stop: [stop], includeStop: true };
  const told = await readAnswer(model.generate({ prompt: "hello", ...ask }));
  assertEquals(told.text, text.slice(0, text.indexOf(stop) + stop.length));
  assertEquals([told.done!.reason, told.done!.stopString], ["stop", stop]);
  const messages = [{ role: "user" as const, content: "hello" }];
  const chat = await readAnswer(model.chat({ messages, ...greedy }));
  const end = chat.text.slice(3, 5);
  const ended = await readAnswer(model.chat({ messages, ...ask, stop: [end] }));
  assertEquals(ended.text, chat.text.slice(0, chat.text.indexOf(end) + end.length));
});

Deno.test("maxMilliseconds ends the text at the first line break after them, by length", async () => {
  // Every line break that the vocabulary has.
  const breaks = Array.from({ length: 300 }, (_, id) => id)
    .filter((id) => model.tokenizer.decode([id]).includes("\n"));
  const logitBias = breaks.map((id): [number, number] => [id, 30]);
  const ask = { prompt: "hello", temperature: 0, maxTokens: 40 };
  const some = await readAnswer(
    model.generate({ ...ask, logitBias, maxMilliseconds: 0.000_001 }),
  );
  assertEquals([some.done!.reason, some.text.indexOf("\n")], ["length", some.text.length - 1]);
  assert(some.tokens.length < 40);
  const without = breaks.map((id): [number, number] => [id, -100]);
  const all = await readAnswer(
    model.generate({ ...ask, logitBias: without, maxMilliseconds: 0.000_001 }),
  );
  assertEquals([all.done!.reason, all.tokens.length], ["length", 40]);
  const long = await readAnswer(model.generate({ ...ask, logitBias, maxMilliseconds: 1e9 }));
  assertEquals(long.tokens.length, 40);
  assertThrows(() => model.generate({ ...ask, maxMilliseconds: NaN }), RequestError);
});

Deno.test("maxTokens 0 gives no token, 1 gives one", async () => {
  for (const maxTokens of [0, 1]) {
    const { tokens, done } = await readAnswer(
      model.generate({ prompt: "hello", temperature: 0, maxTokens }),
    );
    assertEquals([tokens.length, done!.reason], [maxTokens, "length"]);
    assertEquals(done!.usage.completionTokens, maxTokens);
  }
});

Deno.test("a full window ends the text; a prompt that fills it is refused with both numbers", async () => {
  const prompt = Array.from({ length: 120 }, (_, i) => 40 + i % 60);
  const { tokens, done } = await readAnswer(model.generate({ prompt, temperature: 0 }));
  assertEquals([tokens.length, done!.reason], [8, "length"]);
  for (const length of [128, 500]) {
    const error = assertThrows(
      () => model.generate({ prompt: new Array(length).fill(65) }),
      ContextLengthError,
    );
    assertEquals([error.promptTokens, error.contextLength], [length, 128]);
  }
});

Deno.test("what cannot be run is refused at once", () => {
  assertThrows(() => model.generate({ prompt: "" }), RequestError, "no BOS token");
  assertThrows(() => model.generate({ prompt: [300] }), RequestError, "token 300");
  assertThrows(() => model.generate({ prompt: [1.5] }), RequestError, "token 1.5");
  for (const option of ["temperature", "topP", "minP", "repeatPenalty"]) {
    assertThrows(() => model.generate({ prompt: "a", [option]: -1 }), RequestError, option);
    assertThrows(() => model.generate({ prompt: "a", [option]: NaN }), RequestError, option);
  }
});

Deno.test("nine sequences on four slots, begun together, give the same as alone", async () => {
  const prompts = Array.from({ length: 9 }, (_, i) => "abcdefghi".slice(i) + " tell me");
  const alone = [];
  for (const prompt of prompts) alone.push(await readAnswer(model.generate({ prompt, ...greedy })));
  const together = await Promise.all(
    prompts.map((prompt) => readAnswer(model.generate({ prompt, ...greedy }))),
  );
  assertEquals(together.map(({ tokens }) => tokens), alone.map(({ tokens }) => tokens));
});

Deno.test("full windows on a cache for half of them give the same as alone", async () => {
  const prompts = [0, 2, 3, 4].map((seed) => Array.from({ length: 30 }, (_, i) => seed * 40 + i));
  const ask = (prompt: number[]) => readAnswer(model.generate({ prompt, temperature: 0 }));
  const alone = [];
  for (const prompt of prompts) alone.push(await ask(prompt));
  // Four sequences of four blocks, where the cache has twelve.
  assertEquals(alone.map(({ tokens }) => tokens.length), [98, 98, 98, 98]);
  const together = await Promise.all(prompts.map(ask));
  assertEquals(together.map(({ tokens }) => tokens), alone.map(({ tokens }) => tokens));
});

Deno.test("an abort ends the stream without done, and frees the slot", async () => {
  const abort = new AbortController();
  const streams = [1, 2, 3, 4].map(() =>
    model.generate({ prompt: "hello", temperature: 0, signal: abort.signal })
  );
  // At its first event: a timer may find that all have come to their ends.
  const abortedBy = async function* (events: AsyncIterable<ChatEvent>) {
    for await (const event of events) {
      abort.abort();
      yield event;
    }
  };
  const answers = [abortedBy(streams[0]), ...streams.slice(1)].map(readAnswer);
  const waiting = readAnswer(model.generate({ prompt: "hello", ...greedy }));
  for (const { done } of await Promise.all(answers)) assertEquals(done, undefined);
  assertEquals((await waiting).tokens.length, 24);
  const { done } = await readAnswer(model.generate({ prompt: "hello", signal: abort.signal }));
  assertEquals(done, undefined);
});

Deno.test("an abort and a reader that leaves take their sequences out of the scheduler", async () => {
  const sizes = { slots: 2, context: 4096, blocks: 300, chunkSize: 16 };
  const runner = new FakeRunner(sizes);
  const scheduler = new Scheduler(runner, {
    cacheBlocks: sizes.blocks,
    chunkSize: sizes.chunkSize,
  });
  const context = { scheduler, tokenizer: model.tokenizer, contextLength: sizes.context };
  const abort = new AbortController();
  const streams = [1, 2, 3].map(() => generate(context, { prompt: "hello", signal: abort.signal }));
  const left = generate(context, { prompt: "hello" });
  assertEquals(scheduler.load, 4);
  await streams[0].next();
  abort.abort();
  await left.next();
  await left.return!();
  assertEquals(await left.next(), { done: true, value: undefined });
  // The window holds thousands of tokens: nothing has come to its end.
  await until(() => scheduler.load === 0);
  assert(runner.steps < 1000, `${runner.steps} steps`);
});

Deno.test("close() ends a stream with ModelClosedError and gives the device's memory back", async () => {
  const closing = await loadModel(tinyPath, tinyLoad);
  assert(closing.memory.weights > 0 && closing.memory.keyValueCache > 0);
  let closed: Promise<void> | undefined;
  const reading = async () => {
    const events = closing.generate({ prompt: "hello", temperature: 0 });
    for await (const _ of events) closed ??= closing.close();
  };
  await assertRejects(reading, ModelClosedError);
  await closed;
  assertThrows(() => closing.generate({ prompt: "hello" }), ModelClosedError);
  const { weights, keyValueCache, scratch } = closing.memory;
  assertEquals([weights, keyValueCache, scratch], [0, 0, 0]);
});
