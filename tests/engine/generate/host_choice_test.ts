// Functions over logits: they change what comes, an answer stays within its format and the device's
// sampler whatever they do, beside other sequences and in a worker; their errors end their answer alone.

import {
  type ChatEvent,
  loadModel,
  openModelInProcess,
  openModelInWorker,
  RequestError,
} from "../../../engine/mod.ts";
import type { ChoiceContext, GenerateRequest, LogitsProcessor } from "../../../engine/mod.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { until } from "../../until.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";

const model = await loadModel(tinyPath, tinyLoad);
globalThis.addEventListener("unload", () => void model.close());

const prompt = model.tokenizer.encode("hello");
const base: GenerateRequest = { prompt, temperature: 1.2, seed: 7, maxTokens: 24, ignoreEnd: true };
const answer = (request: Partial<GenerateRequest>, of = model as Pick<typeof model, "generate">) =>
  readAnswer(of.generate({ ...base, ...request }));
const tokensOf = async (...given: Parameters<typeof answer>) => (await answer(...given)).tokens;

const nothing: LogitsProcessor = () => {};
const never = (tokens: Iterable<number>): LogitsProcessor => (logits) => {
  for (const token of tokens) logits[token] = -Infinity;
};

/** The likeliest token that may come. */
const greedy = (logits: Float32Array) => logits.indexOf(logits.reduce((a, b) => Math.max(a, b)));

const STEERED: Partial<GenerateRequest>[] = [
  {},
  { temperature: 0 },
  { topK: 3, minP: 0.05, typicalP: 0.9 },
  { repeatPenalty: 1.5, presencePenalty: 0.5, repeatLastN: 20 },
  { logitBias: [["e", 3]], badWords: ["a"], dryMultiplier: 2 },
  { mirostat: 2, mirostatTau: 3 },
  { format: { pattern: "[a-z]{3}(foo|bar)[aeiou]*" }, maxTokens: 14, ignoreEnd: false },
];

Deno.test("a processor that changes nothing changes no answer, whatever the sampling is", async () => {
  for (const more of STEERED) {
    const without = await answer(more);
    const given = await answer({ ...more, logitsProcessors: [nothing] });
    assertEquals(given.tokens, without.tokens, JSON.stringify(more));
    assertEquals(given.done!.usage.draftedTokens, undefined);
  }
});

Deno.test("processors see the model's own row and the tokens before, one after the other", async () => {
  const seen: (ChoiceContext & { logits: Float32Array; length: number })[] = [];
  const tokens = await tokensOf({
    maxTokens: 3,
    logitBias: [["e", 5]],
    logitsProcessors: [
      (logits, context) => {
        seen.push({ ...context, logits: logits.slice(), length: context.tokens.length });
        return logits.map((logit) => logit + 1);
      },
      (logits) => {
        assertEquals(logits[5], Math.fround(seen.at(-1)!.logits[5]! + 1));
      },
    ],
  });
  assertEquals(seen.map(({ length }) => length), [0, 1, 2].map((i) => prompt.length + i));
  assertEquals(seen.map(({ promptLength, mask }) => [promptLength, mask]), [
    ...Array.from({ length: 3 }, () => [prompt.length, undefined]),
  ]);
  const own = await model.logits([...prompt, ...tokens]);
  const columns = model.tokenizer.vocabularySize;
  for (const [i, { logits }] of seen.entries()) {
    const row = own.subarray((prompt.length - 1 + i) * columns, (prompt.length + i) * columns);
    assertEquals(greedy(logits), greedy(row));
    assert(logits.every((logit, id) => Math.abs(logit - row[id]!) < 1e-3));
  }
});

Deno.test("a processor decides what comes, also as another array and after a while", async () => {
  const wanted = [65, 66, 67];
  const tokens = await tokensOf({
    maxTokens: 3,
    logitsProcessors: [async (logits, { tokens, promptLength }) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      const row = new Float32Array(logits.length).fill(-Infinity);
      row[wanted[tokens.length - promptLength]!] = 0;
      return row;
    }],
  });
  assertEquals(tokens, wanted);
});

Deno.test("an answer stays within its format, whatever a processor or a sampler does", async () => {
  const format = { pattern: "(foo|bar)[0-9]{3}" };
  const wish = (logits: Float32Array) => {
    logits[model.tokenizer.encode("q").at(-1)!]! += 100;
  };
  const { text } = await answer({ format, logitsProcessors: [wish], ignoreEnd: false });
  assert(/^(foo|bar)\d{3}$/.test(text), text);
  const masks: (Uint32Array | undefined)[] = [];
  const sampled = await answer({
    format,
    ignoreEnd: false,
    sampler: (logits, { mask }) => (masks.push(mask), greedy(logits)),
  });
  assert(/^(foo|bar)\d{3}$/.test(sampled.text), sampled.text);
  assert(masks.length > 0 && masks.every((mask) => mask !== undefined));
});

Deno.test("a format that must end in time does so with functions as well", async () => {
  const request = {
    format: { schema: { type: "array", items: { type: "integer" } } },
    maxTokens: 12,
  };
  for (const more of [{ logitsProcessors: [nothing] }, { sampler: greedy }]) {
    const { text, done } = await answer({ ...request, ...more, ignoreEnd: false });
    assert(Array.isArray(JSON.parse(text)), text);
    assert(done!.usage.completionTokens <= 12);
  }
});

Deno.test("a sampler chooses after processors, penalties and biases", async () => {
  const greedily = await tokensOf({ temperature: 0 });
  assertEquals(await tokensOf({ sampler: greedy }), greedily);
  const penalties = { repeatPenalty: 2, logitBias: [["e", 4]] as [string, number][] };
  assertEquals(
    await tokensOf({ ...penalties, sampler: greedy }),
    await tokensOf({ ...penalties, temperature: 0 }),
  );
  const logitsProcessors = [never(greedily)];
  assertEquals(
    await tokensOf({ sampler: greedy, logitsProcessors }),
    await tokensOf({ temperature: 0, logitsProcessors }),
  );
});

Deno.test("log-probabilities are the model's own", async () => {
  const [first] = await tokensOf({ temperature: 0 });
  const events = model.generate({
    ...base,
    temperature: 0,
    maxTokens: 1,
    logprobs: 1,
    logitsProcessors: [never([first!])],
  });
  for await (const event of events) {
    if (event.type !== "text") continue;
    const [told] = event.logprobs!;
    assert(told!.logprob < told!.top[0]!.logprob);
  }
});

Deno.test("sequences of a batch get what each gets alone, with functions and without", async () => {
  const requests: Partial<GenerateRequest>[] = [
    { logitsProcessors: [never([10, 11, 12, 101, 102])], seed: 3 },
    { seed: 4, repeatPenalty: 1.3 },
    { sampler: greedy },
    { format: { pattern: "[a-z]{4,12}" }, ignoreEnd: false },
  ];
  const alone = [];
  for (const request of requests) alone.push(await tokensOf(request));
  assertEquals(await Promise.all(requests.map((request) => tokensOf(request))), alone);
});

Deno.test("hooks and functions go together", async () => {
  const { done, tokens } = await answer({
    maxTokens: 4,
    hooks: { capture: ["residual.post[0]"], positions: "last" },
    logitsProcessors: [never([1, 2, 3])],
  });
  assertEquals([tokens.length, done!.captured!.length], [4, 1]);
});

Deno.test("what a function throws, or gives wrongly, ends its answer alone, with a clear error", async () => {
  const beside = tokensOf({ seed: 4 });
  const wrong: [RegExp, Partial<GenerateRequest>][] = [
    [/out of ideas/, {
      logitsProcessors: [() => {
        throw new Error("out of ideas");
      }],
    }],
    [/3 values in place of 300/, { logitsProcessors: [() => new Float32Array(3)] }],
    [/gave NaN for token 4/, { logitsProcessors: [(logits) => void (logits[4] = NaN)] }],
    [/-Infinity for all tokens that may come/, {
      logitsProcessors: [(logits) => void logits.fill(-Infinity)],
    }],
    [/the sampler chose 300, ids of this model are 0 to 299/, { sampler: () => 300 }],
    [/the sampler chose 1.5/, { sampler: () => 1.5 }],
    [/which may not come here/, { sampler: () => 65, format: { pattern: "b+" } }],
  ];
  for (const [message, request] of wrong) {
    const error = await assertRejects(() => tokensOf(request), Error);
    assert(message.test(error.message), error.message);
  }
  assertEquals(await beside, await tokensOf({ seed: 4 }));
  assertThrows(
    () => model.generate({ ...base, sampler: greedy, mirostat: 1 }),
    RequestError,
    "exclude each other",
  );
});

Deno.test("an abort does not wait for a function that hangs", async () => {
  const hung = Promise.withResolvers<void>();
  const abort = new AbortController();
  const reading = tokensOf({
    signal: abort.signal,
    logitsProcessors: [() => (hung.resolve(), new Promise(() => {}))],
  });
  await hung.promise;
  abort.abort();
  assertEquals(await reading, []);
  assertEquals((await tokensOf({ maxTokens: 2 })).length, 2);
  // Leaving the loop is an abort, too.
  const again = Promise.withResolvers<void>();
  const events = model.generate({
    ...base,
    logitsProcessors: [() => (again.resolve(), new Promise(() => {}))],
  })[Symbol.asyncIterator]();
  void events.next();
  await again.promise;
  await events.return?.();
  await until(() => model.occupancy!.slots.used === 0);
});

Deno.test("in a worker, functions run in the program's thread, and the answers are those of here", async () => {
  const hosted = await openModelInWorker(tinyPath, tinyLoad);
  try {
    let calls = 0;
    const counting: LogitsProcessor = (logits) => {
      calls++;
      logits[10] = -Infinity;
    };
    const requests: Partial<GenerateRequest>[] = [
      { logitsProcessors: [counting, never([11, 12])] },
      { sampler: greedy, logitsProcessors: [counting] },
      { logitsProcessors: [counting], format: { pattern: "(foo|bar)[0-9]{3}" }, ignoreEnd: false },
    ];
    const here = [];
    for (const request of requests) here.push(await tokensOf(request));
    const before = calls;
    assertEquals(
      await Promise.all(requests.map((request) => tokensOf(request, hosted))),
      here,
    );
    assertEquals(calls, 2 * before);
    const failure = new RangeError("out of ideas");
    const error = await assertRejects(() =>
      tokensOf({
        logitsProcessors: [() => {
          throw failure;
        }],
      }, hosted)
    );
    assert(error === failure);
    const abort = new AbortController();
    const hung = Promise.withResolvers<void>();
    const reading = tokensOf({
      signal: abort.signal,
      logitsProcessors: [() => (hung.resolve(), new Promise(() => {}))],
    }, hosted);
    await hung.promise;
    abort.abort();
    assertEquals(await reading, []);
    const chat: ChatEvent[] = await Array.fromAsync(hosted.chat({
      messages: [{ role: "user", content: "Hi" }],
      maxTokens: 3,
      ignoreEnd: true,
      sampler: greedy,
    }));
    assertEquals(chat.at(-1)!.type, "done");
  } finally {
    await hosted.close();
  }
});

Deno.test("in a process as well", async () => {
  await using hosted = await openModelInProcess(tinyPath, tinyLoad);
  const request = { logitsProcessors: [never([10, 11, 12])], sampler: greedy };
  assertEquals(await tokensOf(request, hosted), await tokensOf(request));
});
