// Tokens that a constraint refuses because of the limit: they are chosen again, under the mask that it
// gives instead, alone, in drafts and beside others, and nothing of them stays behind.

import { assert, assertEquals } from "@std/assert";
import type { Scheduler } from "../../../engine/run/scheduler.ts";
import { nextToken } from "./fake_runner.ts";
import { RepeatingRunner } from "./repeating_runner.ts";
import { add, ByThrees, promptOf, start } from "./scheduler_runs.ts";

/** The last tokens, of which only zeros may come. */
const LAST = 9;

/** Any tokens, then zeros: those that the model chooses are refused. */
class ZerosAtLast extends ByThrees {
  refused = 0;

  override mask(): Uint32Array<ArrayBuffer> {
    return new Uint32Array(8).fill(-1);
  }

  override forced(): number[] {
    return [];
  }

  override fork() {
    const fork = new ZerosAtLast();
    return Object.assign(fork, { accept: () => true });
  }

  instead(token: number, remaining: number): Uint32Array<ArrayBuffer> | undefined {
    if (remaining > LAST || token === 0) return undefined;
    this.refused++;
    return Uint32Array.of(1, 0, 0, 0, 0, 0, 0, 0);
  }
}

/** What comes of a sequence under the constraint, with a rule for the token that follows others. */
function expected(
  prompt: readonly number[],
  count: number,
  follow: (tokens: readonly number[]) => number,
): number[] {
  const tokens = [...prompt];
  for (let place = 0; place < count; place++) {
    tokens.push(count - place <= LAST ? 0 : follow(tokens));
  }
  return tokens.slice(prompt.length);
}

function addLimited(scheduler: Scheduler, prompt: number[], maxTokens: number) {
  const constraint = new ZerosAtLast();
  return { constraint, run: add(scheduler, prompt, maxTokens, () => true, constraint) };
}

Deno.test("a token that the limit leaves no room for is chosen again, beside others too", async () => {
  const { scheduler, runner } = start();
  const prompts = [1, 2, 3].map((seed) => promptOf(20 + 9 * seed, seed));
  const limited = [addLimited(scheduler, prompts[0], 40), addLimited(scheduler, prompts[1], 31)];
  const free = add(scheduler, prompts[2], 50);
  for (const { run } of limited) assertEquals(await run.ended, "length");
  assertEquals(await free.ended, "length");
  assertEquals(limited[0].run.tokens, expected(prompts[0], 40, nextToken));
  assertEquals(limited[1].run.tokens, expected(prompts[1], 31, nextToken));
  assertEquals(free.tokens, expected(prompts[2], 50 + LAST, nextToken).slice(0, 50));
  const refused = limited.reduce((sum, { constraint }) => sum + constraint.refused, 0);
  assert(refused > LAST);
  assertEquals(runner.resampled, refused);
});

for (const states of [{}, { stateCopies: 12 }]) {
  const what = "stateCopies" in states ? "with states" : "without states";
  Deno.test(`a token of a draft that is refused is chosen again, in a model ${what}`, async () => {
    for (const count of [160, 161, 162, 163, 164, 165]) {
      const { runner, scheduler } = RepeatingRunner.start(states);
      const prompt = promptOf(60);
      const { run } = addLimited(scheduler, prompt, count);
      assertEquals(await run.ended, "length");
      assertEquals(run.tokens, expected(prompt, count, (tokens) => runner.follow(tokens)));
      assert(run.sequence.drafts.accepted > 10, "drafts came");
      assert(runner.resampled > 0);
    }
  });
}
