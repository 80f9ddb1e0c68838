// The interface of a drafter, which drafts tokens that do not come from a sequence's own text: a smaller
// model, or a model's head for multi-token prediction.

import type { Sequence } from "./sequence.ts";

/** A maker of drafts. */
export interface Drafter {
  /**
   * Makes drafts for those running sequences whose next tokens are to be drafted now
   * ({@linkcode Sequence.drafts}), and reads ahead for the others. No other call may be under way.
   *
   * @returns the number of drafting steps, 0 if nothing was drafted, and their milliseconds together;
   * steps that also read a prompt do not count
   */
  prepare(running: readonly Sequence[]): Promise<DraftingTime>;
  /**
   * Takes the hidden states that the model ended with at positions of a sequence, from `first` on:
   * [positions, width]. Missing: they are not needed.
   */
  observe?(sequence: Sequence, first: number, states: Float32Array): void;
  /** Forgets a sequence and frees what was kept for it. */
  release(sequence: Sequence): void;
}

/** What drafts took. */
export interface DraftingTime {
  readonly steps: number;
  readonly milliseconds: number;
}
