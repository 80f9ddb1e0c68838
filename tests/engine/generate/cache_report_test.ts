// What an answer tells of the cache: how much of its prompt was there, and which place cost the rest.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TextHistory } from "../../../engine/generate/cache_report.ts";
import { type ChatMessage, loadModel } from "../../../engine/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { folder, readAnswer, tinyLoad } from "../harness.ts";

const path = `${folder}/reported.gguf`;
await writeTinyLlama(path, { context: 1024 });
const model = await loadModel(path, { ...tinyLoad, contextLength: 1024 });
globalThis.addEventListener("unload", () => void model.close());

const devices = Array.from({ length: 12 }, (_, i) => `Lamp ${i} is in room ${i * 7}.`).join(" ");

async function ask(clock: string, more: ChatMessage[] = []) {
  const messages: ChatMessage[] = [
    { role: "system", content: `It is ${clock}. ${devices}` },
    { role: "user", content: "Which lamps are there?" },
    ...more,
  ];
  const { done } = await readAnswer(
    model.chat({ messages, temperature: 0, maxTokens: 4, cacheReport: true }),
  );
  return done!.cacheReport!;
}

Deno.test("a prompt whose beginning has changed tells the place, its message and the cost", async () => {
  const first = await ask("10:15");
  assertEquals([first.cachedTokens, first.lost], [0, undefined]);
  const same = await ask("10:15");
  assert(same.cachedTokens > 200 && same.lost === undefined);
  const { lost, cachedTokens } = await ask("10:16");
  assertEquals(cachedTokens, 0);
  assert(lost!.tokens > 200 && lost!.milliseconds > 0);
  assertEquals([lost!.message, lost!.is[0], lost!.was[0]], [0, "6", "5"]);
  assertStringIncludes(lost!.before, "It is 10:1");
  assertStringIncludes(lost!.is, ". Lamp 0");
});

Deno.test("a conversation that goes on, and another one, have lost nothing", async () => {
  await ask("11:00");
  const on = await ask("11:00", [
    { role: "assistant", content: "Many." },
    { role: "user", content: "Turn them on." },
  ]);
  assertEquals(on.lost, undefined);
  const messages: ChatMessage[] = [{ role: "user", content: "Sing a song about the sea." }];
  const { done } = await readAnswer(model.chat({ messages, maxTokens: 2, cacheReport: true }));
  assertEquals(done!.cacheReport!.lost, undefined);
  const plain = await readAnswer(model.chat({ messages, maxTokens: 2 }));
  assertEquals(plain.done!.cacheReport, undefined);
});

Deno.test("the text that is repeated most behind its parting is the one that is told", () => {
  const history = new TextHistory();
  const text = (seed: number, length: number) => Array.from({ length }, (_, i) => seed * 1000 + i);
  const body = text(1, 100);
  history.add([7, ...body]);
  history.add([8, ...body.slice(0, 40), ...text(2, 60)]);
  const { at, repeated, earlier } = history.parting([9, ...body])!;
  assertEquals([at, repeated, earlier[0]], [0, 96, 7]);
  assertEquals(history.parting([...text(3, 90)]), undefined);
  assertEquals(history.parting([7, ...body, 5, 6]), undefined);
  // What an earlier prompt has in common at its beginning counts against another's repetition.
  assertEquals(new TextHistory().parting(body), undefined);
});
