// Sessions with the model in the box: it calls a tool, the mask holds its arguments, a validator of zod
// gives their types, and all that in a worker too.

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { loadModel, openModelInWorker, tool } from "../../../mod.ts";
import { passage, weather } from "../../server/box_talk.ts";
import { PROJECT_ROOT } from "../../source_files.ts";

const path = fileURLToPath(new URL("engine/box/quern-tiny.gguf", PROJECT_ROOT));
const model = await loadModel(path, { contextLength: 1024, maxSequences: 4 });
globalThis.addEventListener("unload", () => void model.close());

const plain = { temperature: 0, think: false };

const get_weather = tool({
  description: weather.description,
  parameters: z.object({ city: z.string() }),
  run: ({ city }) => city === "Rome" ? { temperature: 22, sky: "cloudy" } : { error: "unknown" },
});

Deno.test("quern:tiny calls a tool and tells its result", async () => {
  const session = model.session({ tools: { get_weather }, ...plain });
  const answer = await session.send(weather.question);
  assertEquals(answer.calls.map(({ arguments: given }) => given), [weather.arguments]);
  assertMatch(answer.text, weather.told);
  assertEquals([answer.rounds, answer.reason], [2, "stop"]);
  // The second round read the first one from the cache.
  assert(answer.usage.cachedTokens > 0);
});

Deno.test("quern:tiny does so in a worker as well", async () => {
  await using hosted = await openModelInWorker(path, { contextLength: 512 });
  const answer = await hosted.session({ tools: { get_weather }, ...plain }).send(weather.question);
  assertMatch(answer.text, weather.told);
});

Deno.test("the mask holds arguments that the model would write otherwise", async () => {
  const given: string[] = [];
  const elsewhere = tool({
    description: weather.description,
    parameters: z.object({ city: z.enum(["Oslo", "Lima"]), unit: z.literal("C") }),
    run: ({ city, unit }) => void given.push(`${city} ${unit}`),
  });
  const session = model.session({ tools: { get_weather: elsewhere }, ...plain, maxRounds: 1 });
  await session.send(weather.question, { toolChoice: "required" });
  assertMatch(given.join(), /^(Oslo|Lima) C$/);
});

Deno.test("a structured answer of quern:tiny has the type that zod gives it", async () => {
  const schema = z.object({ name: z.string(), age: z.int().transform((age) => age + 1) });
  const { value, text } = await model.session(plain).send(passage.question, { schema });
  assertEquals([value.name, value.age], [passage.facts.name, passage.facts.age + 1]);
  assertEquals(JSON.parse(text), passage.facts);
});

Deno.test("quern:tiny remembers, and in a branch it does not", async () => {
  const session = model.session(plain);
  await session.send("My name is Nora.");
  const told = session.head;
  assertMatch((await session.send("What is my name?")).text, /Nora/);
  session.goTo(undefined);
  assert(!/Nora/.test((await session.send("What is my name?")).text));
  session.goTo(told);
  assertMatch((await session.send("What is my name?")).text, /Nora/);
  const loaded = model.session(plain).load(JSON.parse(JSON.stringify(session.save())));
  assertEquals(loaded.messages, session.messages);
});

Deno.test("two sessions answer at the same time as each does alone", async () => {
  const ask = (question: string) => model.session(plain).send(question);
  const [alone, sum] = [await ask("What is 27 + 45?"), await ask("What is 3 + 4?")];
  const both = await Promise.all([ask("What is 27 + 45?"), ask("What is 3 + 4?")]);
  assertEquals(both.map(({ text }) => text), [alone.text, sum.text]);
});

Deno.test("an abort ends quern:tiny's answer, and the slot is free again", async () => {
  const session = model.session(plain);
  const turn = session.send("Tell me about yourself.");
  const read = async () => {
    for await (const { type } of turn) if (type === "text") turn.abort(new Error("enough"));
  };
  await assertRejects(read, Error, "enough");
  assertEquals(session.messages, []);
  assert((await session.send("Hello!")).text.length > 0);
});
