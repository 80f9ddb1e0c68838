// A model that transcribes, as the library has it: in this thread and in a worker; its events, what it
// refuses, and how it is aborted. Its weights are random, and so are its words.

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  AudioError,
  estimateMemory,
  inspectModel,
  loadModel,
  ModelClosedError,
  openModelInWorker,
  RequestError,
  SchemaError,
} from "../../../engine/mod.ts";
import type { ChatModel, TranscribeEvent, TranscribeRequest } from "../../../engine/types/mod.ts";
import { randomFloats } from "../../numbers.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { wavOf } from "../audio/sound_files.ts";
import { SIZES, tinyWeights, VOCABULARY, writeTinyWhisper } from "./tiny_whisper.ts";

const folder = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
const path = `${folder}/whisper.gguf`;
await writeTinyWhisper(path);

const OPTIONS = { device: { kind: "cpu", threads: 1 } } as const;
/** Three windows and a bit. */
const SAMPLES = randomFloats(160 * (3 * 2 * SIZES.rows + 5), 9).map((value) => value / 9);

async function eventsOf(
  model: ChatModel,
  request: Partial<TranscribeRequest> = {},
): Promise<TranscribeEvent[]> {
  return await Array.fromAsync(model.transcribe({ audio: SAMPLES, seed: 1, ...request }));
}

/** What any transcription has to keep to. */
function assertEvents(events: TranscribeEvent[]): void {
  const duration = SAMPLES.length / 16_000;
  assertEquals(events[0], { type: "start", duration });
  assertEquals(events[1].type, "language");
  assertEquals(events.at(-1)!.type, "done");
  const segments = events.filter((event) => event.type === "segment");
  for (const { start, end, text, tokens } of segments) {
    assert(0 <= start && start < end, `${start} to ${end}`);
    assert(text.trim() !== "" && tokens.every((token) => token < VOCABULARY));
  }
  const progress = events.filter((event) => event.type === "progress").map(({ seconds }) =>
    seconds
  );
  assertEquals(progress, progress.toSorted((a, b) => a - b));
  assertEquals(progress.at(-1), Math.floor(SAMPLES.length / 160) / 100);
}

Deno.test("a sound of several windows is transcribed, and a seed gives the same again", async () => {
  await using model = await loadModel(path, OPTIONS);
  assertEquals(model.info.transcribes, true);
  const events = await eventsOf(model);
  assertEvents(events);
  assertEquals(await eventsOf(model), events);
  const [, language] = await eventsOf(model, { language: "de", timestamps: false });
  assertEquals(language, { type: "language", language: "de" });
});

Deno.test("segments have words, which are all of their text, and long silences are left out", async () => {
  await using model = await loadModel(path, OPTIONS);
  const events = await eventsOf(model, { words: true });
  assertEvents(events);
  const segments = events.filter((event) => event.type === "segment");
  assert(segments.length > 0);
  for (const { start, end, text, words } of segments) {
    assertEquals(words!.map(({ text }) => text).join(""), text);
    for (const word of words!) {
      assert(word.start <= word.end && word.probability >= 0 && word.probability <= 1);
    }
    assert(Math.abs(words![0].start - start) < 1e-9 || start > words![0].start, `${start}`);
    assert(end > start);
  }
  assertEquals(await eventsOf(model, { words: true }), events);

  // Ten seconds of silence in front of the sound move all times.
  const late = new Float32Array(160_000 + SAMPLES.length);
  late.set(SAMPLES, 160_000);
  const moved = await eventsOf(model, { audio: late, words: true, vad: true });
  const first = moved.find((event) => event.type === "segment")!;
  assert(first.start >= 9 && first.words![0].start >= 9, `${first.start}`);
  assertEquals(
    moved.findLast((event) => event.type === "progress")!.seconds,
    Math.floor(late.length / 160) / 100,
  );
  const silent = await eventsOf(model, { audio: new Float32Array(64_000), vad: true });
  assertEquals(silent.map(({ type }) => type), ["start", "progress", "done"]);
});

Deno.test("a transcript fits its format, whatever is said, and takes one window", async () => {
  await using model = await loadModel(path, OPTIONS);
  const audio = SAMPLES.subarray(0, 160 * 2 * SIZES.rows);
  const formats = [
    { schema: { enum: ["ab", "cd"] } },
    { pattern: "(yes|no)!" },
    { schema: { type: "object", properties: { a: { enum: [1, 2] } }, required: ["a"] } },
  ];
  for (const format of formats) {
    const events = await eventsOf(model, { audio, format, words: true });
    const segments = events.filter((event) => event.type === "segment");
    assertEquals(segments.length, 1);
    const [{ text }] = segments;
    if (format.pattern) assert(/^(yes|no)!$/.test(text), text);
    else assert(["ab", "cd", 1, 2].includes(JSON.parse(text).a ?? JSON.parse(text)), text);
  }
  await assertRejects(() => eventsOf(model, { format: "json" }), RequestError, "cut the sound");
  const wrong = { schema: { type: "odd" } };
  await assertRejects(() => eventsOf(model, { audio, format: wrong }), SchemaError);
});

Deno.test("a file is transcribed as its samples are, and two requests at a time", async () => {
  await using model = await loadModel(path, OPTIONS);
  const file = wavOf(SAMPLES);
  const exact = Float32Array.from(SAMPLES, (value) => Math.round(value * 32767) / 32768);
  const [fromFile, fromSamples] = await Promise.all([
    eventsOf(model, { audio: file }),
    eventsOf(model, { audio: exact }),
  ]);
  assertEquals(fromFile, fromSamples);
});

Deno.test("a worker transcribes likewise, and takes no more memory than was estimated", async () => {
  await using here = await loadModel(path, OPTIONS);
  const expected = await eventsOf(here);
  await using model = await openModelInWorker(path);
  assertEquals(await eventsOf(model), expected);
  const { memory, contextLength } = await estimateMemory(path);
  assertEquals([contextLength, model.contextLength], [SIZES.context, SIZES.context]);
  assertEquals(memory, model.memory);
  await assertRejects(() => eventsOf(model, { audio: new Uint8Array(9) }), AudioError);
});

Deno.test("what the model does not do is refused", async () => {
  await using model = await loadModel(path, OPTIONS);
  const messages = [{ role: "user" as const, content: "Hi" }];
  const asked: (() => unknown)[] = [
    () => Array.fromAsync(model.chat({ messages })),
    () => Array.fromAsync(model.generate({ prompt: "Hi" })),
    () => model.embed(["Hi"]),
    () => model.tokenize("Hi"),
    () => model.logits([1]),
  ];
  for (const ask of asked) await assertRejects(async () => await ask(), RequestError, "Cannot");
  await assertRejects(() => eventsOf(model, { language: "xx" }), RequestError, "en, de, haw");
});

Deno.test("a model of English alone translates nothing", async () => {
  const english = `${folder}/english.gguf`;
  await writeTinyWhisper(english, tinyWeights(), { "whisper.multilingual": false });
  await using model = await loadModel(english, OPTIONS);
  assertEquals((await eventsOf(model))[1], { type: "language", language: "en" });
  await assertRejects(() => eventsOf(model, { translate: true }), RequestError, "English alone");
  await assertRejects(() => eventsOf(model, { language: "de" }), RequestError, "English alone");
});

Deno.test("models that read text transcribe nothing", async () => {
  await writeTinyLlama(`${folder}/llama.gguf`);
  await using model = await loadModel(`${folder}/llama.gguf`, { ...OPTIONS, contextLength: 64 });
  await assertRejects(() => eventsOf(model), RequestError, "capability transcription");
});

Deno.test("a transcription ends when it is aborted, and when the model is closed", async () => {
  const model = await loadModel(path, OPTIONS);
  const abort = new AbortController();
  const events = model.transcribe({ audio: SAMPLES, signal: abort.signal });
  const read = async () => {
    for await (const { type } of events) if (type === "start") abort.abort(new Error("enough"));
  };
  await assertRejects(read, Error, "enough");
  const closing = model.transcribe({ audio: SAMPLES })[Symbol.asyncIterator]();
  await closing.next();
  await model.close();
  await assertRejects(async () => {
    for (;;) if ((await closing.next()).done) return;
  }, ModelClosedError);
});

Deno.test("a header tells that a model transcribes", async () => {
  const info = await inspectModel(path);
  assertEquals(
    [info.transcribes, info.callsTools, info.isEmbeddingModel, info.trainedContextLength],
    [true, false, false, SIZES.context],
  );
});
