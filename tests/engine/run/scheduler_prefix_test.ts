// Prompts that begin like earlier ones: how many of their tokens need not run, that sharing changes
// no text, and what is forgotten when the cache is full. On the GPU: the second turn of a chat.

import { type ChatRequest, loadModel } from "../../../engine/mod.ts";
import type { Scheduler } from "../../../engine/run/scheduler.ts";
import { readAnswer, tinyLoad, tinyPath } from "../harness.ts";
import { continuation } from "./fake_runner.ts";
import { add, promptOf, start, turns, until } from "./scheduler_runs.ts";
import { assert, assertEquals } from "@std/assert";
import { share } from "../../share.ts";

/** Runs a prompt to its end, and says how many of its tokens were there. */
async function cachedOf(scheduler: Scheduler, prompt: number[], maxTokens = 3): Promise<number> {
  const run = add(scheduler, prompt, maxTokens);
  assertEquals(await run.ended, "length");
  assertEquals(run.tokens, continuation(prompt, maxTokens));
  return run.cachedTokens()!;
}

Deno.test("a prompt begins with the full blocks that are there, and at least one token runs", async () => {
  const { scheduler, runner } = start();
  const prompt = promptOf(100);
  assertEquals(await cachedOf(scheduler, prompt), 0);
  assertEquals(await cachedOf(scheduler, prompt), 96);
  const before = runner.rowsFed;
  assertEquals(await cachedOf(scheduler, prompt.slice(0, 97), 1), 96);
  assertEquals(runner.rowsFed - before, 1, "all but the last token were there");
  assertEquals(await cachedOf(scheduler, prompt.slice(0, 96)), 64);
  assertEquals(await cachedOf(scheduler, prompt.slice(0, 32)), 0);
  assertEquals(await cachedOf(scheduler, [...prompt.slice(0, 70), ...promptOf(60, 2)]), 64);
  assertEquals(await cachedOf(scheduler, promptOf(100, 3)), 0);
});

Deno.test("a conversation goes on from its own answers", async () => {
  const { scheduler } = start();
  const prompt = promptOf(40);
  for (const cached of [0, 64, 96, 128]) {
    assertEquals(await cachedOf(scheduler, prompt, 30), cached);
    prompt.push(...continuation(prompt, 30), 5, 6);
  }
});

Deno.test("what a running sequence has been fed is there for others", async () => {
  const { scheduler } = start();
  const prompt = promptOf(80);
  const first = add(scheduler, prompt, 100);
  await until(() => first.tokens.length > 20);
  const second = add(scheduler, [...prompt, ...first.tokens.slice(0, 17)], 40);
  const third = add(scheduler, [...prompt.slice(0, 50), 1], 40);
  await until(() => second.tokens.length > 3);
  first.sequence.abort();
  assertEquals(await first.ended, "aborted");
  assertEquals([await second.ended, await third.ended], ["length", "length"]);
  assertEquals([second.cachedTokens(), third.cachedTokens()], [96, 32]);
  assertEquals(second.tokens, continuation(prompt, 57).slice(17));
  assertEquals(third.tokens, continuation([...prompt.slice(0, 50), 1], 40));
});

Deno.test("prompts that come at once feed what they have in common once", async () => {
  const { scheduler, runner } = start();
  const prompt = promptOf(100);
  const runs = [1, 2, 3, 4].map((seed) => add(scheduler, [...prompt, seed], 5));
  for (const [i, { ended, tokens, cachedTokens }] of runs.entries()) {
    await ended;
    assertEquals(tokens, continuation([...prompt, i + 1], 5));
    assertEquals(cachedTokens(), i === 0 ? 0 : 96);
  }
  assertEquals(runner.rowsFed, 101 + 3 * 5 + 4 * 4);
});

Deno.test("blocks filled twice at the same time become one, and what follows is found", async () => {
  const { scheduler } = start({ chunkSize: 200 });
  const prompt = promptOf(64);
  const [first, second] = [1, 2].map((seed) => [...prompt, ...promptOf(40, seed)]);
  const other = add(scheduler, promptOf(5, 9), 3); // while it runs, both are admitted at once
  const runs = [first, second].map((tokens) => add(scheduler, tokens, 3));
  await other.ended;
  for (const { ended } of runs) await ended;
  assertEquals(runs.map(({ cachedTokens }) => cachedTokens()), [0, 0]);
  assertEquals(await cachedOf(scheduler, first), 96);
  assertEquals(await cachedOf(scheduler, second), 96);
});

Deno.test("a sequence that steps back finds its blocks where they are still there", async () => {
  const { scheduler, runner } = start({ slots: 2, blocks: 11, chunkSize: 200 });
  const prompts = [1, 2].map((seed) => promptOf(100, seed));
  const runs = prompts.map((prompt) => add(scheduler, prompt, 80));
  for (const [i, { ended, tokens }] of runs.entries()) {
    assertEquals(await ended, "length");
    assertEquals(tokens, continuation(prompts[i], 80));
  }
  assertEquals(runner.admissions, 3, "one steps back, once");
  // 100 tokens and 79 that follow of each, and of the one that steps back what was in no full block.
  const again = runner.rowsFed - 2 * 179;
  assert(again < 64, `${again} tokens ran twice`);
});

Deno.test("the conversation that was silent for longest is forgotten first, its end before all", async () => {
  const { scheduler } = start({ blocks: 9 });
  const [old, recent] = [promptOf(96, 1), promptOf(96, 2)];
  for (const prompt of [old, recent, old]) await cachedOf(scheduler, prompt, 1);
  await cachedOf(scheduler, promptOf(129, 3), 1); // three blocks were free: it takes two of recent's
  assertEquals(await cachedOf(scheduler, old.slice(0, 65), 1), 64);
  assertEquals(await cachedOf(scheduler, recent.slice(0, 65), 1), 32);
});

/** Caches, each of another size, and conversations at once in each. */
const ROUNDS = share(3, 6);
const BESIDE = 50;

for (const stateCopies of [undefined, 3, 12]) {
  const what = stateCopies === undefined ? "" : `, of states with ${stateCopies} copies`;
  Deno.test(`${ROUNDS * BESIDE} conversations with beginnings in common, and aborts, get their own tokens${what}`, () =>
    converse(stateCopies));
}

async function converse(stateCopies: number | undefined) {
  let state = 7;
  const random = (below: number) => (state = Math.imul(state, 1103515245) + 12345 >>> 0) % below;
  for (let round = 0; round < ROUNDS; round++) {
    const slots = 1 + random(5);
    const context = 96 + random(160);
    const blocks = Math.ceil(context / 32) + random(12);
    const chunkSize = 1 + random(60);
    const states = stateCopies === undefined ? {} : { stateCopies };
    const { scheduler } = start({ slots, context, blocks, chunkSize, ...states });
    const texts = [1, 2, 3].map((seed) => promptOf(context, seed));
    let cached = 0;
    const ended = Array.from({ length: BESIDE }, async () => {
      await turns(random(60));
      const beginning = texts[random(3)].slice(0, random(context - 20));
      const prompt = [...beginning, ...promptOf(1 + random(20), random(4))].slice(0, context - 1);
      const abortAt = random(4) === 0 ? 1 + random(20) : Infinity;
      const run = add(scheduler, prompt, 1 + random(80), (count) => {
        if (count === abortAt) run.sequence.abort();
        // Others go on from what was said so far.
        if (random(3) === 0) texts[random(3)] = [...prompt, ...run.tokens, ...promptOf(context)];
        return true;
      });
      const end = await run.ended;
      assert(end === "length" || abortAt < Infinity && end === "aborted", JSON.stringify(end));
      assertEquals(run.tokens, continuation(prompt, run.tokens.length));
      cached += run.cachedTokens()!;
    });
    await Promise.all(ended);
    assert(cached > 0, `nothing was shared in round ${round}`);
    // All blocks can be had again.
    assertEquals(await cachedOf(scheduler, promptOf(context - 1, 99), 1), 0);
    assertEquals(scheduler.load, 0);
  }
}

Deno.test("the second turn of a chat reports what was there, and says what it says without", async () => {
  const turns: ChatRequest[] = [
    { messages: [{ role: "user", content: "Tell me of the paged cache, and of its blocks." }] },
    {
      messages: [
        { role: "user", content: "Tell me of the paged cache, and of its blocks." },
        { role: "assistant", content: "ok" },
        { role: "user", content: "And what of its windows?" },
      ],
    },
  ];
  // A penalty sees the tokens that did not run, too.
  const options = { temperature: 0, maxTokens: 12, repeatPenalty: 3, repeatLastN: -1 };
  const load = { ...tinyLoad, exact: true };
  await using reusing = await loadModel(tinyPath, load);
  const [first, second] = turns.map((turn) => ({ ...turn, ...options }));
  assertEquals((await readAnswer(reusing.chat(first))).done?.usage.cachedTokens, 0);
  const reused = await readAnswer(reusing.chat(second));
  assertEquals(reused.done?.usage.cachedTokens, 64);
  const again = (await readAnswer(reusing.chat(second))).done!.usage;
  assertEquals(again.cachedTokens, Math.floor((again.promptTokens - 1) / 32) * 32);
  await using fresh = await loadModel(tinyPath, load);
  const whole = await readAnswer(fresh.chat(second));
  assertEquals(whole.done?.usage.cachedTokens, 0);
  assertEquals(reused.text, whole.text);
});
