// The openai package: chat completions and responses.

import { strict as assert } from "node:assert";
import { BOX, passage, sum, weather, weatherTool } from "../../server/box_talk.ts";
import * as box from "./checks.ts";

const { OpenAI } = await box.load("openai");
const openai = new OpenAI({ baseURL: `${box.url}/v1`, apiKey: "any", maxRetries: 0 });
const { completions } = openai.chat;
const user = (content: string) => ({ role: "user", content });
const model = BOX;
const temperature = 0;
const format = { type: "json_schema", name: "person", schema: passage.schema, strict: true };

await box.check("chat", async () => {
  const messages = [user(sum.question)];
  const { choices } = await completions.create({ model, messages, temperature });
  box.says(choices[0].message.content, sum.answer);
  const { output_text } = await openai.responses.create({
    model,
    input: sum.question,
    temperature,
  });
  box.says(output_text, sum.answer);
});

await box.check("stream", async () => {
  const messages = [user(sum.question)];
  const stream = await completions.create({ model, messages, temperature, stream: true });
  const text = await box.joined(stream, ({ choices }: typeof stream) => choices[0]?.delta.content);
  box.says(text, sum.answer);
  const events = openai.responses.stream({ model, input: sum.question, temperature });
  box.says(await box.joined(events, ({ delta }: typeof events) => delta), sum.answer);
  await comesBack();
});

/** Loses the stream of a response in the background after a few events, and takes it up again. */
async function comesBack() {
  const ask = { model, input: sum.question, temperature, background: true };
  const begun = [];
  for await (const event of await openai.responses.create({ ...ask, stream: true })) {
    begun.push(event);
    if (begun.length === 5) break;
  }
  const [{ response: { id } }] = begun;
  const starting_after = begun.at(-1)!.sequence_number;
  for await (const event of await openai.responses.retrieve(id, { stream: true, starting_after })) {
    begun.push(event);
  }
  assert.deepEqual(begun.map(({ sequence_number }) => sequence_number), [...begun.keys()]);
  box.says(begun.at(-1).response.output[0].content[0].text, sum.answer);
  box.says(begun.map(({ delta }) => delta).join(""), sum.answer);
  const helper = openai.responses.stream({ response_id: id, starting_after: 3 });
  box.says((await helper.finalResponse()).output_text, sum.answer);
  const endless = await openai.responses.create({ ...ask, model: box.ENDLESS });
  assert.equal(endless.status, "queued");
  assert.equal((await openai.responses.cancel(endless.id)).status, "cancelled");
  assert.equal((await openai.responses.retrieve(endless.id)).status, "cancelled");
  const beyond = openai.responses.retrieve(id, { stream: true, starting_after: 10_000 });
  await assert.rejects(beyond, { status: 400, param: "starting_after" });
  await assert.rejects(openai.responses.cancel("resp_none"), { status: 404 });
}

await box.check("tools", async () => {
  const messages: object[] = [user(weather.question)];
  const ask = { model, messages, tools: [weatherTool], temperature };
  const { message } = (await completions.create(ask)).choices[0];
  const [call] = message.tool_calls;
  const content = box.tellWeather(JSON.parse(call.function.arguments));
  messages.push(message, { role: "tool", tool_call_id: call.id, content });
  box.says((await completions.create(ask)).choices[0].message.content, weather.told);
});

await box.check("schema", async () => {
  const messages = [user(passage.question)];
  const { name, schema, strict } = format;
  const response_format = { type: "json_schema", json_schema: { name, schema, strict } };
  const { choices } = await completions.parse({ model, messages, temperature, response_format });
  assert.deepEqual(choices[0].message.parsed, passage.facts);
  const input = passage.question;
  const { output_parsed } = await openai.responses.parse({
    model,
    input,
    temperature,
    text: { format },
  });
  assert.deepEqual(output_parsed, passage.facts);
});

await box.check("overflow", async () => {
  await box.refusesLong(() => completions.create({ model, messages: [user(box.long)] }));
  await box.refusesLong(() => openai.responses.create({ model, input: box.long }));
});

await box.check("abort", async () => {
  const ask = { model: box.ENDLESS, messages: [user("Hi")], stream: true };
  await box.abandons(async () => {
    for await (const _ of await completions.create(ask)) break;
  });
  await box.abandons(async () => {
    const stream = openai.responses.stream({ model: box.ENDLESS, input: "Hi" });
    for await (const _ of stream) stream.abort();
  });
});

/** A second of noise as a WAV file: PCM of 8 bits at 16 kHz. */
function noise(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(44 + 16_000);
  const view = new DataView(bytes.buffer);
  const text = (at: number, value: string) => bytes.set(new TextEncoder().encode(value), at);
  text(0, "RIFF");
  view.setUint32(4, bytes.length - 8, true);
  text(8, "WAVEfmt ");
  const format: [number, number][] = [[16, 4], [1, 2], [1, 2], [16_000, 4], [16_000, 4], [1, 2], [
    8,
    2,
  ]];
  let at = 16;
  for (const [value, size] of format) {
    if (size === 4) view.setUint32(at, value, true);
    else view.setUint16(at, value, true);
    at += size;
  }
  text(36, "data");
  view.setUint32(40, 16_000, true);
  for (let i = 44; i < bytes.length; i++) bytes[i] = i * i % 251;
  return bytes;
}

await box.check("transcribe", async () => {
  const { transcriptions, translations } = openai.audio;
  const ask = { file: new File([noise()], "noise.wav"), model: "whisper", language: "en" };
  const { text, usage } = await transcriptions.create({ ...ask, seed: 1 });
  assert.deepEqual([typeof text, usage], ["string", { type: "duration", seconds: 1 }]);
  const { words, segments, language } = await transcriptions.create({
    ...ask,
    response_format: "verbose_json",
    timestamp_granularities: ["word", "segment"],
  });
  assert.equal(language, "english");
  for (const { start, end } of [...words, ...segments]) assert(0 <= start && start <= end);
  const events = await transcriptions.create({ ...ask, stream: true });
  let [told, whole] = ["", undefined];
  for await (const event of events) {
    if (event.type === "transcript.text.delta") told += event.delta;
    else whole = event.text;
  }
  assert.equal(told.trim(), whole);
  const { file, model } = ask;
  const { task } = await translations.create({ file, model, response_format: "verbose_json" });
  assert.equal(task, "translate");
  const srt = await transcriptions.create({ ...ask, response_format: "srt" });
  assert.match(srt, /^$|^1\n00:00:\d\d,\d{3} --> 00:00:/);
  await assert.rejects(transcriptions.create({ ...ask, file: new File(["no sound"], "x.mp3") }), {
    status: 400,
  });
});
