// What sequences hold in a model's memory: a slot of the step, blocks of the KV cache and, in the
// slot, the states of recurrent layers. Sequences grow, fork and are cut here, whatever layers the
// model has; a state cannot go back, so a model that has one can only be cut to nothing.

import { BlockPool } from "./block_pool.ts";
import type { Sequence } from "./sequence.ts";
import type { StepRunner } from "./step_runner.ts";

/** Gives out the memory of a model. */
export class SequencePool {
  readonly #runner: StepRunner;
  readonly #blocks: BlockPool;
  readonly #freeSlots: number[];

  /** @param blocks blocks of the KV cache */
  constructor(runner: StepRunner, blocks: number) {
    const { slots } = runner.limits;
    this.#runner = runner;
    this.#blocks = new BlockPool(blocks);
    this.#freeSlots = Array.from({ length: slots }, (_, i) => slots - 1 - i);
  }

  /** Gives a sequence a slot and room for `positions` positions, or nothing. */
  take(sequence: Sequence, positions: number): boolean {
    if (this.#freeSlots.length === 0) return false;
    if (this.#runner.blocksFor(positions) > this.#blocks.available) return false;
    sequence.slot = this.#freeSlots.pop()!;
    return this.grow(sequence, positions);
  }

  /** Sees to it that the first `positions` positions have blocks; false if there are too few. */
  grow(sequence: Sequence, positions: number): boolean {
    const missing = this.#runner.blocksFor(positions) - sequence.blocks.length;
    if (missing <= 0) return true;
    const blocks = this.#blocks.take(missing);
    if (!blocks) return false;
    this.#runner.assignBlocks(sequence.slot, sequence.blocks.length, blocks);
    sequence.blocks.push(...blocks);
    return true;
  }

  /**
   * Gives `fork`, a sequence without memory, what `sequence` has been fed: whole blocks are shared,
   * the rest is copied. False, and nothing done, where slots or blocks run out. No step of `sequence`
   * may be under way.
   */
  fork(sequence: Sequence, fork: Sequence): boolean {
    const whole = Math.floor(sequence.submitted / this.#runner.blockSize);
    const filled = this.#runner.blocksFor(sequence.submitted);
    const shared = sequence.blocks.slice(0, whole);
    const copied = this.#freeSlots.length > 0 ? this.#blocks.take(filled - whole) : undefined;
    if (!copied) return false;
    this.#blocks.share(shared);
    fork.slot = this.#freeSlots.pop()!;
    fork.blocks = [...shared, ...copied];
    fork.submitted = sequence.submitted;
    this.#runner.assignBlocks(fork.slot, 0, fork.blocks);
    const from = sequence.blocks.slice(whole, filled);
    this.#runner.copySequence(sequence.slot, fork.slot, from, copied);
    return true;
  }

  /**
   * Forgets what a sequence has been fed past `positions`, or all of it where the model cannot go
   * back. No step of it may be under way.
   * @returns positions that are left
   */
  truncate(sequence: Sequence, positions: number): number {
    if (positions >= sequence.submitted) return sequence.submitted;
    const left = this.#runner.hasStates ? 0 : positions;
    const size = this.#runner.blockSize;
    const last = sequence.blocks[Math.floor(left / size)];
    // The rest of the last block will be written again, so it must be the sequence's own.
    const kept = left % size > 0 && this.#blocks.isShared(last) ? left - left % size : left;
    this.#blocks.give(sequence.blocks.splice(this.#runner.blocksFor(kept)));
    sequence.submitted = kept;
    sequence.decoding = false;
    return kept;
  }

  /** Takes everything back. Commands under way may still use it; the GPU runs later ones after them. */
  release(sequence: Sequence): void {
    this.#blocks.give(sequence.blocks);
    sequence.blocks = [];
    sequence.submitted = 0;
    sequence.decoding = false;
    if (sequence.slot >= 0) this.#freeSlots.push(sequence.slot);
    sequence.slot = -1;
  }
}
