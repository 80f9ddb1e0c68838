// The time that a thread has computed, which other work on the machine does not lengthen, nor that of
// other threads of this process: tests of what work takes compare it with bounds in seconds.

import process from "node:process";

/** Linux tells how long each thread was on a processor, in nanoseconds first in this line. */
const SCHEDSTAT = "/proc/thread-self/schedstat";

/**
 * Milliseconds that the calling thread has computed so far; where the system does not tell, that all
 * threads of the process have.
 */
export function cpuMilliseconds(): number {
  try {
    return Number(Deno.readTextFileSync(SCHEDSTAT).split(" ", 1)[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}
