// How much CPU time the turns of this thread's event loop take while some work is done: what others
// wait for at least, however busy the machine is.

import { nextTask } from "../engine/mod.ts";
import { threadTime } from "./cpu_time.ts";

/** The CPU time of the longest turn while some work is done, in milliseconds, and what the work gives. */
export async function longestTurn<T>(work: () => Promise<T>): Promise<[number, T]> {
  await nextTask();
  let longest = 0;
  let last = threadTime();
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      await nextTask();
      const now = threadTime();
      longest = Math.max(longest, now - last);
      last = now;
    }
  })();
  try {
    const result = await work();
    await nextTask();
    return [longest, result];
  } finally {
    isOver = true;
    await watching;
  }
}
