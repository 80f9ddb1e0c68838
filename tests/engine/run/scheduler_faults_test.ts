// What one sequence does wrong, and what is done to it, ends that sequence: whatever its owner's
// callbacks throw, wherever it is on its way, the others get their tokens and the model stays open.

import { CancelFlag, pollCancellation } from "../../../engine/cancellation.ts";
import { NotFiniteError } from "../../../engine/errors.ts";
import type { Scheduler } from "../../../engine/run/scheduler.ts";
import type {
  SequenceEnd,
  SequenceRequest,
  TokenConstraint,
} from "../../../engine/run/sequence.ts";
import { continuation } from "./fake_runner.ts";
import { add, promptOf, start } from "./scheduler_runs.ts";
import { assert, assertEquals } from "@std/assert";

const fault = new RangeError("Maximum call stack size exceeded");

const fail = () => {
  throw fault;
};

/** A constraint that allows everything, and fails in one place after some tokens. */
function failing(place: keyof TokenConstraint, after: number): TokenConstraint {
  let calls = 0;
  return {
    mask: () => place === "mask" && calls++ >= after ? fail() : new Uint32Array(8).fill(-1),
    forced: () => place === "forced" && calls++ >= after ? fail() : [],
  };
}

/** Queues a sequence with whatever its request is to have beyond the usual. */
function addRequest(scheduler: Scheduler, request: Partial<SequenceRequest>) {
  const ended = Promise.withResolvers<SequenceEnd>();
  const tokens: number[] = [];
  scheduler.add({
    prompt: promptOf(40),
    maxTokens: 30,
    sampling: { temperature: 0 } as SequenceRequest["sampling"],
    accept: (token) => tokens.push(token) > 0,
    end: ended.resolve,
    ...request,
  });
  return { ended: ended.promise, tokens };
}

const faults: Record<string, (after: number) => Partial<SequenceRequest>> = {
  begin: () => ({ begin: fail }),
  accept: (after) => {
    let calls = 0;
    return { accept: () => calls++ < after || fail() };
  },
  "the mask": (after) => ({ constraint: failing("mask", after) }),
  "forced tokens": (after) => ({ constraint: failing("forced", after) }),
};

for (const [place, requestOf] of Object.entries(faults)) {
  Deno.test(`what is thrown in ${place} ends its sequence alone`, async () => {
    for (const after of [0, 1, 7]) {
      const { scheduler, runner } = start({ slots: 3, blocks: 12 });
      const others = [1, 2, 3].map((seed) => add(scheduler, promptOf(30, seed), 60));
      const { ended } = addRequest(scheduler, requestOf(after));
      const masked = addRequest(scheduler, {
        prompt: promptOf(50, 4),
        constraint: failing("mask", 99),
      });
      assertEquals(await ended, { error: fault });
      for (const [i, other] of others.entries()) {
        assertEquals(await other.ended, "length");
        assertEquals(other.tokens, continuation(promptOf(30, i + 1), 60));
      }
      assertEquals(await masked.ended, "length");
      assertEquals(masked.tokens, continuation(promptOf(50, 4), 30));
      // Its slot and its blocks are there again, and what they hold is not taken for another's.
      const again = [1, 2, 3].map((seed) => add(scheduler, promptOf(90, seed), 30));
      for (const [i, other] of again.entries()) {
        assertEquals(await other.ended, "length");
        assertEquals(other.tokens, continuation(promptOf(90, i + 1), 30));
      }
      assertEquals([scheduler.load, runner.failure], [0, undefined]);
    }
  });
}

Deno.test("an owner that fails at the end keeps nobody from going on", async () => {
  const { scheduler } = start({ slots: 2 });
  for (let i = 0; i < 3; i++) addRequest(scheduler, { end: fail });
  const run = add(scheduler, promptOf(30), 20);
  assertEquals(await run.ended, "length");
  assertEquals(run.tokens, continuation(promptOf(30), 20));
});

Deno.test("a step that gives no number ends its sequence with an error that says so", async () => {
  const { scheduler, runner } = start();
  runner.poison = 999;
  const others = [1, 2].map((seed) => add(scheduler, promptOf(30, seed), 60));
  const constraint = failing("mask", Infinity);
  const ends = [{}, { constraint }, { wantsLogits: true }].map((request) =>
    addRequest(scheduler, { ...request, prompt: [1, 2, 999, 3] })
  );
  for (const { ended, tokens } of ends) {
    const { error } = await ended as { error: NotFiniteError };
    assert(error instanceof NotFiniteError && /logits are not finite/.test(error.message));
    assertEquals(tokens, []);
  }
  for (const [i, other] of others.entries()) {
    assertEquals(await other.ended, "length");
    assertEquals(other.tokens, continuation(promptOf(30, i + 1), 60));
  }
});

Deno.test("a flag that is set ends its sequence, between steps and in the midst of a mask", async () => {
  const { scheduler } = start();
  const [between, within] = [new CancelFlag(), new CancelFlag()];
  const run = add(scheduler, promptOf(30), 60);
  const waiting = addRequest(scheduler, { flags: [between], maxTokens: Infinity });
  between.set();
  let looks = 0;
  const endless = {
    mask: () => {
      for (;;) {
        pollCancellation();
        // As another thread would, while this one hears nothing.
        if (looks++ === 1000) within.set();
      }
    },
    forced: () => [],
  };
  const stuck = addRequest(scheduler, { flags: [within], constraint: endless });
  assertEquals([await waiting.ended, await stuck.ended], ["aborted", "aborted"]);
  assertEquals(await run.ended, "length");
  assertEquals(run.tokens, continuation(promptOf(30), 60));
});
