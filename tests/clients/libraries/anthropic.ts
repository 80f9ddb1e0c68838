// The @anthropic-ai/sdk package.

import { strict as assert } from "node:assert";
import { BOX, passage, sum, weather } from "../../server/box_talk.ts";
import * as box from "./checks.ts";

const { Anthropic } = await box.load("@anthropic-ai/sdk");
const anthropic = new Anthropic({ baseURL: box.url, apiKey: "any", maxRetries: 0 });
const { messages: api } = anthropic;
const user = (content: unknown) => ({ role: "user", content });
const common = { model: BOX, max_tokens: 200, temperature: 0 };
const question = [user(sum.question)];

await box.check("chat", async () => {
  const { content } = await api.create({ ...common, messages: question });
  box.says(content[0].text, sum.answer);
});

await box.check("stream", async () => {
  const stream = api.stream({ ...common, messages: question });
  const text = await box.joined(stream, ({ delta }: typeof stream) => delta?.text);
  box.says(text, sum.answer);
});

await box.check("tools", async () => {
  const { name, description, parameters } = weather;
  const messages = [user(weather.question)];
  const ask = {
    ...common,
    messages,
    tools: [{ name, description, input_schema: parameters }],
  };
  const { content, role } = await api.create(ask);
  const call = content.find(({ type }: typeof content) => type === "tool_use");
  const result = box.tellWeather(call.input);
  messages.push(
    { role, content },
    user([{
      type: "tool_result",
      tool_use_id: call.id,
      content: result,
    }]),
  );
  box.says((await api.create(ask)).content[0].text, weather.told);
});

await box.check("schema", async () => {
  const { content } = await api.create({
    ...common,
    messages: [user(passage.question)],
    output_config: { format: { type: "json_schema", schema: passage.schema } },
  });
  assert.deepEqual(JSON.parse(content[0].text), passage.facts);
});

await box.check(
  "overflow",
  () => box.refusesLong(() => api.create({ ...common, messages: [user(box.long)] })),
);

await box.check("abort", () =>
  box.abandons(async () => {
    const ask = { ...common, model: box.ENDLESS, max_tokens: 2000, messages: question };
    const stream = api.stream(ask);
    for await (const _ of stream) stream.abort();
  }));
