// Sequences that want the logits of their tokens, over a runner without a GPU: each token comes with
// its own, whatever else runs, steps back or goes away.

import type { Scheduler } from "../../../engine/run/scheduler.ts";
import type { Sequence, SequenceEnd } from "../../../engine/run/sequence.ts";
import { continuation } from "./fake_runner.ts";
import { add, promptOf, start, until } from "./scheduler_runs.ts";
import { assert, assertEquals } from "@std/assert";

/** Queues a sequence. `likeliest` are the tokens that its logits speak for. */
function addTold(scheduler: Scheduler, prompt: number[], maxTokens: number) {
  const { promise: ended, resolve: end } = Promise.withResolvers<SequenceEnd>();
  const tokens: number[] = [];
  const likeliest: (number | undefined)[] = [];
  const sequence = scheduler.add({
    prompt,
    maxTokens,
    sampling: { temperature: 0 } as Sequence["request"]["sampling"],
    wantsLogits: true,
    accept(token, logits) {
      tokens.push(token);
      likeliest.push(logits?.indexOf(1));
      return true;
    },
    end,
  });
  return { tokens, likeliest, sequence, ended };
}

Deno.test("every token comes with its logits, beside sequences that want none", async () => {
  const { scheduler, runner } = start();
  const prompts = [5, 16, 40].map((length) => promptOf(length, length));
  const told = prompts.slice(0, 2).map((prompt) => addTold(scheduler, prompt, 20));
  const free = add(scheduler, prompts[2]!, 20);
  for (const { ended } of [...told, free]) assertEquals(await ended, "length");
  for (const [i, { tokens, likeliest }] of told.entries()) {
    assertEquals(tokens, continuation(prompts[i]!, 20));
    assertEquals(likeliest, tokens);
  }
  assertEquals(free.tokens, continuation(prompts[2]!, 20));
  assert(runner.maskedSteps > 0);
});

Deno.test("sequences that step back have the logits of all tokens, each once", async () => {
  const { scheduler, runner } = start({ slots: 4, blocks: 12 });
  const prompts = [1, 2, 3, 4].map((seed) => promptOf(20 * seed, seed));
  const runs = prompts.map((prompt) => addTold(scheduler, prompt, 200 - prompt.length));
  for (const [i, { tokens, likeliest, ended }] of runs.entries()) {
    assertEquals(await ended, "length");
    assertEquals(tokens, continuation(prompts[i]!, 200 - prompts[i]!.length));
    assertEquals(likeliest, tokens);
  }
  assert(runner.admissions > 4, "nothing stepped back");
});

Deno.test("one that goes away takes nothing from the others", async () => {
  const { scheduler } = start({ context: 4096, blocks: 200 });
  const [gone, kept] = [
    addTold(scheduler, promptOf(30, 1), Infinity),
    addTold(scheduler, promptOf(50, 2), 60),
  ];
  await until(() => gone.tokens.length > 3);
  gone.sequence.abort();
  assertEquals([await gone.ended, await kept.ended], ["aborted", "length"]);
  assertEquals(kept.tokens, continuation(promptOf(50, 2), 60));
  assertEquals(kept.likeliest, kept.tokens);
});
