// Thinking that is ended after a budget of tokens, or once somebody wants the answer: with a model of
// random weights, which would never end it itself.

import {
  type ChatRequest,
  loadModel,
  openModelInProcess,
  openModelInWorker,
} from "../../../engine/mod.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { TOOL_TEMPLATE } from "../../tiny_model.ts";
import { folder, readAnswer, tinyLoad } from "../harness.ts";
import { assert, assertEquals } from "@std/assert";

const path = `${folder}/thinking.gguf`;
await writeTinyLlama(path, { template: TOOL_TEMPLATE, context: 16_384 });
const model = await loadModel(path, { ...tinyLoad, contextLength: 16_384 });
globalThis.addEventListener("unload", () => void model.close());

const CHAT: ChatRequest = {
  messages: [{ role: "user", content: "Which is the longest river of this country?" }],
  think: true,
  maxTokens: 60,
  temperature: 0,
  ignoreEnd: true,
};

/** The thinking of so many tokens, as it comes when nothing ends it. */
async function thought(count: number, more: Partial<ChatRequest> = {}): Promise<string> {
  return (await readAnswer(model.chat({ ...CHAT, ...more, maxTokens: count }))).thinking.trim();
}

Deno.test("thinking ends after as many tokens as it may take, and the answer follows", async () => {
  for (const more of [{}, { temperature: 0.8, seed: 3 }, { logprobs: 2 }]) {
    for (const thinkBudget of [1, 7, 10, 33]) {
      const answer = await readAnswer(model.chat({ ...CHAT, ...more, thinkBudget }));
      assertEquals(answer.thinking.trim(), await thought(thinkBudget, more));
      assert(answer.text !== "", "an answer");
      assertEquals(answer.done!.usage.completionTokens, 60);
    }
  }
});

Deno.test("answers of several at a time keep to their own budgets", async () => {
  const budgets = [5, 12, undefined, 20];
  const answers = await Promise.all(
    budgets.map((thinkBudget) =>
      readAnswer(model.chat({ ...CHAT, ...(thinkBudget !== undefined && { thinkBudget }) }))
    ),
  );
  for (const [i, thinkBudget = 60] of budgets.entries()) {
    assertEquals(answers[i].thinking.trim(), await thought(thinkBudget));
    assertEquals(answers[i].text === "", thinkBudget === 60);
  }
});

Deno.test("a document of a schema follows thinking that was ended", async () => {
  const format = { schema: { enum: ["yes", "no"] } };
  const answer = await readAnswer(
    model.chat({ ...CHAT, ignoreEnd: false, format, thinkBudget: 9 }),
  );
  assert(/^"(yes|no)"$/.test(answer.text), answer.text);
  assert(answer.thinking !== "");
});

Deno.test("a budget changes nothing where a chat does not think", async () => {
  const plain = { ...CHAT, think: false };
  const [expected, answer] = await Promise.all([
    readAnswer(model.chat(plain)),
    readAnswer(model.chat({ ...plain, thinkBudget: 3 })),
  ]);
  assertEquals(answer.text, expected.text);
});

/** Where a model may run: a request for its answer has to reach it there. */
const PLACES = {
  "in this thread": () => Promise.resolve(model),
  "in a worker": () => openModelInWorker(path, { ...tinyLoad, contextLength: 16_384 }),
  "in a process": () => openModelInProcess(path, { ...tinyLoad, contextLength: 16_384 }),
};

for (const [place, open] of Object.entries(PLACES)) {
  Deno.test(`who wants the answer now gets it at the next step ${place}`, async () => {
    const model = await open();
    const now = new AbortController();
    let [thinking, text, events] = ["", "", 0];
    for await (const event of model.chat({ ...CHAT, maxTokens: 16_000, answerNow: now.signal })) {
      if (event.type === "thinking") thinking += event.text;
      if (event.type === "text") text += event.text;
      if (text.length > 100) break;
      if (event.type === "thinking" && ++events === 5) now.abort();
    }
    // The word comes over another thread, and a busy machine is late with it, but not by the whole window.
    assert(text.length > 100, `${thinking.length} of thinking, ${text.length} of text`);
    if (place !== "in this thread") await model.close();
  });
}

Deno.test("an answer that is wanted before it begins does not think on", async () => {
  const answer = await readAnswer(model.chat({ ...CHAT, answerNow: AbortSignal.abort() }));
  assertEquals(answer.thinking.trim(), await thought(1));
  assert(answer.text !== "");
});
