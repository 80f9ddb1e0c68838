// Images among the sequences of a scheduler, on the fake runner, whose texts depend on every row that
// is in its cache: which blocks are found again, what runs in one step, and that no text changes.

import { ModelClosedError } from "../../../engine/errors.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { PromptItem, PromptMedia } from "../../../engine/prompt/prompt_media.ts";
import type { Scheduler } from "../../../engine/run/scheduler.ts";
import { continuation } from "../run/fake_runner.ts";
import { add, promptOf, start } from "../run/scheduler_runs.ts";

function imageOf(key: string, tokens: number, grid?: PromptMedia["grid"]): PromptMedia {
  return { key, tokens, embeddings: new Float32Array(tokens), ...(grid && { grid }) };
}

/** Runs a prompt to its end, and says how many of its positions were there. */
async function cachedOf(scheduler: Scheduler, prompt: PromptItem[], maxTokens = 3) {
  const run = add(scheduler, prompt, maxTokens);
  assertEquals(await run.ended, "length");
  assertEquals(run.tokens, continuation(prompt, maxTokens));
  return run.cachedTokens()!;
}

const cat = imageOf("cat", 70);
const dog = imageOf("dog", 70);

Deno.test("the same image in the same place is found again, another one never", async () => {
  const { scheduler, runner } = start();
  const before = promptOf(10);
  const after = promptOf(30, 2);
  assertEquals(await cachedOf(scheduler, [...before, cat, ...after]), 0);
  assertEquals(await cachedOf(scheduler, [...before, cat, ...after]), 96);
  const rows = runner.rowsFed;
  assertEquals(await cachedOf(scheduler, [...before, cat, 1, 2, 3], 1), 64, "in the third block");
  assertEquals(runner.rowsFed - rows, 10 + 70 + 3 - 64);
  assertEquals(await cachedOf(scheduler, [...before, dog, ...after]), 0);
  assertEquals(await cachedOf(scheduler, [...promptOf(11), cat, ...after]), 0);
  assertEquals(await cachedOf(scheduler, [...before, dog, ...after]), 96);
});

Deno.test("a conversation with two images goes on from its own answers", async () => {
  const { scheduler } = start();
  const prompt: PromptItem[] = [1, 2, 3, imageOf("cat", 20), 4];
  assertEquals(await cachedOf(scheduler, prompt, 30), 0);
  prompt.push(...continuation(prompt, 30), 5, imageOf("dog", 20), 6);
  assertEquals(await cachedOf(scheduler, prompt, 30), 32);
  prompt.push(...continuation(prompt, 30), 7);
  assertEquals(await cachedOf(scheduler, prompt, 30), 96);
});

Deno.test("sequences with images run together, and step back when memory runs out", async () => {
  const { scheduler, runner } = start({ blocks: 10 });
  const prompts = ["a", "b", "c", "d"].map((key, i) => [
    ...promptOf(5 + i, i),
    imageOf(key, 12, { rows: 3, columns: 4 }),
    7,
  ]);
  const runs = prompts.map((prompt) => add(scheduler, prompt, 60));
  for (const [i, { ended, tokens }] of runs.entries()) {
    assertEquals(await ended, "length");
    assertEquals(tokens, continuation(prompts[i], 60));
  }
  assert(runner.admissions > 4, "none had to step back");
});

Deno.test("chunks cut images, but not those that have to run in one step", async () => {
  for (const bidirectionalImages of [false, true]) {
    // No chunk has room for the first image of a prompt, wherever it begins.
    const { scheduler, runner } = start({ chunkSize: 32 });
    runner.bidirectionalImages = bidirectionalImages;
    const prompts = [1, 2, 3].map((seed) => [
      ...promptOf(30, seed),
      imageOf(`one ${seed}`, 34),
      9,
      imageOf(`two ${seed}`, 20),
    ]);
    const runs = prompts.map((prompt) => add(scheduler, prompt, 5));
    for (const [i, { ended, tokens }] of runs.entries()) {
      assertEquals(await ended, "length");
      assertEquals(tokens, continuation(prompts[i], 5));
    }
    assertEquals(runner.longestImage === 34, bidirectionalImages);
  }
});

Deno.test("an image that has to run in one step may be longer than a chunk", async () => {
  const { scheduler, runner } = start({ chunkSize: 40 });
  runner.bidirectionalImages = true;
  const image = imageOf("cat", 44); // a step has 40 rows and one for each of 4 slots
  const writers = [1, 2, 3].map((seed) => add(scheduler, promptOf(10, seed), 40));
  assertEquals(await cachedOf(scheduler, [...promptOf(20, 5), image, 1]), 0);
  assertEquals(runner.longestImage, 44);
  // What is left of it after full blocks runs in one step too.
  assertEquals(await cachedOf(scheduler, [...promptOf(20, 5), image, 2]), 64);
  for (const { ended } of writers) assertEquals(await ended, "length");
});

Deno.test("rows of images count in the window", async () => {
  const { scheduler } = start({ context: 100 });
  const run = add(scheduler, [1, cat, 2], 1000);
  assertEquals(await run.ended, "length");
  assertEquals(run.tokens.length, 100 - 72);
});

Deno.test("who gives up waiting for the GPU lets others in at once", async () => {
  const { scheduler } = start();
  const long = add(scheduler, promptOf(5), 200);
  const abort = new AbortController();
  let begun = false;
  const image = scheduler.between(() => Promise.resolve(begun = true), abort.signal);
  const other = add(scheduler, promptOf(6, 1), 3);
  abort.abort(new Error("gone"));
  await assertRejects(() => image, Error, "gone");
  assertEquals(await other.ended, "length");
  assert(long.tokens.length < 200, "the other one did not wait for the long one");
  assertEquals(await long.ended, "length");
  assertEquals(begun, false);
});

Deno.test("an image is read between two steps, and waits for no answer to end", async () => {
  const { scheduler } = start();
  const prompt = promptOf(5);
  const long = add(scheduler, prompt, 200);
  let steps = 0;
  for (const name of ["first", "second"]) {
    assertEquals(await scheduler.between(() => Promise.resolve(name)), name);
    assert(long.tokens.length < 200, `the ${name} one waited for the answer`);
    steps = long.tokens.length;
  }
  await assertRejects(() => scheduler.between(() => Promise.reject(new Error("no"))), Error, "no");
  assertEquals(await long.ended, "length");
  assertEquals([long.tokens.length > steps, long.tokens], [true, continuation(prompt, 200)]);
  assertEquals(await scheduler.between(() => Promise.resolve("idle")), "idle");
  const refused = assertRejects(() => scheduler.between(() => Promise.resolve()), ModelClosedError);
  await Promise.all([scheduler.close(), refused]);
});
