// token.js by its provider for servers with OpenAI's API.

import { strict as assert } from "node:assert";
import { BOX, passage, sum, weather, weatherTool } from "../../server/box_talk.ts";
import * as box from "./checks.ts";

const { TokenJS } = await box.load("token.js");
const { completions } = new TokenJS({ baseURL: `${box.url}/v1`, apiKey: "any" }).chat;
const user = (content: string) => ({ role: "user", content });
const common = { provider: "openai-compatible", model: BOX, temperature: 0 };

await box.check("chat", async () => {
  const { choices } = await completions.create({ ...common, messages: [user(sum.question)] });
  box.says(choices[0].message.content, sum.answer);
});

await box.check("stream", async () => {
  const stream = await completions.create({
    ...common,
    messages: [user(sum.question)],
    stream: true,
  });
  const text = await box.joined(stream, ({ choices }: typeof stream) => choices[0]?.delta.content);
  box.says(text, sum.answer);
});

await box.check("tools", async () => {
  const messages: object[] = [user(weather.question)];
  // It takes the provider out of what it is given.
  const ask = { ...common, messages, tools: [weatherTool] };
  const { message } = (await completions.create({ ...ask })).choices[0];
  const [call] = message.tool_calls;
  const content = box.tellWeather(JSON.parse(call.function.arguments));
  messages.push(message, { role: "tool", tool_call_id: call.id, content });
  box.says((await completions.create({ ...ask })).choices[0].message.content, weather.told);
});

await box.check("schema", async () => {
  const json_schema = { name: "person", strict: true, schema: passage.schema };
  const { choices } = await completions.create({
    ...common,
    messages: [user(passage.question)],
    response_format: { type: "json_schema", json_schema },
  });
  assert.deepEqual(JSON.parse(choices[0].message.content), passage.facts);
});

await box.check(
  "overflow",
  () => box.refusesLong(() => completions.create({ ...common, messages: [user(box.long)] })),
);
