// Several who ask share a model by their weights: how long one waits whose queue is short, how tokens are
// divided, and that nothing is lost or repeated by it.

import type { Scheduler } from "../../../engine/run/scheduler.ts";
import { continuation } from "./fake_runner.ts";
import { add, promptOf, type Run, start, until } from "./scheduler_runs.ts";
import { assert, assertEquals } from "@std/assert";

function ask(
  scheduler: Scheduler,
  id: string,
  prompt: number[],
  maxTokens: number,
  weight = 1,
): Run {
  return add(scheduler, prompt, maxTokens, () => true, undefined, { share: { id, weight } });
}

/** Asks on behalf of b. Gives the request, and how many steps there were until its prompt was read. */
async function askTimed({ runner, scheduler }: ReturnType<typeof start>): Promise<[Run, number]> {
  const before = runner.steps;
  const run = ask(scheduler, "b", promptOf(20, 1), 10);
  await until(() => run.sequence.submitted >= run.sequence.promptLength);
  return [run, runner.steps - before];
}

for (const slots of [2, 4]) {
  Deno.test(`one request waits two steps at most for a hundred of another, with ${slots} slots`, async () => {
    const [, aloneSteps] = await askTimed(start({ slots, blocks: 200 }));
    const busy = start({ slots, blocks: 200 });
    const many = Array.from(
      { length: 100 },
      (_, i) => ask(busy.scheduler, "a", promptOf(30, i + 2), 10),
    );
    await until(() => many[0]!.tokens.length > 2);
    const [one, steps] = await askTimed(busy);
    assert(steps <= aloneSteps + 2, `${steps} steps, ${aloneSteps} alone`);
    assertEquals(await one.ended, "length");
    assertEquals(one.tokens, continuation(promptOf(20, 1), 10));
    for (const [i, { ended, tokens }] of many.entries()) {
      assertEquals(await ended, "length");
      assertEquals(tokens, continuation(promptOf(30, i + 2), 10));
    }
  });
}

Deno.test("with one slot, one request comes next after the one of another that runs", async () => {
  const { scheduler } = start({ slots: 1, blocks: 200 });
  const many = Array.from({ length: 9 }, (_, i) => ask(scheduler, "a", promptOf(30, i + 2), 10));
  await until(() => many[0]!.tokens.length > 2);
  const one = ask(scheduler, "b", promptOf(20, 1), 10);
  assertEquals(await one.ended, "length");
  assertEquals(many.filter(({ tokens }) => tokens.length > 1).length, 1);
  await Promise.all(many.map(({ ended }) => ended));
});

Deno.test("a short prompt does not wait for the long one of another", async () => {
  const busy = start({ slots: 2, context: 4000, blocks: 600 });
  const long = ask(busy.scheduler, "a", promptOf(3000), 5);
  await until(() => busy.runner.steps > 3);
  const [, steps] = await askTimed(busy);
  assert(steps <= 5, `${steps} steps`);
  assertEquals(long.tokens.length, 0);
  assertEquals(await long.ended, "length");
});

Deno.test("who has twice the weight has twice the tokens", async () => {
  const { scheduler } = start({ slots: 3, blocks: 400 });
  const runs = (["a", "b"] as const).flatMap((id, seed) =>
    Array.from(
      { length: 40 },
      (_, i) => ask(scheduler, id, promptOf(20, 2 * i + seed), 20, id === "a" ? 2 : 1),
    )
  );
  const written = (first: number) =>
    runs.slice(first, first + 40).reduce((sum, { tokens }) => sum + tokens.length, 0);
  await until(() => written(0) >= 500);
  const ratio = written(0) / written(40);
  assert(ratio > 1.7 && ratio < 2.3, `${ratio}`);
  await Promise.all(runs.map(({ ended }) => ended));
});

Deno.test("more who ask than slots do not take them from each other", async () => {
  const { scheduler } = start({ slots: 2, blocks: 200 });
  const runs = Array.from({ length: 6 }, (_, i) => ask(scheduler, `${i}`, promptOf(20, i), 30));
  await Promise.all(runs.map(({ ended }) => ended));
  for (const [i, { tokens }] of runs.entries()) {
    assertEquals(tokens, continuation(promptOf(20, i), 30));
  }
});
