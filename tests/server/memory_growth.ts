// Whether the same work, done again and again, keeps memory that the work before it did not.

import { assert } from "@std/assert";

const ROUNDS = 12;
const LIMIT = 24; // MiB

/**
 * Does the work until one round of it leaves the process no more than 24 MiB larger, and fails if
 * none of twelve does. What leaks does so in every round. What else grows does so now and then: the
 * memory that can be read is the whole process's, with the test files that run beside this one.
 */
export async function assertMemorySettles(work: () => Promise<unknown>): Promise<void> {
  const growths: number[] = []; // MiB
  do {
    const before = Deno.memoryUsage().rss;
    await work();
    growths.push((Deno.memoryUsage().rss - before) / 2 ** 20);
  } while (growths.at(-1)! > LIMIT && growths.length < ROUNDS);
  assert(growths.at(-1)! <= LIMIT, `memory grew by ${growths.join(", ")} MiB`);
}
