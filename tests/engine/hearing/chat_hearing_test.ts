// Text models that hear: from the file of a sound to logits, those of llama.cpp for the same files; what
// counts as tokens; conversations; and sounds that cannot be heard.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { loadSoundEncoder } from "../../../engine/hearing/mod.ts";
import { HearingReader } from "../../../engine/hearing/reader.ts";
import {
  AudioError,
  type ChatRequest,
  loadModel,
  type Model,
  RequestError,
} from "../../../engine/mod.ts";
import { encodePrompt, MediaMarks, type PromptItem } from "../../../engine/prompt/mod.ts";
import { concat } from "../../../engine/run/mod.ts";
import { openDevice } from "../../../kernels/mod.ts";
import { conformanceTest } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { firstOf } from "../../share.ts";
import { FIXTURES, pathOf, readFixture, readFloats, readManifest } from "./fixtures.ts";

const LOAD = { contextLength: 1600, maxSequences: 1 };

/** Most error of logits. */
const MOST = 1e-5;

function loadFixture(name: string, text: string): Promise<Model> {
  const projector = pathOf(name, "mmproj.gguf").pathname;
  return loadModel(pathOf(name, text), { ...LOAD, exact: true, projector });
}

/** A fixture's prompt with a sound, as a request's would be. */
async function itemsOf(
  { tokenizer, contextLength }: Model,
  name: string,
  prompt: string,
  sound: Uint8Array,
): Promise<PromptItem[]> {
  using device = await openDevice();
  using encoder = await loadSoundEncoder(await readFixture(name), device);
  const reader = new HearingReader(encoder, encoder.columns, (work) => work());
  const marks = new MediaMarks();
  const text = marks.mark(prompt, [], [sound]);
  const read = await reader.read(sound);
  const measured = await reader.measure(sound);
  assertEquals(measured.texts, read.texts);
  assertEquals(measured.parts.map(({ tokens }) => tokens), read.parts.map(({ tokens }) => tokens));
  const media = { columns: encoder.columns, tokens: Infinity };
  return encodePrompt({ tokenizer, contextLength, media }, { prompt: marks.split(text, [read]) });
}

for (const name of firstOf(FIXTURES, 4)) {
  conformanceTest(`a text model with ${name} hears as llama.cpp's does`, async () => {
    const { prompt, files, sounds: { short } } = await readManifest(name);
    await using model = await loadFixture(name, files.text);
    assert(model.info.hears);
    const sound = await Deno.readFile(pathOf(name, short.file));
    const items = await itemsOf(model, name, prompt, sound);
    const parts = short.chunks.flatMap(({ tokens, n_tokens }) => tokens ?? [n_tokens!]);
    assertEquals(items.map((item) => typeof item === "number" ? item : item.tokens), parts);
    const logits = await model.logits(items);
    const [, columns] = short.logits_shape;
    const rows = short.logits_rows.map((row) =>
      logits.subarray(row * columns, (row + 1) * columns)
    );
    const error = nmse(concat(rows), await readFloats(name, short.logits));
    assert(error <= MOST, `NMSE ${error}`);
  });
}

conformanceTest("a conversation about a sound is answered, counted and found again", async () => {
  const name = "qwen3a";
  const { files, sounds: { short, long } } = await readManifest(name);
  await using model = await loadFixture(name, files.text);
  const [first, other] = await Promise.all(
    [short, long].map(({ file }) => Deno.readFile(pathOf(name, file))),
  );
  const about = (
    audio: readonly (Uint8Array | string)[],
    content = "what is in <__media__> this",
  ): ChatRequest => ({
    messages: [{ role: "user", content, audio }],
    maxTokens: 4,
    temperature: 0,
  });
  const answer = async (request: ChatRequest) => {
    const events = await Array.fromAsync(model.chat(request));
    const done = events.find((event) => event.type === "done")!;
    assert(done.type === "done");
    return done;
  };
  const shown = await model.renderChat(about([first]));
  assert(shown.includes("what is in [audio-0] this"), shown);
  const tokens = short.windows.reduce((sum, { n_tokens }) => sum + n_tokens, 0);
  const request = about([first.toBase64()]);
  const { usage } = await answer(request);
  assertEquals(usage.promptTokens, await model.countTokens(request));
  assert(usage.promptTokens > tokens + 2, "its rows and marks count like tokens");
  const again = await answer(request);
  assert(again.usage.cachedTokens! > tokens, "the sound is in the prefix cache");
  const both = await answer(about([first, other], "<__media__> or <__media__>"));
  assert(both.usage.promptTokens > usage.promptTokens + 150, "both are heard");

  const wrong = new TextEncoder().encode("no sound");
  await assertRejects(() => answer(about([wrong])), AudioError, "Cannot read the sound: ");
  await assertRejects(
    () => answer(about([first, wrong])),
    AudioError,
    "Cannot read sound 2 of 2: ",
  );
  const image: ChatRequest = { messages: [{ role: "user", content: "", images: [wrong] }] };
  await assertRejects(() => answer(image), RequestError, "reads no images");
  await assertRejects(
    () => Array.fromAsync(model.generate({ prompt: [1, 2], audio: [first] })),
    RequestError,
    "no place for them",
  );
});

conformanceTest("a model that hears writes down what is said, piece by piece", async () => {
  const { files, sounds: { short } } = await readManifest("qwen3a");
  await using model = await loadFixture("qwen3a", files.text);
  // Forty seconds, with a silence where the first piece may end.
  const samples = Float32Array.from({ length: 40 * 16_000 }, (_, i) => {
    const seconds = i / 16_000;
    return seconds >= 26 && seconds < 27 ? 0 : 0.3 * Math.sin(i / 7);
  });
  const events = await Array.fromAsync(
    model.transcribe({ audio: samples, language: "en", prompt: "Quern" }),
  );
  assertEquals(events.map(({ type }) => type), [
    ...["start", "language", "segment", "progress", "segment", "progress", "done"] as const,
  ]);
  const segments = events.filter((event) => event.type === "segment");
  const [first, second] = segments;
  assert(first.start === 0 && first.end > 26 && first.end < 27, `cut at ${first.end}`);
  assertEquals([second.start, second.end], [first.end, 40]);
  const sound = await Deno.readFile(pathOf("qwen3a", short.file));
  await assertRejects(
    () => Array.fromAsync(model.transcribe({ audio: sound, words: true })),
    RequestError,
    "times of words",
  );
});

conformanceTest("a model without an audio encoder says so", async () => {
  const { files } = await readManifest("qwen3a");
  await using model = await loadModel(pathOf("qwen3a", files.text), LOAD);
  assertEquals(model.info.hears, undefined);
  const audio = [new Uint8Array(4)];
  await assertRejects(
    () => Array.fromAsync(model.generate({ prompt: "x", audio })),
    RequestError,
    "use a model that has the capability audio",
  );
});
