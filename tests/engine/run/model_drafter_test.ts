// Drafts by a smaller model: every text is the one that comes without, however often the smaller model is
// wrong, and steps give several tokens where it is right. That its copies follow their sequences is seen
// by the fake runner's tokens, which depend on all before.

import { DraftLength } from "../../../engine/run/draft_length.ts";
import { ModelDrafter } from "../../../engine/run/model_drafter.ts";
import { Scheduler } from "../../../engine/run/scheduler.ts";
import { continuation, FakeRunner, nextToken } from "./fake_runner.ts";
import { Sequence } from "../../../engine/run/sequence.ts";
import { add, ByThrees, promptOf, type Run } from "./scheduler_runs.ts";
import { assert, assertEquals } from "@std/assert";

/** A smaller model, which is wrong every so many tokens. */
class SmallerRunner extends FakeRunner {
  mistake = Infinity;

  override follow(tokens: readonly number[]): number {
    const next = nextToken(tokens);
    return tokens.length % this.mistake === 0 ? (next + 1) % 256 : next;
  }
}

interface Options {
  blocks?: number;
  /** Rows for copies of states of both models; missing: they have none. */
  stateCopies?: number;
  mistake?: number;
  /** Of the smaller model. */
  context?: number;
  vocabulary?: number;
  draftBlocks?: number;
}

function start({ mistake = Infinity, vocabulary = 1024, ...options }: Options = {}) {
  const { blocks = 130, context = 1024, draftBlocks = blocks, stateCopies } = options;
  const states = stateCopies === undefined ? {} : { stateCopies };
  const sizes = { slots: 4, context: 1024, blocks, chunkSize: 64, ...states };
  const runner = new FakeRunner(sizes);
  Object.assign(runner.limits, { outputs: 64 });
  const smaller = new SmallerRunner({ ...sizes, context, blocks: draftBlocks });
  smaller.mistake = mistake;
  const drafter = new ModelDrafter(smaller, {
    cacheBlocks: draftBlocks,
    chunkSize: 64,
    vocabulary,
  });
  const { chunkSize } = sizes;
  const scheduler = new Scheduler(runner, { cacheBlocks: blocks, chunkSize, drafter });
  return { runner, smaller, scheduler };
}

const FOUR = { draftTokens: 4 };

function run(scheduler: Scheduler, prompt: readonly number[], count: number): Run {
  return add(scheduler, prompt, count, undefined, undefined, FOUR);
}

async function check(run: Run, prompt: readonly number[], count: number) {
  assertEquals(await run.ended, "length");
  assertEquals(run.tokens, continuation(prompt, count));
}

for (const states of [{}, { stateCopies: 16 }]) {
  const what = "stateCopies" in states ? "with states" : "without states";

  Deno.test(`a draft model ${what} that is right gives five tokens a step`, async () => {
    const { runner, scheduler } = start(states);
    const prompt = promptOf(150);
    const only = run(scheduler, prompt, 400);
    await check(only, prompt, 400);
    assert(runner.steps < 110, `${runner.steps} steps`);
    const { drafted, accepted } = only.sequence.drafts;
    assert(accepted > 280 && drafted === accepted, `${accepted} of ${drafted}`);
  });

  Deno.test(`a draft model ${what} that errs changes no text`, async () => {
    for (const mistake of [1, 2, 3, 7, 13]) {
      const { runner, scheduler } = start({ ...states, mistake });
      const prompt = promptOf(60, mistake);
      await check(run(scheduler, prompt, 300), prompt, 300);
      assert(mistake < 3 || runner.steps < 250, `${runner.steps} steps`);
      // What is left in the caches is right: others go on from it.
      const longer = [...prompt, ...continuation(prompt, 290)];
      const second = run(scheduler, longer, 30);
      await check(second, longer, 30);
      assert(second.cachedTokens()! > 250, `${second.cachedTokens()} were there`);
    }
  });

  Deno.test(`a draft model ${what} drafts for sequences that come, go and step back`, async () => {
    for (const blocks of [130, 24]) {
      const { smaller, scheduler } = start({ ...states, blocks, mistake: 11 });
      const prompts = [1, 2, 3, 4, 5, 6, 7].map((seed) => promptOf(20 + 29 * seed, seed));
      const runs = prompts.map((prompt, i) => run(scheduler, prompt, 100 + 20 * i));
      const left = runs[3];
      left.sequence.request.accept = () => {
        left.sequence.abort();
        return true;
      };
      for (const [i, one] of runs.entries()) {
        if (one === left) assertEquals(await one.ended, "aborted");
        else await check(one, prompts[i], 100 + 20 * i);
      }
      assert(
        runs.every(({ sequence }) => sequence === left.sequence || sequence.drafts.drafted > 0),
      );
      // All memory came back: as many can be drafted for as at first.
      const before = smaller.admissions;
      const again = prompts.slice(0, 4).map((prompt) => run(scheduler, prompt, 40));
      for (const [i, one] of again.entries()) await check(one, prompts[i], 40);
      assert(smaller.admissions >= before + 4, `${smaller.admissions - before} admissions`);
    }
  });

  Deno.test(`a draft model ${what} chooses from the masks of its sequences`, async () => {
    for (const mistake of [Infinity, 2, 5, 13]) {
      const { runner, scheduler } = start({ ...states, mistake });
      const free = promptOf(50, 9);
      const unmasked = run(scheduler, free, 200);
      const prompts = [1, 2].map((seed) => promptOf(60, seed));
      const runs = prompts.map((prompt) => {
        const constraint = new ByThrees();
        const accept = () => ++constraint.place > 0;
        return add(scheduler, prompt, 300, accept, constraint, FOUR);
      });
      for (const [i, { ended, tokens }] of runs.entries()) {
        assertEquals(await ended, "length");
        assertEquals(tokens, ByThrees.textOf(runner, prompts[i], 300));
      }
      await check(unmasked, free, 200);
      const least = mistake === 2 ? 20 : 100;
      assert(runs.every(({ sequence }) => sequence.drafts.accepted > least), "drafts came");
    }
  });
}

Deno.test("sequences that are read beside others are drafted for, each as far as it asks", async () => {
  const { scheduler } = start({ mistake: 9 });
  const lengths = [1, 3, 8];
  const prompts = lengths.map((length) => promptOf(300, length));
  const runs = prompts.map((prompt, i) =>
    add(scheduler, prompt, 150, undefined, undefined, { draftTokens: lengths[i] })
  );
  const plain = add(scheduler, promptOf(10, 5), 150, undefined, undefined, { draftTokens: 0 });
  for (const [i, one] of runs.entries()) await check(one, prompts[i], 150);
  await check(plain, promptOf(10, 5), 150);
  assertEquals(plain.sequence.drafts.drafted, 0);
  assert(runs.every(({ sequence }) => sequence.drafts.accepted > 50));
});

Deno.test("a window, a cache or a vocabulary that is too small ends the drafts, not the answer", async () => {
  for (const options of [{ context: 128 }, { draftBlocks: 6 }, { vocabulary: 300 }]) {
    const { scheduler } = start({ mistake: 9, ...options });
    // The second prompt has tokens over 300.
    const prompts = [Array.from({ length: 100 }, (_, i) => i), promptOf(200)];
    for (const prompt of prompts) await check(run(scheduler, prompt, 120), prompt, 120);
  }
});

Deno.test("drafts of a long text look at its last tokens alone", async () => {
  const smaller = new SmallerRunner({ slots: 4, context: 4096, blocks: 260, chunkSize: 2048 });
  const drafter = new ModelDrafter(smaller, {
    cacheBlocks: 260,
    chunkSize: 2048,
    vocabulary: 1024,
  });
  const target = new Sequence({
    prompt: promptOf(2000),
    sampling: { temperature: 0 } as Sequence["request"]["sampling"],
    maxTokens: 100,
    accept: () => true,
    end: () => {},
  });
  let reads = 0;
  const tokens = new Proxy(target.tokens, {
    get(array, key) {
      if (typeof key === "string" && /^\d/.test(key)) reads++;
      return Reflect.get(array, key);
    },
  });
  Object.assign(target, { tokens });
  target.drafts.admit(new DraftLength(() => 0, 4));
  target.advance(2000);
  for (let step = 0; step < 10; step++) {
    reads = 0;
    await drafter.prepare([target]);
    if (step > 1) assert(reads < 200, `${reads} reads in step ${step}`);
    target.append(nextToken(target.tokens));
    target.feedFrom(target.tokens.length - 1);
    target.decode();
  }
  assertEquals(target.drafts.proposal?.tokens.length, 4);
});

Deno.test("steps of a sequence without memory in the draft model do not wait", async () => {
  const prompt = promptOf(300);
  // 6 blocks have no room for the prompt, 12 have for some of what follows.
  for (const draftBlocks of [6, 12]) {
    for (const draftTokens of [4, undefined]) {
      const { runner, scheduler } = start({ draftBlocks });
      let [submits, unread, early] = [0, 0, 0];
      const { submit } = runner;
      runner.submit = (plan, repeats) => {
        submits++;
        if (unread++ > 0) early++;
        const read = submit.call(runner, plan, repeats);
        // A step takes its time, as on a device, and not one turn of the event loop.
        return async () => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          return await read().finally(() => unread--);
        };
      };
      const request = draftTokens === undefined ? {} : { draftTokens };
      const only = add(scheduler, prompt, 500, undefined, undefined, request);
      await check(only, prompt, 500);
      assert(early > 0.6 * submits, `${early} of ${submits} submits came before the last was read`);
    }
  }
});

Deno.test("a sequence without memory in the draft model is seldom looked at", async () => {
  const smaller = new SmallerRunner({ slots: 4, context: 4096, blocks: 6, chunkSize: 2048 });
  const drafter = new ModelDrafter(smaller, { cacheBlocks: 6, chunkSize: 2048, vocabulary: 1024 });
  const target = new Sequence({
    prompt: promptOf(2000),
    sampling: { temperature: 0 } as Sequence["request"]["sampling"],
    maxTokens: 2000,
    accept: () => true,
    end: () => {},
  });
  const { tokens } = target;
  let scans = 0;
  tokens.slice = (...range) => {
    scans++;
    return Array.prototype.slice.apply(tokens, range);
  };
  target.drafts.admit(new DraftLength(() => 0, 4));
  target.advance(2000);
  for (let step = 0; step < 1000; step++) {
    await drafter.prepare([target]);
    target.append(nextToken([step]));
    target.feedFrom(tokens.length - 1);
    target.decode();
  }
  assert(scans < 20, `${scans} times in 1000 steps`);
});

Deno.test("a failure of the draft model's device closes the model", async () => {
  const { smaller, scheduler } = start();
  const prompt = promptOf(40);
  const one = add(
    scheduler,
    prompt,
    300,
    (count) => {
      if (count > 50) smaller.failure = new Error("gone");
      return true;
    },
    undefined,
    FOUR,
  );
  const end = await one.ended;
  assert(typeof end === "object" && /gone/.test(String(end.error)), String(end));
});

Deno.test("a draft is as long as it pays, and pauses where it does not", () => {
  let cost = 0.2;
  const length = new DraftLength(() => cost);
  let position = 10;
  const learn = (drafted: number, accepted: number) => {
    position += accepted + 1;
    length.learn(position, drafted, accepted);
  };
  for (let i = 0; i < 20; i++) learn(4, 4);
  assertEquals(length.at(position), 4);
  for (let i = 0; i < 40; i++) learn(2, i % 2);
  assertEquals(length.at(position), 1);
  cost = 0.9;
  learn(1, 0);
  assertEquals(length.at(position), 0);
  assertEquals(length.at(position + 15), 0);
  assertEquals(length.at(position + 16), 1);
  position += 16;
  learn(1, 0);
  assertEquals(length.at(position + 31), 0);
  position += 32;
  learn(1, 1);
  assertEquals(length.at(position), 1);
  cost = 1.5;
  learn(1, 1);
  assertEquals(length.at(position), 0);
  assertEquals(new DraftLength(() => 5, 3).at(7), 3);
});

Deno.test("drafts begin after a step without them, and a few that are wrong show that they do not pay", () => {
  let cost: number | undefined;
  const length = new DraftLength(() => cost);
  assertEquals(length.at(10), 0);
  cost = 0.2;
  assertEquals(length.at(11), 3);
  cost = 0.6;
  length.learn(12, 3, 0);
  assertEquals([length.at(12), length.at(27), length.at(28)], [0, 0, 1]);
});

/** Speed of answers of 64 tokens to that without drafts, if a drafted token costs so much of a step. */
function speedWithDrafts(rightShare: number, cost: number): number {
  const [answers, tokens] = [200, 64];
  let state = 1;
  const isRight = () => {
    state = Math.imul(state, 1664525) + 1013904223 >>> 0;
    return state / 2 ** 32 < rightShare;
  };
  let [made, time] = [0, 0];
  for (let answer = 0; answer < answers; answer++) {
    const length = new DraftLength(() => cost);
    for (let at = 0; at < tokens;) {
      const drafted = length.at(at);
      let accepted = 0;
      while (accepted < drafted && isRight()) accepted++;
      time += 1 + drafted * cost;
      at += accepted + 1;
      made += accepted + 1;
      if (drafted > 0) length.learn(at, drafted, accepted);
    }
  }
  return made / time;
}

Deno.test("drafts that do not pay cost little of a short answer, and those that pay are made", () => {
  for (
    const [rightShare, cost, least] of [
      [0, 0.3, 0.95],
      [0, 1.2, 0.94],
      [0.5, 0.9, 0.94],
      [0.8, 2, 0.93],
      [0, 3, 0.86],
      [0.9, 0.3, 1.75],
      [0.8, 0.6, 1.07],
    ] as const
  ) {
    const speed = speedWithDrafts(rightShare, cost);
    assert(speed >= least, `${speed} at ${rightShare} right, ${cost} a token`);
  }
});
