// The ollama package.

import { strict as assert } from "node:assert";
import { BOX, passage, sum, weather, weatherTool } from "../../server/box_talk.ts";
import * as box from "./checks.ts";

const { Ollama } = await box.load("ollama");
const ollama = new Ollama({ host: box.url });
const user = (content: string) => ({ role: "user", content });
const options = { temperature: 0 };

await box.check("chat", async () => {
  const { message } = await ollama.chat({ model: BOX, messages: [user(sum.question)], options });
  box.says(message.content, sum.answer);
});

await box.check("stream", async () => {
  const messages = [user(sum.question)];
  const stream = await ollama.chat({ model: BOX, messages, options, stream: true });
  const text = await box.joined(stream, ({ message }: typeof stream) => message.content);
  box.says(text, sum.answer);
});

await box.check("tools", async () => {
  const messages: object[] = [user(weather.question)];
  const ask = { model: BOX, messages, tools: [weatherTool], options };
  const { message } = await ollama.chat(ask);
  const result = box.tellWeather(message.tool_calls[0].function.arguments);
  messages.push(message, { role: "tool", tool_name: weather.name, content: result });
  box.says((await ollama.chat(ask)).message.content, weather.told);
});

await box.check("schema", async () => {
  const messages = [user(passage.question)];
  const { message } = await ollama.chat({ model: BOX, messages, format: passage.schema, options });
  assert.deepEqual(JSON.parse(message.content), passage.facts);
});

await box.check(
  "overflow",
  () => box.refusesLong(() => ollama.chat({ model: BOX, messages: [user(box.long)] })),
);

await box.check("abort", () =>
  box.abandons(async () => {
    const messages = [user("Hi")];
    const stream = await ollama.chat({ model: box.ENDLESS, messages, stream: true });
    for await (const _ of stream) stream.abort();
  }));
