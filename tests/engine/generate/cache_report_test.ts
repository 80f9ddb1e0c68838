// What an answer tells of the cache: how much of its prompt was there, and which place cost the rest.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type AnsweredPrompt, TextHistory } from "../../../engine/generate/cache_report.ts";
import {
  type CacheReport,
  type ChatMessage,
  type ChatRequest,
  loadModel,
} from "../../../engine/mod.ts";
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

/** A history of texts, and how prompts stand to it. */
function historyOf(...texts: number[][]) {
  const history = new TextHistory();
  const say = (tokens: number[], more: Partial<AnsweredPrompt> = {}) => {
    const report = { promptTokens: 0, commonTokens: 0, cachedTokens: 0 } as CacheReport;
    const promptLength = tokens.length;
    const opening = history.opening(tokens, more.owner ?? "");
    history.add({ tokens, promptLength, opening, title: "", owner: "", report, ...more });
  };
  for (const text of texts) say(text);
  const kept = { onDevice: 0, inMemory: 0, onDisk: 0, reusable: 0 };
  const requests = () => history.conversations(() => kept).map((one) => one.requests);
  return { history, say, requests };
}

const text = (seed: number, length: number) => Array.from({ length }, (_, i) => seed * 1000 + i);

Deno.test("the text that is repeated most behind its parting is the one that is told", () => {
  const body = text(1, 100);
  const { history } = historyOf([7, ...body], [8, ...body.slice(0, 40), ...text(2, 60)]);
  const { at, repeated, earlier } = history.opening([9, ...body], "").parting!;
  assertEquals([at, repeated, earlier[0]], [0, 100, 7]);
  assertEquals(history.opening([...text(3, 90)], ""), { common: 0 });
  assertEquals(history.opening([7, ...body, 5, 6], ""), { common: 101 });
  // What an earlier prompt has in common at its beginning counts against another's repetition.
  const further = historyOf([7, ...body], [9, ...body.slice(0, 80)]).history;
  assertEquals(further.opening([9, ...body], ""), { common: 81 });
  assertEquals(new TextHistory().opening(body, ""), { common: 0 });
});

Deno.test("repeated parts are found wherever they lie, and each is counted once", () => {
  for (let moved = 0; moved < 20; moved++) {
    const { history } = historyOf([7, ...text(1, 50), ...text(2, 5), ...text(3, 50)]);
    const prompt = [8, ...text(4, moved), ...text(1, 50), ...text(5, 3), ...text(3, 50)];
    assertEquals(history.opening(prompt, "").parting?.repeated, 100, `moved by ${moved}`);
  }
  const { history } = historyOf([7, ...text(1, 40), ...text(1, 40)]);
  assertEquals(history.opening([8, ...text(1, 40)], "").parting?.repeated, 80);
  const few = historyOf([7, ...text(1, 31)]).history;
  assertEquals(few.opening([8, ...text(1, 31)], "").parting, undefined);
});

Deno.test("a conversation is one however its beginning changes, and others are others", () => {
  const { history, say, requests } = historyOf();
  const body = text(1, 100);
  say([7, ...body], { promptLength: 90 });
  assertEquals(requests(), [1]);
  // It goes on from its prompt, though not from all of its answer.
  say([7, ...body.slice(0, 91), ...text(2, 30)]);
  // It repeats its prompt behind a clock.
  say([8, ...body.slice(0, 91), ...text(2, 30), ...text(3, 9)]);
  assertEquals(requests(), [3]);
  say([8, ...body.slice(0, 60), ...text(4, 60)]);
  say(text(5, 60));
  assertEquals(requests(), [1, 1, 3]);
  // Two sessions are two conversations, and so are a subagent and the main one.
  const session = (id: string, isBeside = false) => ({ session: { id, isBeside } });
  for (const one of [session("a"), session("b"), session("a"), session("a", true)]) {
    say([9, ...text(6, 50)], one);
  }
  assertEquals(requests(), [1, 2, 1, 1, 1, 3]);
  // Of others' conversations nobody is told.
  say([9, ...text(6, 50)], { owner: "alice" });
  assertEquals(requests().length, 7);
  assertEquals(history.opening([9, ...text(6, 50)], "bob"), { common: 0 });
  assertEquals(history.opening([9, ...text(6, 50)], "alice"), { common: 51 });
});

Deno.test("a model tells what its cache holds, by conversation", async () => {
  await using fresh = await loadModel(path, { ...tinyLoad, contextLength: 1024 });
  const say = async (system: string, content: string, more: Partial<ChatRequest> = {}) =>
    await readAnswer(fresh.chat({
      messages: [{ role: "system", content: `${system} ${devices}` }, { role: "user", content }],
      maxTokens: 4,
      temperature: 0,
      ...more,
    }));
  assertEquals((await fresh.cacheState()).conversations, []);
  await say("Be short.", "<context>\nOne\n</context>\n Which lamps\nare there?");
  const other = { session: { id: "s", isBeside: true } };
  await say("It is 10:15.", "Sing.", other);
  await say("It is 10:16.", "Sing.", other);
  const before = Date.now();
  const { blockTokens, conversations } = await fresh.cacheState();
  assertEquals(blockTokens, 32);
  assertEquals(conversations.map(({ title, session, requests }) => [title, session, requests]), [
    ["Sing.", other.session, 2],
    ["Which lamps are there?", undefined, 1],
  ]);
  for (const { tokens, kept, lastUsed } of conversations) {
    // Of the answer, all but its last token is in the cache.
    const whole = tokens - 1 - (tokens - 1) % 32;
    assertEquals(kept, { onDevice: whole, inMemory: 0, onDisk: 0, reusable: whole });
    assert(lastUsed <= before && lastUsed > before - 60_000);
  }
  const [{ lastPrompt }] = conversations;
  assert(lastPrompt.lost!.tokens > 200 && lastPrompt.commonTokens > 0);
  assertEquals([lastPrompt.lost!.message, lastPrompt.cachedTokens], [0, 0]);
});
