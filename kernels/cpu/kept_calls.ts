// The kernel calls of an operation, kept from one step to the next: steps that decode have the same
// number of rows, so their arguments are the same. Building the arguments of all operations took a
// millisecond per step, during which the threads were idle.

import type { CpuCore, KernelCall } from "./core.ts";

/**
 * Runs the calls that `make` gives for some counts, such as that of rows, phase by phase. They are made
 * anew when a count changes, or when shared memory that they may point to has moved.
 */
export function keepCalls<Counts extends readonly number[]>(
  core: CpuCore,
  make: (...counts: Counts) => readonly (readonly KernelCall[])[],
): (...counts: Counts) => void {
  let phases: readonly (readonly KernelCall[])[] = [];
  let madeFor: Counts | undefined;
  let moves = core.moves;
  return (...counts) => {
    if (moves !== core.moves || !counts.every((count, i) => count === madeFor?.[i])) {
      phases = make(...counts);
      [madeFor, moves] = [counts, core.moves];
    }
    for (const calls of phases) core.run(calls);
  };
}
