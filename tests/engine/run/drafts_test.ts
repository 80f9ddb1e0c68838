// Drafts by prompt lookup: every text is the one that comes without them, whatever the draft, and a step
// gives several tokens where the text repeats. That a wrong draft leaves nothing behind, neither in the
// cache that others find nor in states, is seen by the fake runner's tokens.

import { PromptLookup } from "../../../engine/run/prompt_lookup.ts";
import { Scheduler } from "../../../engine/run/scheduler.ts";
import type { ConstraintFork } from "../../../engine/run/sequence.ts";
import { continuation, FakeRunner } from "./fake_runner.ts";
import { RepeatingRunner } from "./repeating_runner.ts";
import { add, ByThrees, promptOf, type Run } from "./scheduler_runs.ts";
import { assert, assertEquals } from "@std/assert";

const { start } = RepeatingRunner;

async function check(runner: RepeatingRunner, run: Run, prompt: number[], count: number) {
  assertEquals(await run.ended, "length");
  assertEquals(run.tokens, runner.textOf(prompt, count));
}

for (const states of [{}, { stateCopies: 12 }]) {
  const what = "stateCopies" in states ? "a model with states" : "a model without states";
  Deno.test(`${what} gives several tokens a step where its text repeats`, async () => {
    const { runner, scheduler } = start(states);
    const prompt = promptOf(60);
    await check(runner, add(scheduler, prompt, 400), prompt, 400);
    assert(runner.steps < 200, `${runner.steps} steps`);
  });

  Deno.test(`${what} gives the same text where drafts are wrong`, async () => {
    for (const surprise of [3, 7, 13, 50]) {
      const { runner, scheduler } = start(states);
      runner.surprise = surprise;
      const prompt = promptOf(60, surprise);
      await check(runner, add(scheduler, prompt, 300), prompt, 300);
      // What it left in the cache is right: others go on from it.
      const longer = [...prompt, ...runner.textOf(prompt, 290)];
      const run = add(scheduler, longer, 30);
      await check(runner, run, longer, 30);
      assert(run.cachedTokens()! > 250, `${run.cachedTokens()} were there`);
    }
  });

  Deno.test(`${what} drafts for several sequences at once`, async () => {
    const { runner, scheduler } = start(states);
    runner.surprise = 11;
    const prompts = [1, 2, 3, 4, 5, 6].map((seed) => promptOf(40 + 9 * seed, seed));
    const runs = prompts.map((prompt, i) => add(scheduler, prompt, 100 + 20 * i));
    for (const [i, run] of runs.entries()) await check(runner, run, prompts[i], 100 + 20 * i);
  });
}

for (const states of [{}, { stateCopies: 12 }]) {
  const what = "stateCopies" in states ? "with states" : "without states";
  Deno.test(`masked sequences of a model ${what} are drafted along their masks`, async () => {
    for (const surprise of [Infinity, 7, 13, 50]) {
      const { runner, scheduler } = start(states);
      runner.surprise = surprise;
      const prompts = [1, 2].map((seed) => promptOf(60, seed));
      const runs = prompts.map((prompt) => {
        const constraint = new ByThrees();
        return add(scheduler, prompt, 300, () => ++constraint.place > 0, constraint);
      });
      for (const [i, run] of runs.entries()) {
        assertEquals(await run.ended, "length");
        assertEquals(run.tokens, ByThrees.textOf(runner, prompts[i], 300));
      }
      if (surprise === Infinity) {
        assert(runs.every(({ sequence }) => sequence.drafts.accepted > 50), "drafts came");
      }
    }
  });
}

Deno.test("a mask that cannot be made for a draft ends the draft, not the answer", async () => {
  const { runner, scheduler } = start();
  /** Its forks give out after two tokens. */
  class Failing extends ByThrees {
    override fork(): ConstraintFork {
      const fork = super.fork();
      let left = 2;
      return {
        mask: () => left-- > 0 ? fork.mask() : new Uint32Array(0),
        forced: (most) => fork.forced(most),
        accept: (token) => fork.accept(token),
      };
    }
  }
  const prompt = promptOf(60);
  const constraint = new Failing();
  const run = add(scheduler, prompt, 200, () => ++constraint.place > 0, constraint);
  assertEquals(await run.ended, "length");
  assertEquals(run.tokens, ByThrees.textOf(runner, prompt, 200));
  assert(run.sequence.drafts.accepted > 20, `${run.sequence.drafts.accepted}`);
});

Deno.test("a sequence that ends while its draft is made ends alone", async () => {
  const { runner, scheduler } = start();
  const fault = new Error("called off");
  class Ending extends ByThrees {
    override fork(): ConstraintFork {
      throw fault;
    }
  }
  const [constraint, other] = [new Ending(), new ByThrees()];
  const run = add(scheduler, promptOf(60), 300, () => ++constraint.place > 0, constraint);
  const prompt = promptOf(60, 2);
  const beside = add(scheduler, prompt, 300, () => ++other.place > 0, other);
  assertEquals(await run.ended, { error: fault });
  assertEquals(await beside.ended, "length");
  assertEquals(beside.tokens, ByThrees.textOf(runner, prompt, 300));
});

Deno.test("a draft takes nobody's memory", async () => {
  const { runner, scheduler } = start({ slots: 2, blocks: 12 });
  const prompts = [1, 2].map((seed) => promptOf(100, seed));
  const runs = prompts.map((prompt) => add(scheduler, prompt, 90));
  for (const [i, run] of runs.entries()) await check(runner, run, prompts[i], 90);
  assertEquals(runner.admissions, 2, "nobody steps back");
});

Deno.test("a sequence ends at the token that ends it, within a draft too", async () => {
  const { runner, scheduler } = start();
  const prompt = promptOf(60);
  for (const last of [1, 45, 61, 62, 63, 64, 65, 100]) {
    const run = add(scheduler, prompt, 200, (count) => count < last);
    assertEquals(await run.ended, "stop");
    assertEquals(run.tokens, runner.textOf(prompt, last));
  }
});

Deno.test("texts without repetitions take as many steps as without drafts", async () => {
  const sizes = { slots: 1, context: 1024, blocks: 40, chunkSize: 64 };
  const runner = new FakeRunner(sizes);
  const scheduler = new Scheduler(runner, {
    cacheBlocks: sizes.blocks,
    chunkSize: sizes.chunkSize,
  });
  const prompt = promptOf(60);
  const run = add(scheduler, prompt, 300);
  await run.ended;
  assertEquals(run.tokens, continuation(prompt, 300));
  assert(runner.rowsFed < 60 + 300 * 1.03, `${runner.rowsFed} rows`);
});

Deno.test("a lookup proposes what followed before, more of it as it proves right, less as it fails", () => {
  const lookup = new PromptLookup();
  const text = promptOf(50);
  const tokens = [...text, 7, ...text.slice(10, 13)];
  assertEquals(lookup.draft(tokens, 10), text.slice(13, 16));
  assertEquals(lookup.draft(tokens, 2), text.slice(13, 15));
  lookup.learn(tokens, 3, 3);
  assertEquals(lookup.draft(tokens, 10).length, 7);
  lookup.learn(tokens, 7, 1);
  assertEquals(lookup.draft(tokens, 10), [], "it pauses");
  tokens.push(...text.slice(13, 25));
  assertEquals(lookup.draft(tokens, 10).length, 10);
  assertEquals(new PromptLookup().draft([1, 2], 5), []);
});

Deno.test("a lookup goes around with a text that does", () => {
  assertEquals(new PromptLookup().draft([1, 2, 3, 8, 9, 8, 9, 8, 9], 5), [8, 9, 8, 9]);
});

Deno.test("a lookup proposes as many tokens as stood before alike", () => {
  const text = promptOf(60);
  for (const alike of [3, 5, 9, 15, 20]) {
    const tokens = [...text, 7, ...text.slice(10, 10 + alike)];
    const length = Math.min(15, alike);
    assertEquals(
      new PromptLookup().draft(tokens, 40),
      text.slice(10 + alike, 10 + alike + length),
    );
  }
});

Deno.test("a lookup pauses where drafts cost more than they give, as it is measured", () => {
  const text = promptOf(50);
  const tokens = [...text, 7, ...text.slice(10, 20)];
  const cheap = new PromptLookup();
  cheap.learn(tokens, 10, 2, 0.1);
  assertEquals(cheap.draft(tokens, 10).length, 10);
  const dear = new PromptLookup();
  dear.learn(tokens, 10, 2, 0.5);
  assertEquals(dear.draft(tokens, 10), []);
});
