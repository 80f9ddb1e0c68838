// A captured step that is kept as a whole while it stays the same, as that of decode does: its operations
// are in the control block of the pool already. So between two tokens the host only does its own part of
// the step, while the threads have nothing to do. Calling every operation, and writing what was there
// before, took 0.1 ms of a token, since the weights displace the host's objects from the caches.

import type { CpuCore, StepNotes } from "./core.ts";
import type { BuiltStep } from "./step.ts";

/** Runs calls between two flushes, again and again. */
export function repeated(core: CpuCore, calls: readonly (() => void)[]): () => void {
  let kept: { step: BuiltStep; moves: number; works: StepNotes["works"] } | undefined;
  return () => {
    core.flush();
    if (kept && kept.moves === core.moves && core.again(kept.step, kept.works)) return;
    const { moves, flushes } = core;
    const notes = core.noting(() => calls.forEach((call) => call()));
    const isWhole = notes.isKept && core.flushes === flushes && core.moves === moves;
    kept = isWhole && core.pool.operations > 0
      ? { step: core.pool.keep(), moves, works: notes.works }
      : undefined;
  };
}
