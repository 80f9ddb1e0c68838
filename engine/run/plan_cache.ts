// The plan of the last decode step, kept for the next one: while the same slots decode, their rows stay
// the same and only the lengths of their contexts change.

import { type Chunk, layOut } from "./planner.ts";
import type { StepPlan } from "./step_plan.ts";

/** The planner of a model, which remembers the last decode step. */
export class PlanCache {
  readonly #tileRows: number;
  #decode: { slots: string; plan: StepPlan } | undefined;

  /** @param tileRows query rows of a tile of attention */
  constructor(tileRows: number) {
    this.#tileRows = tileRows;
  }

  layOut(chunks: readonly Chunk[]): StepPlan {
    const plan = layOut(chunks, this.#tileRows);
    if (!chunks.every(({ sequence, draft }) => sequence.decoding && draft.length === 0)) {
      this.#decode = undefined;
      return plan;
    }
    const slots = chunks.map(({ sequence }) => sequence.memory.slot).join();
    if (this.#decode?.slots === slots) return { ...this.#decode.plan, shape: plan.shape };
    this.#decode = { slots, plan };
    return plan;
  }
}
