// Evaluations on the scheduler beside sequences that decode: each step of one is a turn, memory is
// shared with whoever runs, and whatever comes in between, all get what they would get alone.

import { attachFlags, CancelFlag, CancelledError } from "../../../engine/cancellation.ts";
import { ModelClosedError } from "../../../engine/errors.ts";
import type { Scheduler } from "../../../engine/run/scheduler.ts";
import { continuation, nextToken } from "./fake_runner.ts";
import { add, promptOf, start, until } from "./scheduler_runs.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";

const promptsOf = (count: number, length: number, seed = 100) =>
  Array.from({ length: count }, (_, i) => promptOf(1 + (length + 7 * i) % 60, seed + i));

/** Evaluates the last positions of sequences, and checks what comes back. */
async function check(scheduler: Scheduler, sequences: number[][], signal?: AbortSignal) {
  const branches = sequences.map((tokens) => ({ tokens, wanted: "last" as const }));
  const outputs = await scheduler.evaluate({ branches, output: "hidden", signal });
  assertEquals(outputs.map(([value]) => value), sequences.map(nextToken));
}

Deno.test("an evaluation runs beside sequences that go on and sequences that come", async () => {
  const { scheduler, runner } = start({ slots: 4, blocks: 30 });
  const long = add(scheduler, promptOf(20), Infinity);
  await until(() => long.tokens.length > 3);
  /** How far the long one is at each step of the evaluation. */
  const lengths: number[] = [];
  runner.onEvaluation = () => lengths.push(long.tokens.length);
  let isOver = false;
  const evaluation = check(scheduler, promptsOf(60, 40)).finally(() => isOver = true);
  const late = add(scheduler, promptOf(30, 2), 5);
  assertEquals(await late.ended, "length");
  assertEquals(isOver, false, "the late one waited for all of the evaluation");
  await evaluation;
  const before = lengths.filter((length) => length < 256 - 20);
  assert(before.length > 3, lengths.join());
  assert(before.every((length, i) => i === 0 || length > before[i - 1]), lengths.join());
  assertEquals(late.tokens, continuation(promptOf(30, 2), 5));
  assertEquals(await long.ended, "length");
  assertEquals(long.tokens, continuation(promptOf(20), 256 - 20));
});

Deno.test("an evaluation that finds no slot gets the next one", async () => {
  const { scheduler, runner } = start({ slots: 2, blocks: 16 });
  const runs = [1, 2, 3, 4].map((seed) => add(scheduler, promptOf(20, seed), 40 * seed));
  await until(() => runs[1].tokens.length > 0);
  const begun: boolean[][] = [];
  runner.onEvaluation = () => begun.push(runs.map(({ tokens }) => tokens.length > 0));
  await check(scheduler, promptsOf(5, 40));
  assertEquals(begun[0], [true, true, false, false]);
  for (const [i, run] of runs.entries()) {
    assertEquals(await run.ended, "length");
    assertEquals(run.tokens, continuation(promptOf(20, i + 1), 40 * (i + 1)));
  }
});

Deno.test("evaluations and sequences in a small cache all come to their end", async () => {
  const { scheduler } = start({ slots: 3, blocks: 8, context: 128 });
  const runs = Array.from({ length: 12 }, (_, i) => add(scheduler, promptOf(5 + 9 * i, i), 20));
  const evaluations = [1, 2, 3].map((i) => check(scheduler, promptsOf(9, 50, 50 * i)));
  const prefix = promptOf(40, 77);
  const forked = scheduler.evaluate({
    branches: [
      { tokens: prefix, wanted: "none" },
      ...[1, 2, 3].map((token) => ({ tokens: [token], after: 0, wanted: "last" as const })),
    ],
    output: "hidden",
  });
  for (const [i, run] of runs.entries()) {
    assertEquals(await run.ended, "length");
    assertEquals(run.tokens, continuation(promptOf(5 + 9 * i, i), 20));
  }
  await Promise.all(evaluations);
  const outputs = await forked;
  assertEquals(
    outputs.slice(1).map(([value]) => value),
    [1, 2, 3].map((t) => nextToken([...prefix, t])),
  );
  assertEquals(scheduler.load, 0);
});

Deno.test("an abort ends an evaluation that runs and one that waits, and gives memory back", async () => {
  const { scheduler, runner } = start({ slots: 2, blocks: 16 });
  const abort = new AbortController();
  const reason = new Error("changed my mind");
  let steps = 0;
  runner.onEvaluation = () => steps++;
  const ends = [1, 2].map(() =>
    assertRejects(() => check(scheduler, promptsOf(100, 40), abort.signal))
  );
  await until(() => steps > 2);
  abort.abort(reason);
  assertEquals(await Promise.all(ends), [reason, reason]);
  assert(steps < 10, `${steps} steps`);
  await check(scheduler, promptsOf(5, 40));
});

Deno.test("a flag that is set while a step of an evaluation runs ends it", async () => {
  const { scheduler, runner } = start({ slots: 2, blocks: 16 });
  const { signal } = new AbortController();
  const flag = new CancelFlag();
  attachFlags(signal, [flag]);
  const seen: (boolean | undefined)[] = [];
  runner.onEvaluation = (isUnwanted) => {
    seen.push(isUnwanted?.());
    flag.set();
    seen.push(isUnwanted?.());
  };
  await assertRejects(() => check(scheduler, promptsOf(100, 40), signal), CancelledError);
  assertEquals(seen, [false, true]);
  runner.onEvaluation = () => {};
  await check(scheduler, promptsOf(5, 40));
});

/** Evaluates one sequence, which may run in a step with others. */
async function joining(
  scheduler: Scheduler,
  tokens: number[],
  { signal, adapters }: { signal?: AbortSignal; adapters?: number[] } = {},
): Promise<number | undefined> {
  let value: number | undefined;
  await scheduler.evaluate({
    branches: [{ tokens, wanted: "last" }],
    output: "hidden",
    take: (row) => value = row[0],
    joins: 40,
    signal,
    adapters,
  });
  return value;
}

Deno.test("evaluations that wait run in one step, as many as fit into it", async () => {
  const { scheduler, runner } = start({ slots: 8, blocks: 30, chunkSize: 64 });
  const prompts = Array.from({ length: 12 }, (_, i) => promptOf(10, i));
  const values = await Promise.all(prompts.map((prompt) => joining(scheduler, prompt)));
  assertEquals(values, prompts.map(nextToken));
  // The first begins at once. Four have 40 tokens.
  assertEquals(runner.steps, 4);
  const brief = Array.from({ length: 17 }, (_, i) => promptOf(2, i));
  assertEquals(
    await Promise.all(brief.map((prompt) => joining(scheduler, prompt))),
    brief.map(nextToken),
  );
  // Eight have all slots.
  assertEquals(runner.steps, 4 + 3);
});

Deno.test("evaluations of other kinds, and with other adapters, run by themselves", async () => {
  const { scheduler, runner } = start({ slots: 8, blocks: 30 });
  const steps = (...all: Promise<unknown>[]) => Promise.all(all).then(() => runner.steps);
  const one = () => joining(scheduler, promptOf(3));
  const adapted = (factor: number) => joining(scheduler, promptOf(3), { adapters: [factor] });
  assertEquals(await steps(one(), one(), one()), 2);
  assertEquals(await steps(one(), one(), adapted(1), adapted(1), adapted(2), one()), 2 + 5);
  assertEquals(await steps(one(), check(scheduler, [promptOf(3)]), one()), 7 + 3);
});

Deno.test("one that is called off leaves those that it was to run with to the others", async () => {
  const { scheduler, runner } = start({ slots: 8, blocks: 30 });
  const reason = new Error("left");
  const controllers = [1, 2, 3].map(() => new AbortController());
  const first = joining(scheduler, promptOf(3));
  const [waiting, running, staying] = controllers.map(({ signal }, i) =>
    joining(scheduler, promptOf(4, i), { signal })
  );
  controllers[0]!.abort(reason);
  let evaluations = 0;
  runner.onEvaluation = () => ++evaluations === 2 && controllers[1]!.abort(reason);
  await assertRejects(() => waiting!, Error, "left");
  await assertRejects(() => running!, Error, "left");
  assertEquals([await first, await staying], [nextToken(promptOf(3)), nextToken(promptOf(4, 2))]);
  assertEquals(evaluations, 2);
});

Deno.test("a step of several evaluations ends when none of them is wanted any more", async () => {
  const { scheduler, runner } = start({ slots: 8, blocks: 30 });
  const flags = [1, 2].map(() => new CancelFlag());
  const first = joining(scheduler, promptOf(3));
  const others = flags.map((flag, i) => {
    const { signal } = new AbortController();
    attachFlags(signal, [flag]);
    return joining(scheduler, promptOf(4, i), { signal });
  });
  const seen: (boolean | undefined)[] = [];
  runner.onEvaluation = (isUnwanted) => {
    if (seen.push(isUnwanted?.()) === 1) return;
    for (const flag of flags) {
      flag.set();
      seen.push(isUnwanted?.());
    }
  };
  for (const other of others) await assertRejects(() => other, CancelledError);
  assertEquals(seen, [false, false, false, true]);
  assertEquals(await first, nextToken(promptOf(3)));
});

Deno.test("what fits nowhere is refused; a close and a failure of the GPU end an evaluation", async () => {
  const { scheduler, runner: closed } = start({ slots: 2, blocks: 3 });
  await assertRejects(() => check(scheduler, [promptOf(200)]), RangeError, "fits nowhere");
  await check(scheduler, [promptOf(90)]);
  const begun = Promise.withResolvers<void>();
  closed.onEvaluation = () => begun.resolve();
  const evaluation = assertRejects(() => check(scheduler, promptsOf(100, 40)), ModelClosedError);
  await begun.promise;
  await scheduler.close();
  await evaluation;

  const { scheduler: other, runner } = start();
  runner.failure = new Error("Cannot use the GPU: device lost");
  assertEquals(await assertRejects(() => check(other, [promptOf(9)])), runner.failure);
});

/** Evaluates tokens from a position on, with what is in the cache, and says how many rows ran. */
async function evaluated(
  { scheduler, runner }: ReturnType<typeof start>,
  tokens: number[],
  wanted: number | "last" | "none" | "all",
): Promise<number> {
  const before = runner.rowsFed;
  const got: number[][] = [];
  await scheduler.evaluate({
    branches: [{ tokens, wanted }],
    output: "logits",
    reuses: true,
    take: ([next], _, position) => got.push([position, next!]),
  });
  const first = { last: tokens.length - 1, none: tokens.length, all: 0 };
  const from = typeof wanted === "number" ? wanted : first[wanted];
  assertEquals(
    got,
    tokens.slice(from).map((_, i) => [from + i, nextToken(tokens.slice(0, from + i + 1))]),
  );
  return runner.rowsFed - before;
}

Deno.test("what is in the cache before the first wanted output does not run", async () => {
  const test = start({ blocks: 40 });
  const prompt = promptOf(100);
  assertEquals(await evaluated(test, prompt, 80), 100);
  assertEquals(await evaluated(test, prompt, 80), 100 - 64);
  assertEquals(await evaluated(test, prompt, 64), 100 - 64);
  assertEquals(await evaluated(test, prompt, 63), 100 - 32);
  assertEquals(await evaluated(test, prompt, "last"), 4);
  assertEquals(await evaluated(test, prompt.slice(0, 96), "none"), 32);
  assertEquals(await evaluated(test, prompt, "all"), 100);
  const other = [...prompt.slice(0, 70), ...promptOf(30, 5)];
  assertEquals(await evaluated(test, other, 90), 100 - 64);
  // A conversation goes on from there, and an evaluation from a conversation.
  const run = add(test.scheduler, prompt, 40);
  assertEquals(await run.ended, "length");
  assertEquals([run.cachedTokens(), run.tokens], [96, continuation(prompt, 40)]);
  assertEquals(await evaluated(test, [...prompt, ...run.tokens, 5], "last"), 141 - 128);
});

Deno.test("evaluations that do not ask for it, and steps under a tap, run every token", async () => {
  const test = start({ blocks: 40 });
  const prompt = promptOf(100);
  await evaluated(test, prompt, "last");
  const before = test.runner.rowsFed;
  await check(test.scheduler, [prompt]);
  assertEquals(test.runner.rowsFed - before, 100);
  test.runner.isTapped = true;
  assertEquals(await evaluated(test, prompt, "last"), 100);
  const [fresh] = [promptOf(100, 2)];
  assertEquals(await evaluated(test, fresh, "last"), 100);
  test.runner.isTapped = false;
  assertEquals(await evaluated(test, fresh, "last"), 100, "what ran under a tap is not kept");
});

Deno.test("what evaluations leave goes before what conversations have in the cache", async () => {
  const test = start({ slots: 1, blocks: 8 });
  const prompt = promptOf(100);
  await add(test.scheduler, prompt, 1).ended;
  for (const seed of [2, 3, 4, 5, 6, 7]) await evaluated(test, promptOf(120, seed), "last");
  const run = add(test.scheduler, prompt, 1);
  await run.ended;
  assertEquals(run.cachedTokens(), 96);
});

Deno.test("a model with states goes on from copies of conversations alone", async () => {
  const test = start({ blocks: 40, stateCopies: 4 });
  const prompt = promptOf(100);
  assertEquals(await evaluated(test, prompt, "last"), 100);
  assertEquals(await evaluated(test, prompt, "last"), 100);
  await add(test.scheduler, prompt, 1).ended;
  assert(await evaluated(test, prompt, "last") < 40);
});

Deno.test("evaluations with the cache in little memory all come to their end", async () => {
  const test = start({ slots: 3, blocks: 8, context: 128 });
  const { scheduler } = test;
  const runs = Array.from({ length: 8 }, (_, i) => add(scheduler, promptOf(5 + 9 * i, i % 3), 20));
  const evaluations = [1, 2, 3, 4, 5, 6].map(async (i) => {
    const trunk = promptOf(20 + 11 * i, i % 3);
    const branches = [
      { tokens: trunk, wanted: "none" as const },
      ...[1, 2, 3].map((seed) => ({
        tokens: promptOf(9 * seed, seed),
        after: 0,
        wanted: "last" as const,
      })),
    ];
    const [, ...outputs] = await scheduler.evaluate({ branches, output: "hidden", reuses: true });
    assertEquals(
      outputs.map(([value]) => value),
      [1, 2, 3].map((seed) => nextToken([...trunk, ...promptOf(9 * seed, seed)])),
    );
  });
  await Promise.all(evaluations);
  for (const [i, run] of runs.entries()) {
    assertEquals(await run.ended, "length");
    assertEquals(run.tokens, continuation(promptOf(5 + 9 * i, i % 3), 20));
  }
});
