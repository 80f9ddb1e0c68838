// Models with recurrent states go on from copies of them: how much of a prompt need not run, which copy
// goes when there is no row for another one, and that answers are those of a model without a cache.

import { Checkpoints } from "../../../engine/run/checkpoints.ts";
import type { Scheduler } from "../../../engine/run/scheduler.ts";
import { continuation } from "./fake_runner.ts";
import { add, promptOf, start, until } from "./scheduler_runs.ts";
import { assert, assertEquals } from "@std/assert";

const BLOCK = 32;

/** Runs a prompt to its end, and says how many of its tokens were there. */
async function cachedOf(scheduler: Scheduler, prompt: number[], maxTokens = 3): Promise<number> {
  const run = add(scheduler, prompt, maxTokens);
  assertEquals(await run.ended, "length");
  assertEquals(run.tokens, continuation(prompt, maxTokens));
  return run.cachedTokens()!;
}

Deno.test("a conversation reads what is new and at most a block, from its second turn on", async () => {
  const context = 4096;
  const { scheduler } = start({ context, blocks: 140, chunkSize: 100, stateCopies: 6 });
  const prompt = promptOf(700);
  let known = 0;
  for (let turn = 1; turn <= 12; turn++) {
    const cached = await cachedOf(scheduler, prompt, 150);
    assert(cached >= known - BLOCK, `turn ${turn}: ${cached} of ${known} were there`);
    known = prompt.length + 149; // the last token was never fed
    prompt.push(...continuation(prompt, 150), ...promptOf(100, turn));
  }
});

Deno.test("a template that drops the end of a prompt in the next turn costs a block at most", async () => {
  for (let length = 200; length < 200 + BLOCK; length++) {
    const { scheduler } = start({ stateCopies: 4 });
    const prompt = promptOf(length);
    await cachedOf(scheduler, prompt, 5);
    const next = [...prompt.slice(0, -4), ...promptOf(20, 9)];
    const cached = await cachedOf(scheduler, next);
    assert(cached >= length - 4 - BLOCK, `${cached} of ${length - 4} were there`);
  }
});

Deno.test("a long prompt can be gone on from in its middle", async () => {
  const { scheduler } = start({ context: 2048, blocks: 140, chunkSize: 200, stateCopies: 10 });
  const prompt = promptOf(1900);
  await cachedOf(scheduler, prompt);
  const cached = await cachedOf(scheduler, [...prompt.slice(0, 1200), ...promptOf(50, 3)]);
  assert(cached >= 1200 - 512 && cached <= 1200, `${cached} were there`);
});

Deno.test("where a prompt parts from an earlier text, later ones go on from", async () => {
  const { scheduler } = start({ context: 2048, blocks: 240, chunkSize: 200, stateCopies: 6 });
  const beginning = promptOf(700);
  const cachedOf = async (seed: number, partsAt = 0) => {
    const prompt = [...beginning, ...promptOf(400, seed)];
    const run = add(scheduler, prompt, 3, undefined, undefined, { partsAt });
    assertEquals(await run.ended, "length");
    assertEquals(run.tokens, continuation(prompt, 3));
    return run.cachedTokens()!;
  };
  await cachedOf(2);
  // At even distances there is a copy before, and the parting is where it ends up.
  assert(await cachedOf(3, 700) < 672);
  assertEquals(await cachedOf(4, 700), 672);
  // It stays while ends of the same conversation come and go.
  for (const seed of [5, 6, 7, 8, 9]) assertEquals(await cachedOf(seed, 700), 672);
});

Deno.test("wherever a sequence is said to part from others, its tokens are the same", async () => {
  const { scheduler } = start({ context: 2048, blocks: 240, chunkSize: 200, stateCopies: 6 });
  for (const partsAt of [0, 5, 31, 32, 899, 900, 5000]) {
    const prompt = promptOf(900);
    const run = add(scheduler, prompt, 40, undefined, undefined, { partsAt });
    assertEquals(await run.ended, "length");
    assertEquals(run.tokens, continuation(prompt, 40), `it parts at ${partsAt}`);
  }
});

Deno.test("what steps back goes on from its states", async () => {
  const { scheduler, runner } = start({ slots: 2, blocks: 11, chunkSize: 200, stateCopies: 6 });
  const prompts = [1, 2].map((seed) => promptOf(100, seed));
  const runs = prompts.map((prompt) => add(scheduler, prompt, 80));
  for (const [i, { ended, tokens }] of runs.entries()) {
    assertEquals(await ended, "length");
    assertEquals(tokens, continuation(prompts[i], 80));
  }
  assertEquals(runner.admissions, 3, "one steps back, once");
  assert(runner.rowsFed - 2 * 179 < 64, `${runner.rowsFed - 2 * 179} tokens ran twice`);
});

Deno.test("what a running sequence has been fed is there for others, states included", async () => {
  const { scheduler } = start({ stateCopies: 6 });
  const prompt = promptOf(80);
  const first = add(scheduler, prompt, 100);
  await until(() => first.tokens.length > 20);
  const second = add(scheduler, [...prompt, ...first.tokens.slice(0, 17)], 40);
  assertEquals([await first.ended, await second.ended], ["length", "length"]);
  assertEquals(second.tokens, continuation(prompt, 57).slice(17));
  assert(second.cachedTokens()! >= 64, `${second.cachedTokens()} were there`);
});

Deno.test("without rows for copies every prompt runs from its beginning", async () => {
  const { scheduler } = start({ stateCopies: 0 });
  for (let i = 0; i < 3; i++) assertEquals(await cachedOf(scheduler, promptOf(100)), 0);
});

Deno.test("a copy goes with its block, and the ends of other conversations go last", () => {
  const copies = new Checkpoints(3, BLOCK, 1024);
  for (const block of [10, 11, 12]) {
    copies.add(block, { row: copies.take(false)!, position: BLOCK, isSpaced: block === 12 });
  }
  const row = copies.take(true)!; // that of 12, which is not at an end
  assertEquals(copies.deepest([12]), undefined);
  assertEquals(copies.take(true), undefined, "no end goes for a copy within a prompt");
  copies.give(row);
  assertEquals(copies.take(true), row);
  assertEquals(copies.deepest([10])!.blocks, 1); // now 11 is unused for longest
  const oldest = copies.take(false)!;
  assertEquals(copies.deepest([11]), undefined);
  copies.add(10, { row: oldest, position: BLOCK, isSpaced: false }); // has one already
  assertEquals(copies.take(false), oldest);
  copies.remove(10);
  assertEquals(copies.deepest([10]), undefined);
});
