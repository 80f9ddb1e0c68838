// A program of its own for unload_test.ts, since memory is a process's: loads and unloads models in
// workers, one after another, some of them not to the end, and prints as JSON what the process has
// after the first loads and after the last.
//
//   deno run -A --v8-flags=--expose-gc unload_program.ts LOADS SETTLE_MILLISECONDS MODEL...
//
// Threads that have ended give their last memory back some seconds later, so the first number is the
// least of a while, and the second is waited for until it is near the first.

import { openModelInWorker } from "../../../engine/mod.ts";

/** Loads until everything that is made once has been made. */
const WARM_UP = 6;
/** What counts as near. */
const NEAR = 1.02;
const LONGEST_WAIT = 30_000;

const [loads, settleMilliseconds, ...models] = Deno.args;
await loadModels(WARM_UP);
const before = await leastResident(Number(settleMilliseconds), 0);
await loadModels(Number(loads));
const after = await leastResident(LONGEST_WAIT, NEAR * before);
// deno-lint-ignore no-console -- this is what the test reads
console.log(JSON.stringify({ before, after }));

async function loadModels(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const path = models[i % models.length]!;
    if (i % models.length === 0) await giveUp(path);
    await using model = await openModelInWorker(path, { maxSequences: 2 });
    for await (const _event of model.generate({ prompt: "Hi", maxTokens: 3, temperature: 0 }));
  }
}

/** The least bytes that the process has in memory for so long, or until they are no more than enough. */
async function leastResident(milliseconds: number, enough: number): Promise<number> {
  const end = performance.now() + milliseconds;
  let least = Infinity;
  while (least > enough && performance.now() < end) {
    (globalThis as { gc?: () => void }).gc?.();
    least = Math.min(least, Deno.memoryUsage().rss);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return least;
}

/** Begins a load and ends it while weights are on their way. */
async function giveUp(path: string): Promise<void> {
  const abort = new AbortController();
  const loading = openModelInWorker(path, {
    onProgress: () => abort.abort(new Error("given up")),
    signal: abort.signal,
  });
  await loading.then((model) => model.close(), () => {});
}
