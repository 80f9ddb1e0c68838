// Copies of recurrent states, from which other sequences go on. Keys and values of all earlier tokens
// stay in the KV cache, but a recurrent layer keeps one state, which each token changes and which cannot go
// back. So states are copied at ends of blocks: near the end of a prompt, at the last end of a block in
// an answer, and at even distances before. A copy belongs to the block after which it was made, and goes
// with it. Which copy goes when there is no row for another one is decided here; the pool makes them.

import type { Checkpoint, Sequence } from "./sequence.ts";

/** Steps between the copies in a long prompt: at least so many blocks. */
const LEAST_SPACING = 8;

/**
 * What templates put after the last message, such as an open mark of thinking, is often not there in
 * the next turn. A prompt that ends within so many tokens of a block's beginning is copied a block
 * earlier as well.
 */
const TEMPLATE_END = 8;

/** Which rows of the device's copies are free, and which block each of the others belongs to. */
export class Checkpoints {
  readonly #free: number[];
  /** Rows by block, those unused for longest first: of conversations' last ends. */
  readonly #ends = new Map<number, number>();
  /** Likewise, of what lies before: these go first. */
  readonly #earlier = new Map<number, number>();
  /** Tokens between the copies in a long prompt. */
  readonly spacing: number;

  /** @param rows copies that there is room for @param blockSize tokens of a block @param context window */
  constructor(rows: number, readonly blockSize: number, context: number) {
    this.#free = Array.from({ length: rows }, (_, i) => rows - 1 - i);
    const even = Math.ceil(context / blockSize / Math.max(1, rows / 2));
    this.spacing = blockSize * Math.max(LEAST_SPACING, even);
  }

  /** A row to copy to: a free one, or that of a block which can do without. Undefined: there is none. */
  take(isSpaced: boolean): number | undefined {
    if (this.#free.length > 0) return this.#free.pop();
    const from = this.#earlier.size > 0 ? this.#earlier : isSpaced ? undefined : this.#ends;
    const [oldest] = from ?? [];
    if (!oldest) return undefined;
    from!.delete(oldest[0]);
    return oldest[1];
  }

  /** Gives back a row whose copy belongs to no block. */
  give(row: number): void {
    this.#free.push(row);
  }

  /** Keeps a copy with its block. Where the block has one, the new row is free again. */
  add(block: number, { row, isSpaced }: Checkpoint): void {
    if (this.#ends.has(block) || this.#earlier.has(block)) this.give(row);
    else (isSpaced ? this.#earlier : this.#ends).set(block, row);
  }

  /** Counts a block's copy among those that go first: its conversation has a later one. */
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

  /** Whether a block has a copy. */
  has(block: number): boolean {
    return this.#ends.has(block) || this.#earlier.has(block);
  }

  /** The row of a block's copy, if that is one of a conversation's last. */
  lastRowOf(block: number): number | undefined {
    return this.#ends.get(block);
  }

  /** The deepest of these blocks that has a copy: its row, and how many blocks it ends. */
  deepest(blocks: readonly number[]): { row: number; blocks: number } | undefined {
    for (let i = blocks.length - 1; i >= 0; i--) {
      for (const kept of [this.#ends, this.#earlier]) {
        const row = kept.get(blocks[i]);
        if (row === undefined) continue;
        kept.delete(blocks[i]); // used last: it goes last
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
    const last = tokens.length - 1; // has to run, for what follows it
    const end = last - last % size;
    if (submitted >= end) return after(size);
    const before = last - end < TEMPLATE_END ? end - size : end;
    return Math.min(after(this.spacing), submitted < before ? before : end);
  }

  /** Whether a copy at this position of a sequence is neither at its end nor just before. */
  isSpaced({ tokens }: Sequence, position: number): boolean {
    return position < tokens.length - TEMPLATE_END - 2 * this.blockSize;
  }
}
