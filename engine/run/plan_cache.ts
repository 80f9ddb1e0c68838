// The layout of steps, with that of the last decode step at hand: decoding goes on with the same rows
// while the same slots decode, and only lengths change.

import { layOut, type Share } from "./planner.ts";
import type { StepPlan } from "./step_plan.ts";

/** Lays steps out. */
export class PlanCache {
  readonly #tileRows: number;
  #decode: { slots: string; plan: StepPlan } | undefined;

  /** @param tileRows query rows of a tile of attention */
  constructor(tileRows: number) {
    this.#tileRows = tileRows;
  }

  /** The plan of a step. */
  layOut(shares: readonly Share[]): StepPlan {
    const plan = layOut(shares, this.#tileRows);
    if (!shares.every(({ sequence, draft }) => sequence.decoding && draft.length === 0)) {
      this.#decode = undefined;
      return plan;
    }
    const slots = shares.map(({ sequence }) => sequence.slot).join();
    if (this.#decode?.slots === slots) return { ...this.#decode.plan, shape: plan.shape };
    this.#decode = { slots, plan };
    return plan;
  }
}
