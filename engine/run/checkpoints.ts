// Copies of recurrent states (checkpoints), from which other sequences continue. Keys and values of all
// earlier tokens stay in the KV cache, but a recurrent layer has one state, which each token overwrites.
// So states are copied at ends of blocks: near the end of a prompt, at the last end of a block in an
// answer, where a prompt parts from an earlier one, and at even distances before. A copy belongs to the block after which it was made, and is
// dropped with it. This file decides which copy gives its row to a new one; the pool makes the copies.

import type { Sequence } from "./sequence.ts";

/** Least distance between the copies in a long prompt, in blocks. */
const LEAST_SPACING = 8;

/**
 * What templates add after the last message, such as the opening mark of thinking, is often missing in
 * the next turn. If a prompt ends within this number of tokens after a block's beginning, its states
 * are also copied one block earlier.
 */
const TEMPLATE_END = 8;

/** A copy of states whose block is not in the prefix cache yet. */
export interface Checkpoint {
  readonly row: number;
  /** Tokens that the states are of; a multiple of the block size. */
  readonly position: number;
  /** Whether it is one of those at even distances in a long prompt, not at its end. */
  readonly isSpaced: boolean;
  /** Whether it is where its prompt parts from an earlier one, so that it stays beside later ones. */
  readonly isParting?: boolean;
}

/** The allocator of the rows of copies: which are free, and to which block each of the others belongs. */
export class Checkpoints {
  readonly #free: number[];
  /** Rows by block of the latest copies of conversations, the least recently used first. */
  readonly #ends = new Map<number, number>();
  /** Rows by block of earlier copies, which are dropped first. */
  readonly #earlier = new Map<number, number>();
  /** Tokens between the copies in a long prompt. */
  readonly spacing: number;

  /** @param rows number of rows @param blockSize tokens of a block @param context the window */
  constructor(rows: number, readonly blockSize: number, context: number) {
    this.#free = Array.from({ length: rows }, (_, i) => rows - 1 - i);
    const even = Math.ceil(context / blockSize / Math.max(1, rows / 2));
    this.spacing = blockSize * Math.max(LEAST_SPACING, even);
  }

  /** A row to copy to: a free one, or else that of the first copy to be dropped. Undefined: there is none. */
  take(isSpaced: boolean): number | undefined {
    if (this.#free.length > 0) return this.#free.pop();
    const from = this.#earlier.size > 0 ? this.#earlier : isSpaced ? undefined : this.#ends;
    const [oldest] = from ?? [];
    if (!oldest) return undefined;
    from!.delete(oldest[0]);
    return oldest[1];
  }

  /** Frees a row whose copy belongs to no block. */
  give(row: number): void {
    this.#free.push(row);
  }

  /** Assigns a copy to its block. If the block has one already, the new row is freed. */
  add(block: number, { row, isSpaced }: Checkpoint): void {
    if (this.#ends.has(block) || this.#earlier.has(block)) this.give(row);
    else (isSpaced ? this.#earlier : this.#ends).set(block, row);
  }

  /** Marks a block's copy as one to be dropped first, because its conversation has a later one. */
  demote(block: number): void {
    const row = this.#ends.get(block);
    if (row === undefined) return;
    this.#ends.delete(block);
    this.#earlier.set(block, row);
  }

  /** Drops the copy of a block, if it has one. */
  remove(block: number): void {
    const row = this.#ends.get(block) ?? this.#earlier.get(block);
    if (row === undefined) return;
    this.#ends.delete(block);
    this.#earlier.delete(block);
    this.give(row);
  }

  /** Has the latest copies of blocks, given in order of position, dropped as if they had been used just now. */
  touch(blocks: readonly number[]): void {
    for (const block of blocks) {
      const row = this.#ends.get(block);
      if (row === undefined) continue;
      this.#ends.delete(block);
      this.#ends.set(block, row);
    }
  }

  /** Whether a block has a copy. */
  has(block: number): boolean {
    return this.#ends.has(block) || this.#earlier.has(block);
  }

  /** The row of a block's copy, if it is the latest one of a conversation. */
  lastRowOf(block: number): number | undefined {
    return this.#ends.get(block);
  }

  /** The last of these blocks that has a copy: its row, and the number of blocks up to it. */
  deepest(blocks: readonly number[]): { row: number; blocks: number } | undefined {
    for (let i = blocks.length - 1; i >= 0; i--) {
      for (const kept of [this.#ends, this.#earlier]) {
        const row = kept.get(blocks[i]);
        if (row === undefined) continue;
        kept.delete(blocks[i]); // used last, so it is dropped last
        kept.set(blocks[i], row);
        return { row, blocks: i + 1 };
      }
    }
    return undefined;
  }

  /** The next position at which the states of a sequence are to be copied. */
  next(sequence: Sequence): number {
    const { submitted, tokens } = sequence;
    const size = this.blockSize;
    const after = (step: number) => (Math.floor(submitted / step) + 1) * step;
    const last = tokens.length - 1; // it has to run to give the next token
    const end = last - last % size;
    if (submitted >= end) return after(size);
    const before = last - end < TEMPLATE_END ? end - size : end;
    const parting = this.partingOf(sequence);
    return Math.min(
      after(this.spacing),
      submitted < before ? before : end,
      submitted < parting ? parting : Infinity,
    );
  }

  /** The last end of a block before a sequence parts from an earlier prompt; 0 if it does not. */
  partingOf({ request: { partsAt = 0 } }: Sequence): number {
    return partsAt - partsAt % this.blockSize;
  }

  /** Whether a copy at this position of a sequence is neither at its end, nor just before, nor at a parting. */
  isSpaced(sequence: Sequence, position: number): boolean {
    return position !== this.partingOf(sequence) &&
      position < sequence.tokens.length - TEMPLATE_END - 2 * this.blockSize;
  }
}
