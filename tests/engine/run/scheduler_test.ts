// The scheduler over a runner without a GPU: whatever else runs, is cut short or has to step back,
// every sequence gets the tokens that it would get alone.

import { fileURLToPath } from "node:url";
import { ModelClosedError } from "../../../engine/errors.ts";
import type { Scheduler } from "../../../engine/run/scheduler.ts";
import type { TokenConstraint } from "../../../engine/run/sequence.ts";
import { later } from "../../clock.ts";
import { allowedFrom, continuation, nextToken } from "./fake_runner.ts";
import { add, promptOf, start, turns, until } from "./scheduler_runs.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";

Deno.test("a sequence gets its tokens, and ends at the limit, the window or a refusal", async () => {
  const { scheduler } = start();
  const prompt = promptOf(40);
  const limited = add(scheduler, prompt, 30);
  const refused = add(scheduler, prompt, 30, (count) => count < 7);
  const full = add(scheduler, prompt, Infinity);
  assertEquals([await limited.ended, await refused.ended, await full.ended], [
    "length",
    "stop",
    "length",
  ]);
  assertEquals(limited.tokens, continuation(prompt, 30));
  assertEquals(refused.tokens, continuation(prompt, 7));
  assertEquals(full.tokens, continuation(prompt, 256 - 40));
  assertEquals(scheduler.load, 0);
});

Deno.test("prompts of every length around chunks and blocks give the same as alone", async () => {
  const { scheduler } = start({ context: 128 });
  const runs = [1, 15, 16, 17, 31, 32, 33, 63, 64, 65].map((length) => ({
    prompt: promptOf(length, length),
    run: add(scheduler, promptOf(length, length), 20),
  }));
  for (const { prompt, run } of runs) {
    assertEquals(await run.ended, "length");
    assertEquals(run.tokens, continuation(prompt, 20));
  }
});

Deno.test("sequences step back when the cache is full, and lose nothing", async () => {
  const { scheduler, runner } = start({ slots: 4, blocks: 12 });
  // Four sequences of 200 positions need 28 blocks of 12.
  const prompts = [1, 2, 3, 4].map((seed) => promptOf(20 * seed, seed));
  const runs = prompts.map((prompt) => add(scheduler, prompt, 200 - prompt.length));
  for (const [i, run] of runs.entries()) {
    assertEquals(await run.ended, "length");
    assertEquals(run.tokens, continuation(prompts[i], 200 - prompts[i].length));
  }
  assert(runner.admissions > 4, "nothing stepped back");
  assertEquals(scheduler.load, 0);
});

Deno.test("aborted sequences give back their slots and blocks, running or waiting", async () => {
  const { scheduler } = start({ slots: 2, blocks: 10 });
  const runs = [1, 2, 3, 4, 5].map((seed) => add(scheduler, promptOf(30, seed), Infinity));
  await until(() => runs[0].tokens.length > 5);
  for (const { sequence } of runs) sequence.abort();
  for (const { ended } of runs) assertEquals(await ended, "aborted");
  assertEquals(scheduler.load, 0);
  // All ten blocks and both slots are there again.
  const pair = [7, 8].map((seed) => add(scheduler, promptOf(20, seed), 130));
  for (const [i, { ended, tokens }] of pair.entries()) {
    assertEquals(await ended, "length");
    assertEquals(tokens, continuation(promptOf(20, 7 + i), 130));
  }
});

Deno.test("who waits is told how many come before it, and who runs at once is not", async () => {
  const { scheduler } = start({ slots: 1, chunkSize: 16 });
  const runs = [1, 2, 3].map((seed) => add(scheduler, promptOf(200, seed), 5));
  // All came before the first could begin, which has nobody before it.
  assertEquals(runs.map(({ told }) => told), [[], [1], [2]]);
  for (const { ended } of runs) await ended;
  const later = add(scheduler, promptOf(9, 4), 30);
  await until(() => later.tokens.length > 0);
  const last = add(scheduler, promptOf(9, 5), 5);
  await until(() => last.tokens.length > 0);
  assertEquals([later.told, last.told], [[], [1]]);
});

Deno.test("who waits is told anew when the number has changed, and not at every step", async () => {
  const { scheduler } = start({ slots: 1, context: 20_000, blocks: 2000 });
  const runs = [1, 2, 3].map((seed) => add(scheduler, promptOf(9, seed), Infinity));
  await until(() => runs[0].tokens.length > 5);
  {
    using _clock = later(1000);
    runs[0].sequence.abort();
    await until(() => runs[2].told.length > 1);
  }
  assertEquals(runs.map(({ told }) => told), [[], [1], [2, 1]]);
  await scheduler.close();
});

Deno.test("close() ends what runs and waits with ModelClosedError, and refuses more", async () => {
  const { scheduler } = start({ slots: 1 });
  const runs = [1, 2].map((seed) => add(scheduler, promptOf(30, seed), Infinity));
  await until(() => runs[0].tokens.length > 0);
  await scheduler.close();
  for (const { ended } of runs) {
    const end = await ended as { error: unknown };
    assert(end.error instanceof ModelClosedError);
  }
  assertThrows(() => add(scheduler, promptOf(3), 1), ModelClosedError);
  await assertRejects(
    () => scheduler.evaluate({ branches: [{ tokens: [1], wanted: "all" }], output: "logits" }),
    ModelClosedError,
  );
});

Deno.test("a step that fails ends everything with ModelClosedError, with its message", async () => {
  const { scheduler, runner } = start();
  const run = add(scheduler, promptOf(30), Infinity);
  await until(() => run.tokens.length > 0);
  runner.failure = new Error("Cannot use the GPU: device lost");
  const { error } = await run.ended as { error: ModelClosedError };
  assert(error instanceof ModelClosedError);
  assertEquals([error.message, error.cause], [runner.failure.message, runner.failure]);
  assertThrows(() => add(scheduler, promptOf(3), 1), ModelClosedError, "device lost");
});

Deno.test("a sequence that fails as it is given its slot ends too", async () => {
  const { scheduler, runner } = start();
  runner.failure = new Error("Cannot use the GPU: device lost");
  const { error } = await add(scheduler, promptOf(30), 5).ended as { error: ModelClosedError };
  assert(error instanceof ModelClosedError);
  assertEquals([error.cause, scheduler.load], [runner.failure, 0]);
});

Deno.test("300 random sequences with aborts in a small cache get their own tokens", async () => {
  let state = 42;
  const random = (below: number) => (state = Math.imul(state, 1103515245) + 12345 >>> 0) % below;
  for (let round = 0; round < 6; round++) {
    const slots = 1 + random(5);
    const context = 64 + random(128);
    const blocks = 2 * Math.ceil(context / 32) + random(3);
    const { scheduler } = start({ slots, context, blocks, chunkSize: 1 + random(40) });
    const ended = Array.from({ length: 50 }, async (_, i) => {
      await turns(random(60));
      const prompt = promptOf(1 + random(context - 1), i);
      const abortAt = random(4) === 0 ? 1 + random(20) : Infinity;
      const run = add(scheduler, prompt, 1 + random(80), (count) => {
        if (count === abortAt) run.sequence.abort();
        return true;
      });
      const end = await run.ended;
      assert(end === "length" || abortAt < Infinity && end === "aborted", JSON.stringify(end));
      assertEquals(run.tokens, continuation(prompt, run.tokens.length));
    });
    await Promise.all(ended);
    assertEquals(scheduler.load, 0);
  }
});

/** Only tokens of the place's remainder by three may come, and after every fifth one two zeros must. */
class ByThrees implements TokenConstraint {
  readonly remaining: number[] = [];
  #place = 0;

  mask(): Uint32Array<ArrayBuffer> {
    return ByThrees.maskAt(this.#place);
  }

  instead(_token: number, remaining: number): undefined {
    this.remaining.push(remaining);
  }

  forced(most: number): number[] {
    return this.#place % 7 === 5 ? [0, 0].slice(0, most) : [];
  }

  accept(): boolean {
    this.#place++;
    return true;
  }

  static maskAt(place: number): Uint32Array<ArrayBuffer> {
    const mask = new Uint32Array(8);
    for (let token = place % 3; token < 256; token += 3) mask[token >>> 5]! |= 1 << (token & 31);
    return mask;
  }

  static continuation(prompt: readonly number[], count: number): number[] {
    const tokens = [...prompt];
    for (let place = 0; place < count; place++) {
      const isForced = place % 7 >= 5;
      const mask = ByThrees.maskAt(place);
      tokens.push(isForced ? 0 : allowedFrom(nextToken(tokens), mask));
    }
    return tokens.slice(prompt.length);
  }
}

function addByThrees(scheduler: Scheduler, prompt: number[], maxTokens: number) {
  const constraint = new ByThrees();
  return {
    constraint,
    run: add(scheduler, prompt, maxTokens, () => constraint.accept(), constraint),
  };
}

Deno.test("masked sequences choose among what may come, beside others that do not care", async () => {
  const { scheduler, runner } = start();
  const prompts = [1, 2, 3].map((seed) => promptOf(20 + 9 * seed, seed));
  const masked = prompts.slice(0, 2).map((prompt) => addByThrees(scheduler, prompt, 33).run);
  const free = add(scheduler, prompts[2], 50);
  for (const run of [...masked, free]) assertEquals(await run.ended, "length");
  assertEquals(masked[0].tokens, ByThrees.continuation(prompts[0], 33));
  assertEquals(masked[1].tokens, ByThrees.continuation(prompts[1], 33));
  assertEquals(free.tokens, continuation(prompts[2], 50));
  assert(runner.maskedSteps > 0);
});

Deno.test("tokens that must come take no step of their own, nor more than there is room for", async () => {
  for (const count of [1, 5, 6, 7, 8, 21]) {
    const { scheduler, runner } = start();
    const { run, constraint } = addByThrees(scheduler, promptOf(10), count);
    assertEquals(await run.ended, "length");
    assertEquals(run.tokens, ByThrees.continuation(promptOf(10), count), `${count} tokens`);
    const sampled = run.tokens.filter((_, place) => place % 7 < 5).length;
    assertEquals(runner.maskedSteps, sampled);
    assertEquals(constraint.remaining[0], count);
  }
});

Deno.test("masked sequences that step back go on where they were", async () => {
  const { scheduler, runner } = start({ blocks: 9 });
  const prompts = [1, 2, 3, 4].map((seed) => promptOf(30, seed));
  const runs = prompts.map((prompt) => addByThrees(scheduler, prompt, 60).run);
  for (const [i, run] of runs.entries()) {
    assertEquals(await run.ended, "length");
    assertEquals(run.tokens, ByThrees.continuation(prompts[i], 60));
  }
  assert(runner.admissions > 4, "none had to step back");
});

/** Queues a sequence in the background. */
function addBehind(scheduler: Scheduler, prompt: number[], maxTokens: number) {
  return add(scheduler, prompt, maxTokens, () => true, undefined, { background: true });
}

Deno.test("sequences in the background begin when no other runs or waits, in their order", async () => {
  const { scheduler } = start({ slots: 4 });
  const begun: string[] = [];
  const noted = (name: string, more = {}) =>
    add(scheduler, promptOf(9, begun.length + name.length), 20, () => true, undefined, {
      begin: () => void begun.push(name),
      ...more,
    });
  const first = noted("first");
  const titles = ["title", "summary"].map((name) => noted(name, { background: true }));
  const second = noted("second");
  await until(() => first.tokens.length > 5);
  assertEquals(begun, ["first", "second"]);
  for (const { ended } of [first, second, ...titles]) assertEquals(await ended, "length");
  assertEquals(begun, ["first", "second", "title", "summary"]);
});

Deno.test("a sequence in the background waits for a minute at most", async () => {
  const { scheduler } = start({ slots: 2, context: 20_000, blocks: 2000 });
  const long = add(scheduler, promptOf(9, 1), Infinity);
  const title = addBehind(scheduler, promptOf(9, 2), 5);
  await until(() => long.tokens.length > 5);
  assertEquals(title.cachedTokens(), undefined);
  {
    using _clock = later(61_000);
    assertEquals(await title.ended, "length");
  }
  long.sequence.abort();
  await long.ended;
});

Deno.test("what a sequence in the background leaves goes first, unless another uses it", async () => {
  const { scheduler } = start({ slots: 1, blocks: 6 });
  const run = async (seed: number, queue: typeof addBehind = add) => {
    const sequence = queue(scheduler, promptOf(64, seed), 1);
    await sequence.ended;
    return sequence.cachedTokens()!;
  };
  await run(1);
  const whole = await run(1);
  assert(whole > 0);
  for (const seed of [2, 3, 4, 5]) await run(seed, addBehind);
  // They have evicted each other, and nothing of the first, which was used longest ago.
  assertEquals([await run(1), await run(2)], [whole, 0]);
  // What was of the background belongs to all once another has used it.
  await run(6, addBehind);
  assertEquals(await run(6), whole);
  for (const seed of [7, 8]) await run(seed, addBehind);
  assertEquals(await run(6), whole);
});

/** Settles after so many microtasks that what is given out in this turn has been. */
async function endOfTurn(): Promise<void> {
  for (let i = 0; i < 500; i++) await undefined;
}

Deno.test("where submits block, tokens are given out before the next submit, and before others use the thread", async () => {
  for (const submitsBlock of [true, false]) {
    const { runner, scheduler } = start();
    runner.submitsBlock = submitsBlock;
    const events: string[] = [];
    const submit = runner.submit.bind(runner);
    runner.submit = (plan, repeats) => {
      events.push("submit");
      void endOfTurn().then(() => events.push("turn"));
      return submit(plan, repeats);
    };
    const run = add(scheduler, promptOf(8), 12, (count) => events.push(`token ${count}`) > 0);
    assertEquals(await run.ended, "length");
    // Elsewhere the device computes while the host reads what it computed before.
    const isLate = (event: string, i: number, all: readonly string[]) =>
      event === "submit" && !all[i + 1]!.startsWith("token");
    assertEquals(events.some(isLate), !submitsBlock, events.join());
    const submitsAndTokens = events.filter((event) => event !== "turn");
    assertEquals(submitsAndTokens.some(isLate), !submitsBlock, events.join());
  }
});

Deno.test("where submits block, what comes to sockets is read between them", async () => {
  // Deno lets operations complete at once in a program, but not in a test.
  const program = fileURLToPath(new URL("busy_thread.ts", import.meta.url));
  const args = ["run", "-A", "--no-check", "--no-lock", program];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "inherit" }).output();
  const { answers, submits } = JSON.parse(new TextDecoder().decode(stdout));
  assert(answers > submits / 4, `${answers} answers in ${submits} submits`);
});
