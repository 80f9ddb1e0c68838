// A program of its own for unload_test.ts, since memory is a process's: loads and unloads models in
// workers, one after another, some of them not to the end, and prints as JSON what the process has
// after the first loads and after the last.
//
//   deno run -A --v8-flags=--expose-gc unload_program.ts LOADS SETTLE_MILLISECONDS MODEL...
//
// Threads that have ended give their last memory back some seconds later, and later on a busy machine,
// so the first number is the least of a while, and the second is waited for until it is near the first.
// Where it does not come near, as many loads follow again, from there: what is not given back grows with
// every round, and what a busy machine had not tidied up yet does not. The round that grew least counts.

import { openModelInWorker } from "../../../engine/mod.ts";

/** Loads until everything that is made once has been made. */
const WARM_UP = 3;
/** What counts as near. */
const NEAR = 1.02;
const LONGEST_WAIT = 10_000;
/** Rounds of loads, in each of which what is kept of every load would show. */
const ROUNDS = 6;

const [loads, settleMilliseconds, ...models] = Deno.args;
await loadModels(WARM_UP);
let before = await leastResident(Number(settleMilliseconds), 0);
let least = { before, after: Infinity };
for (let round = 0; round < ROUNDS && least.after > NEAR * least.before; round++) {
  await loadModels(Number(loads));
  const after = await leastResident(LONGEST_WAIT, NEAR * before);
  if (after / before < least.after / least.before) least = { before, after };
  before = after;
}
// deno-lint-ignore no-console -- this is what the test reads
console.log(JSON.stringify(least));

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
