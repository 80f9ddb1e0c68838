// The kernel calls of an operation, kept from one step to the next: steps that decode have the same
// number of rows, so their arguments are the same, and stay in memory. Building the arguments of all
// operations took a millisecond per step, during which the threads were idle.

import type { KeptCalls, KernelCall } from "./calls.ts";
import type { CpuCore } from "./core.ts";

/**
 * Runs the calls that `make` gives for some counts, such as that of rows, phase by phase. They are made
 * anew when a count changes, or when shared memory that they may point to has moved, and get memory for
 * their arguments when the same counts come again.
 */
export function keepCalls<Counts extends readonly number[]>(
  core: CpuCore,
  make: (...counts: Counts) => readonly (readonly KernelCall[])[],
): (...counts: Counts) => void {
  let phases: readonly (readonly KernelCall[])[] = [];
  let madeFor: Counts | undefined;
  let kept: KeptCalls | undefined;
  let isKept = false;
  let moves = core.moves;
  let ranAt = -1;
  return (...counts) => {
    const isMade = madeFor && moves === core.moves && isEqual(counts, madeFor);
    if (!isMade) {
      phases = make(...counts);
      [madeFor, moves, isKept] = [counts, core.moves, false];
    }
    if (!isMade || core.isNoting) {
      for (const calls of phases) core.run(calls, true);
      return;
    }
    if (!isKept) {
      if (ranAt === core.flushes) core.flush(); // Calls that wait read the arguments of before.
      kept = core.keep(phases, kept?.memory);
      isKept = true;
    }
    ranAt = core.flushes;
    core.runKept(kept!);
  };
}

/** keepCalls() of one call. */
export function keepCall(
  core: CpuCore,
  make: (count: number) => KernelCall,
): (count: number) => void {
  return keepCalls(core, (count: number) => [[make(count)]]);
}

function isEqual(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
