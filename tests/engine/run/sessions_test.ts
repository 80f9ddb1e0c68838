// Requests of a program's session: what stands beside the main conversation waits for it, and does not
// cost it its place in the cache.

import type { Scheduler } from "../../../engine/run/scheduler.ts";
import { later } from "../../clock.ts";
import { continuation } from "./fake_runner.ts";
import { add, promptOf, start, until } from "./scheduler_runs.ts";
import { assert, assertEquals } from "@std/assert";

const main = { session: { id: "s" } };
const beside = { session: { id: "s", isBeside: true } };

function addTo(scheduler: Scheduler, prompt: number[], maxTokens: number, more: object) {
  return add(scheduler, prompt, maxTokens, () => true, undefined, more);
}

Deno.test("a subagent waits for the main conversation of its session, and for no other", async () => {
  const { scheduler } = start({ slots: 4 });
  const begun: string[] = [];
  const noted = (name: string, more = {}) =>
    addTo(scheduler, promptOf(9, name.length), 20, { begin: () => void begun.push(name), ...more });
  const first = noted("main", main);
  const agents = ["agent", "agent 2"].map((name) => noted(name, beside));
  const other = noted("another", { session: { id: "t", isBeside: true } });
  const plain = noted("plain one");
  await until(() => first.tokens.length > 5);
  assertEquals(begun, ["main", "another", "plain one"]);
  for (const { ended } of [first, other, plain, ...agents]) assertEquals(await ended, "length");
  assertEquals(begun.slice(3), ["agent", "agent 2"]);
  for (const [i, { tokens }] of agents.entries()) {
    assertEquals(tokens, continuation(promptOf(9, 5 + 2 * i), 20));
  }
});

Deno.test("a subagent that came first waits for the main conversation that waits, a minute at most", async () => {
  const { scheduler } = start({ slots: 1, context: 20_000, blocks: 2000 });
  const long = add(scheduler, promptOf(9, 1), Infinity);
  const agent = addTo(scheduler, promptOf(9, 2), 5, beside);
  const next = addTo(scheduler, promptOf(9, 3), Infinity, main);
  await until(() => long.tokens.length > 3);
  long.sequence.abort();
  await until(() => next.tokens.length > 3);
  assertEquals(agent.cachedTokens(), undefined);
  const late = addTo(scheduler, promptOf(9, 4), 5, main);
  {
    using _clock = later(61_000);
    next.sequence.abort();
    assertEquals(await agent.ended, "length");
  }
  assertEquals(await late.ended, "length");
});

/** The first turn of a conversation, or the second one, which goes on from its answer: what was cached. */
async function turn(scheduler: Scheduler, seed: number, more = {}, isSecond = false) {
  const first = promptOf(64, seed);
  const prompt = isSecond ? [...first, ...continuation(first, 1), 7, 8] : first;
  const run = addTo(scheduler, prompt, 1, more);
  assertEquals(await run.ended, "length");
  return run.cachedTokens()!;
}

for (const stateCopies of [undefined, 4]) {
  const what = stateCopies === undefined ? "" : ", of a model with states";
  const sizes = { slots: 1, ...(stateCopies !== undefined && { stateCopies }) };

  Deno.test(`what subagents leave goes before the main conversation, not before older ones${what}`, async () => {
    const { scheduler } = start({ ...sizes, blocks: 8 });
    await turn(scheduler, 1, main);
    for (const seed of [3, 4, 5, 6, 7]) {
      await turn(scheduler, seed, beside);
      assertEquals(await turn(scheduler, seed, beside, true), 64, "it goes on from its own");
    }
    assertEquals(await turn(scheduler, 1, main, true), 64);
    // Without a session, what was used longest ago is evicted.
    for (const seed of [3, 4, 5, 6, 7]) await turn(scheduler, seed);
    assertEquals(await turn(scheduler, 1, main, true), 0);
  });

  Deno.test(`a subagent that needs all the memory gets it${what}`, async () => {
    const { scheduler } = start({ ...sizes, blocks: 5 });
    await turn(scheduler, 1, main);
    const agent = addTo(scheduler, promptOf(150, 2), 1, beside);
    assertEquals(await agent.ended, "length");
    assertEquals(agent.tokens, continuation(promptOf(150, 2), 1));
    assertEquals(await turn(scheduler, 1, main, true), 0);
  });
}

Deno.test("when memory runs out, a subagent gives way before the main conversation", async () => {
  const { scheduler } = start({ slots: 2, blocks: 8 });
  const agent = addTo(scheduler, promptOf(90, 1), 100, beside);
  await until(() => agent.tokens.length > 3);
  const conversation = addTo(scheduler, promptOf(90, 2), 100, main);
  await conversation.ended;
  assert(agent.tokens.length < 100, "the subagent ended first");
  await agent.ended;
  for (const [seed, { tokens }] of [[1, agent], [2, conversation]] as const) {
    assertEquals(tokens, continuation(promptOf(90, seed), 100));
  }
});

Deno.test("titles take no copies of states from the conversation", async () => {
  const { scheduler } = start({ slots: 1, blocks: 40, stateCopies: 3 });
  await turn(scheduler, 1);
  for (const seed of [2, 3, 4, 5, 6]) await turn(scheduler, seed, { background: true });
  assertEquals(await turn(scheduler, 1, {}, true), 64);
});
