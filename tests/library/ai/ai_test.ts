// The library's models in Vercel's AI SDK, the package itself: with the model in the box, and with scripts
// where only one can bring it about.

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import {
  createProviderRegistry,
  embedMany,
  generateObject,
  generateText,
  isStepCount,
  jsonSchema,
  Output,
  rerank,
  streamText,
  tool,
} from "ai";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import {
  createQuern,
  embeddingModel,
  languageModel,
  rerankingModel,
  UnsupportedRequestError,
} from "../../../library/ai/mod.ts";
import { PROVIDER_OPTIONS } from "../../../library/ai/request.ts";
import {
  type ChatEvent,
  type ChatRequest,
  loadModel,
  SAMPLING_OPTIONS,
  TOKEN_OPTIONS,
} from "../../../mod.ts";
import { assertCallsTool } from "../../server/ai_sdk_talk.ts";
import { name, passage, sum } from "../../server/box_talk.ts";
import { FakeModel, fakeUsage, says, saysForever } from "../../server/fake_model.ts";
import { PROJECT_ROOT } from "../../source_files.ts";

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const path = fileURLToPath(new URL("engine/box/quern-tiny.gguf", PROJECT_ROOT));
const tiny = await loadModel(path, { contextLength: 1024, maxSequences: 4 });
globalThis.addEventListener("unload", () => void tiny.close());

const model = languageModel(tiny, { id: "quern:tiny" });
const settings = { model, maxRetries: 0, temperature: 0, maxOutputTokens: 120 };

/** A model that says what is written, and the request that it got last. */
function scripted(...events: ChatEvent[]) {
  const fake = new FakeModel({
    async *script() {
      yield* events;
      yield { type: "done", reason: "stop", usage: fakeUsage };
    },
  });
  const last = () => fake.requests.at(-1)!.request as ChatRequest;
  return { fake, last, settings: { model: languageModel(fake), maxRetries: 0 } };
}

Deno.test("quern:tiny calls a tool over several steps, streaming and not", async () => {
  await assertCallsTool(settings);
});

Deno.test("quern:tiny holds a conversation, and its usage is told", async () => {
  const messages = [
    { role: "user" as const, content: name.told },
    { role: "assistant" as const, content: "Hello Nora!" },
    { role: "user" as const, content: name.question },
  ];
  const { text, usage, finishReason, warnings } = await generateText({ ...settings, messages });
  assertMatch(text, name.answer);
  assertEquals([finishReason, warnings ?? []], ["stop", []]);
  assert(usage.inputTokens! > 20 && usage.outputTokens! > 1);
  assertEquals(
    usage.inputTokenDetails.noCacheTokens! + usage.inputTokenDetails.cacheReadTokens!,
    usage.inputTokens,
  );
});

Deno.test("quern:tiny thinks, and its thinking is no part of the text", async () => {
  const ask = { ...settings, prompt: sum.question, reasoning: "high" as const };
  const { text, reasoningText } = await generateText(ask);
  assertMatch(reasoningText ?? "", sum.thought);
  assertMatch(text, sum.answer);
  const stream = streamText(ask);
  assertEquals([await stream.text, await stream.reasoningText], [text, reasoningText]);
  const { reasoningText: none } = await generateText({ ...ask, reasoning: "none" });
  assertEquals(none, undefined);
});

Deno.test("structured answers are held by the mask: objects, streams of them, choices", async () => {
  const schema = z.object({ name: z.string(), age: z.int() });
  const { object } = await generateObject({ ...settings, schema, prompt: passage.question });
  assertEquals(object, passage.facts);
  const output = Output.object({ schema });
  const stream = streamText({ ...settings, output, prompt: passage.question });
  const partial: unknown[] = [];
  for await (const part of stream.partialOutputStream) partial.push(part);
  assert(partial.length > 2);
  assertEquals(partial.at(-1), passage.facts);
  const options = ["red", "blue"];
  const hot = { ...settings, temperature: 2 };
  const choice = await generateText({ ...hot, output: Output.choice({ options }), prompt: "Hi" });
  assert(options.includes(choice.output));
});

Deno.test("a prompt reaches the model with its pictures, files, calls and results", async () => {
  const { last, settings } = scripted({ type: "text", text: "Fine." });
  const image = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10);
  await generateText({
    ...settings,
    instructions: "Look.",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "file", data: image, mediaType: "image/png" },
          { type: "file", data: new TextEncoder().encode("a,b"), mediaType: "text/csv" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm." },
          { type: "tool-call", toolCallId: "c1", toolName: "zoom", input: { by: 2 } },
        ],
      },
      {
        role: "tool",
        content: [{
          type: "tool-result",
          toolCallId: "c1",
          toolName: "zoom",
          output: { type: "json", value: { ok: true } },
        }],
      },
    ],
  });
  assertEquals(last().messages, [
    { role: "system", content: "Look." },
    { role: "user", content: "What is this?\na,b", images: [image] },
    {
      role: "assistant",
      content: "",
      thinking: "Hm.",
      toolCalls: [{ id: "c1", function: { name: "zoom", arguments: { by: 2 } } }],
    },
    { role: "tool", content: '{"ok":true}', toolCallId: "c1", toolName: "zoom" },
  ]);
});

Deno.test("settings become options of the request, also those of the library's own", async () => {
  const { last, settings } = scripted(
    { type: "callStart", id: "c1", name: "get" },
    { type: "callEnd", id: "c1", name: "get", arguments: {} },
  );
  await generateText({
    ...settings,
    prompt: "Hi",
    temperature: 0.5,
    topP: 0.9,
    topK: 5,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    seed: 7,
    maxOutputTokens: 9,
    stopSequences: ["END"],
    toolChoice: "required",
    tools: { get: tool({ inputSchema: jsonSchema({ type: "object" }), strict: true }) },
    providerOptions: { quern: { minP: 0.1, thinkBudget: 5 } },
  });
  const { messages: _, signal: __, tools, ...options } = last();
  assertEquals(options, {
    ...{ temperature: 0.5, topP: 0.9, topK: 5, presencePenalty: 0.1, frequencyPenalty: 0.2 },
    ...{ seed: 7, maxTokens: 9, stop: ["END"], toolChoice: "required", minP: 0.1, thinkBudget: 5 },
  });
  assertEquals(tools![0]!.function.strict, true);
});

Deno.test("what is not supported is a warning, or an error that names it", async () => {
  const { settings } = scripted({ type: "text", text: "Fine." });
  const input = { by: 2 };
  const { warnings } = await generateText({
    ...settings,
    prompt: "Hi",
    tools: {
      zoom: tool({ inputSchema: jsonSchema<typeof input>({}), inputExamples: [{ input }] }),
    },
  });
  assertEquals(warnings?.map((one) => "feature" in one && one.feature), [
    'inputExamples of "zoom"',
  ]);
  const audio = { type: "file" as const, data: new Uint8Array(4), mediaType: "audio/wav" };
  const messages = [{ role: "user" as const, content: [audio] }];
  await assertRejects(
    () => generateText({ ...settings, messages }),
    UnsupportedRequestError,
    "files of type audio/wav are not supported",
  );
  await assertRejects(
    () => generateText({ ...settings, prompt: "Hi", providerOptions: { quern: { minp: 1 } } }),
    UnsupportedRequestError,
    'no option "minp"',
  );
});

Deno.test("providerOptions.quern has every option of sampling that AI SDK has no name for", () => {
  const own = ["temperature", "topP", "topK", "presencePenalty", "frequencyPenalty", "seed"];
  const names = [...Object.keys(SAMPLING_OPTIONS), ...Object.keys(TOKEN_OPTIONS)];
  const missing = names.filter((name) =>
    !own.includes(name) && !(PROVIDER_OPTIONS as string[]).includes(name)
  );
  assertEquals(missing, []);
});

Deno.test("an abort ends the model's answer", async () => {
  const ended = Promise.withResolvers<void>();
  const fake = new FakeModel({ script: saysForever(ended.resolve) });
  const abort = new AbortController();
  const stream = streamText({
    model: languageModel(fake),
    prompt: "Hi",
    abortSignal: abort.signal,
    onError() {},
  });
  for await (const _ of stream.textStream) abort.abort();
  await ended.promise;
  const late = new AbortController();
  const answer = generateText({
    model: languageModel(new FakeModel({ script: saysForever() })),
    prompt: "Hi",
    abortSignal: late.signal,
    maxRetries: 0,
  });
  setTimeout(() => late.abort(new Error("enough")), 10);
  await assertRejects(() => answer, Error, "enough");
});

Deno.test("an error of the model is the call's error", async () => {
  const { fake, settings } = scripted();
  fake.script = () => {
    throw new RangeError("the prompt is too long");
  };
  await assertRejects(() => generateText({ ...settings, prompt: "Hi" }), RangeError, "too long");
});

Deno.test("stops of answers have AI SDK's names, and facts of ours are metadata", async () => {
  const fake = new FakeModel({
    async *script(): AsyncGenerator<ChatEvent> {
      yield { type: "text", text: "One" };
      yield {
        type: "done",
        reason: "length",
        usage: fakeUsage,
        notes: ["cut"],
        droppedMessages: 2,
      };
    },
  });
  const answer = await generateText({ model: languageModel(fake), prompt: "Hi" });
  assertEquals([answer.finishReason, answer.rawFinishReason], ["length", "length"]);
  const { quern } = answer.providerMetadata!;
  assertEquals([quern!.notes, quern!.droppedMessages], [["cut"], 2]);
});

Deno.test("embeddings and rankings are the library's", async () => {
  const fake = new FakeModel();
  const { embeddings, usage } = await embedMany({
    model: embeddingModel(fake),
    values: ["a", "bcd"],
  });
  assertEquals(embeddings.map(([length]) => length), [1, 3]);
  assertEquals(usage.tokens, 4);
  const documents = ["xyz", "abx", "ab"];
  const { ranking } = await rerank({
    model: rerankingModel(fake),
    query: "ab",
    documents,
    topN: 2,
  });
  assertEquals(ranking.map(({ originalIndex }) => originalIndex), [2, 1]);
  const objects = await rerank({
    model: rerankingModel(fake),
    query: "a",
    documents: [{ text: "b" }, { a: "aaaaaaaa" }],
  });
  assertEquals(objects.rerankedDocuments[0], { a: "aaaaaaaa" });
});

Deno.test("models by name are loaded when they are first asked, once, and again after a failure", async () => {
  let loads = 0;
  const quern = createQuern({
    a: () => {
      if (++loads === 1) throw new Error("no such file");
      return Promise.resolve(new FakeModel({ script: says("A") }));
    },
    b: new FakeModel({ script: says("B") }),
  });
  const registry = createProviderRegistry({ quern });
  const ask = (id: `quern:${string}`) =>
    generateText({ model: registry.languageModel(id), prompt: "Hi", maxRetries: 0 });
  await assertRejects(() => ask("quern:a"), Error, "no such file");
  assertEquals(
    (await Promise.all([ask("quern:a"), ask("quern:a"), ask("quern:b")])).map(({ text }) => text),
    ["A", "A", "B"],
  );
  await embedMany({ model: registry.embeddingModel("quern:a"), values: ["x"] });
  assertEquals(loads, 2);
  await assertRejects(async () => await ask("quern:c"), UnsupportedRequestError, 'the model "c"');
  const { text } = await generateText({
    model: quern("b"),
    prompt: "Hi",
    stopWhen: isStepCount(1),
  });
  assertEquals(text, "B");
});
