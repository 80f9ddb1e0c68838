// The interface of whoever drafts tokens for sequences, besides the sequences' own text.

import type { Sequence } from "./sequence.ts";

/** A maker of drafts. */
export interface Drafter {
  /**
   * Makes drafts for those running sequences whose next tokens are to be drafted now
   * ({@linkcode Sequence.proposal}), and reads ahead for the others. No other call may be under way.
   *
   * @returns steps of drafting one after the other, 0 where nothing was drafted, and the milliseconds
   * that they took together; steps that also read a prompt do not count
   */
  prepare(running: readonly Sequence[]): Promise<DraftingTime>;
  /** Forgets a sequence and frees what was kept for it. */
  release(sequence: Sequence): void;
}

/** What drafts took. */
export interface DraftingTime {
  readonly steps: number;
  readonly milliseconds: number;
}
