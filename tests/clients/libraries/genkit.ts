// Genkit with its Ollama plugin, which reads a stream write by write.

import { strict as assert } from "node:assert";
import { BOX, sum, weather } from "../../server/box_talk.ts";
import * as box from "./checks.ts";

const { genkit, z } = await box.load("genkit");
const { ollama } = await box.load("genkitx-ollama");
const models = [{ name: BOX, type: "chat", supports: { tools: true } }];
const ai = genkit({ plugins: [ollama({ models, serverAddress: box.url })] });
const common = { model: `ollama/${BOX}`, config: { temperature: 0 } };

await box.check("chat", async () => {
  box.says((await ai.generate({ ...common, prompt: sum.question })).text, sum.answer);
});

/** Genkit takes each read for one record. A busy machine may read two at once, so it gets some tries. */
const TRIES = 3;

await box.check("stream", async () => {
  for (let attempt = 1;; attempt++) {
    const { stream, response } = ai.generateStream({ ...common, prompt: sum.question });
    try {
      const text = await box.joined(stream, (chunk: { text: string }) => chunk.text);
      box.says(text, sum.answer);
      assert.equal((await response).text, text);
      return;
    } catch (error) {
      await response.catch(() => {});
      const isTorn = error instanceof Error && /after JSON at position/.test(error.message);
      if (!isTorn || attempt === TRIES) throw error;
    }
  }
});

await box.check("tools", async () => {
  const { name, description } = weather;
  const inputSchema = z.object({ city: z.string() });
  const getWeather = ai.defineTool(
    { name, description, inputSchema },
    (given: unknown) => Promise.resolve(box.tellWeather(given)),
  );
  const { text } = await ai.generate({ ...common, prompt: weather.question, tools: [getWeather] });
  box.says(text, weather.told);
});

await box.check(
  "overflow",
  () => box.refusesLong(() => ai.generate({ ...common, prompt: box.long })),
);
