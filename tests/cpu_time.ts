// The time that a thread has computed, as benchmarks measure it too, and how long it may take: tests of
// what work takes compare it with bounds in seconds, which are those of a machine of today that is quiet.

import { assert } from "@std/assert";
import { threadTime } from "../bench/cpu_time.ts";

export { threadTime };

/** What `plainWork` takes on a quiet machine, in milliseconds of CPU time. */
const USUAL_MILLISECONDS = 40;

/** Work of the kind that compilers and parsers do, none of it ours. */
function plainWork(): void {
  const map = new Map<string, number>();
  for (let i = 0; i < 100_000; i++) map.set(`k${i * 37 % 100_003}`, i);
  let sum = 0;
  for (const [key, value] of map) sum += key.length + value;
  assert(sum > 0);
}

/**
 * How many times longer work takes now than on a quiet machine, at least 1: cores may be slower, and
 * those that others use have less of their caches. It is measured anew by each call.
 */
export function slowness(): number {
  const start = threadTime();
  for (let run = 0; run < 3; run++) plainWork();
  return Math.max(1, (threadTime() - start) / 3 / USUAL_MILLISECONDS);
}

/** Fails if this much CPU time is more than the limit on a quiet machine, both in milliseconds. */
export function assertInTime(time: number, limit: number, what = "it"): void {
  if (time < limit) return;
  const most = limit * slowness();
  assert(time < most, `${what} took ${time.toFixed(0)} ms of at most ${most.toFixed(0)} ms`);
}
