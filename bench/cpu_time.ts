// The time that a thread has computed, which does not include the time of other threads and processes,
// for benchmarks and tests on machines that have other work as well.

import process from "node:process";

/** CPU time that this thread has used, in milliseconds. */
export function threadTime(): number {
  try {
    // Nanoseconds; the other source counts ticks of 10 ms on some machines.
    return Number(Deno.readTextFileSync("/proc/thread-self/schedstat").split(" ", 1)[0]) / 1e6;
  } catch {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  }
}
