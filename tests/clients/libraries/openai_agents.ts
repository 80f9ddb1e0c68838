// OpenAI's Agents SDK, by each of the two APIs that it knows.

import { strict as assert } from "node:assert";
import { BOX, passage, sum, weather } from "../../server/box_talk.ts";
import * as box from "./checks.ts";

const agents = await box.load("@openai/agents");
const { OpenAI } = await box.load("openai");
const { z } = await box.load("zod");
const { Agent, run, tool } = agents;
agents.setTracingDisabled(true);
agents.setDefaultOpenAIClient(
  new OpenAI({ baseURL: `${box.url}/v1`, apiKey: "any", maxRetries: 0 }),
);
const common = { name: "Quern", model: BOX, modelSettings: { temperature: 0 } };

/** Tries one thing by each API. */
function checkBoth(name: string, attempt: () => Promise<unknown>): Promise<void> {
  return box.check(name, async () => {
    for (const api of ["chat_completions", "responses"]) {
      agents.setOpenAIAPI(api);
      await attempt().catch((cause) => {
        throw new Error(`${api}: ${cause.message}`, { cause });
      });
    }
  });
}

await checkBoth("chat", async () => {
  const { finalOutput } = await run(new Agent(common), sum.question);
  box.says(finalOutput, sum.answer);
});

await checkBoth("stream", async () => {
  const stream = await run(new Agent(common), sum.question, { stream: true });
  box.says(await box.joined<string>(stream.toTextStream(), (text) => text), sum.answer);
});

await checkBoth("tools", async () => {
  const { name, description } = weather;
  const getWeather = tool({
    name,
    description,
    parameters: z.object({ city: z.string() }),
    execute: (given: unknown) => Promise.resolve(box.tellWeather(given)),
  });
  const { finalOutput } = await run(
    new Agent({ ...common, tools: [getWeather] }),
    weather.question,
  );
  box.says(finalOutput, weather.told);
});

await checkBoth("schema", async () => {
  const outputType = z.object({ name: z.string(), age: z.number().int() });
  const { finalOutput } = await run(new Agent({ ...common, outputType }), passage.question);
  assert.deepEqual(finalOutput, passage.facts);
});

await checkBoth("overflow", () => box.refusesLong(() => run(new Agent(common), box.long)));

await checkBoth("abort", () =>
  box.abandons(async () => {
    const abort = new AbortController();
    const endless = new Agent({ ...common, model: box.ENDLESS });
    const stream = await run(endless, "Hi", { stream: true, signal: abort.signal });
    for await (const _ of stream.toTextStream()) abort.abort();
  }));
