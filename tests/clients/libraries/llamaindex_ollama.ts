// LlamaIndex with its Ollama package: its chat engine and its agent with a tool.

import { BOX, sum, weather } from "../../server/box_talk.ts";
import * as box from "./checks.ts";

const { Settings, SimpleChatEngine, tool } = await box.load("llamaindex");
const { agent } = await box.load("@llamaindex/workflow").catch(() => ({ agent: undefined }));
const { Ollama } = await box.load("@llamaindex/ollama");
const create = () =>
  new Ollama({ model: BOX, config: { host: box.url }, options: { temperature: 0 } });
const llm = create();
Settings.llm = llm;

await box.check("chat", async () => {
  const engine = new SimpleChatEngine({ llm });
  const { message } = await engine.chat({ message: sum.question });
  box.says(message.content, sum.answer);
});

await box.check("stream", async () => {
  const messages = [{ role: "user", content: sum.question }];
  const stream = await llm.chat({ messages, stream: true });
  box.says(await box.joined(stream, ({ delta }: typeof stream) => delta), sum.answer);
});

await box.check("tools", async () => {
  const { name, description, parameters } = weather;
  const getWeather = tool((given: unknown) => box.tellWeather(given), {
    name,
    description,
    parameters,
  });
  if (!agent) {
    const { message } = await llm.chat({
      messages: [{ role: "user", content: weather.question }],
      tools: [getWeather],
    });
    const [call] = message.options.toolCall;
    box.tellWeather(typeof call.input === "string" ? JSON.parse(call.input) : call.input);
    return;
  }
  const { data } = await agent({ llm, tools: [getWeather] }).run(weather.question);
  box.says(data.result, weather.told);
});

await box.check("overflow", () =>
  box.refusesLong(() => {
    return llm.chat({ messages: [{ role: "user", content: box.long }] });
  }));
