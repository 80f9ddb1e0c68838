// Which part of an operation is each thread's own, by how fast it was. Of large operations threads own a part
// only, and take the rest as soon as they have done theirs. So one whose part is too small takes more of the
// rest than its share, and one whose part is too large less, or nothing: shares follow what was taken until
// both are the same. That reads no clock. Results do not depend on shares, since an item has the same bits
// on any thread.

import { LINE, SHARES, TAKEN } from "./control.ts";

/** All of an operation, in the words of the control block. */
export const WHOLE = 2 ** 24;

/** Steps after which shares follow what was taken. */
const STEPS = 8;
/**
 * How far they follow. Where threads own 7/8, one that is 1 % faster than its share says takes 8 % more of
 * the rest, so this is right at once; where they own half, after some times.
 */
const FOLLOWS = 1 / 8;
/** Threads count as equal whose speeds differ less from their mean: work takes longer or shorter by chance. */
const CHANCE = 1 / 8;

/** The shares of a pool's threads, in its control block. */
export class ThreadShares {
  readonly #control: Int32Array;
  #shares: number[] = [];
  #counted: Int32Array = new Int32Array(0);
  #steps = 0;

  constructor(control: Int32Array, threads: number) {
    this.#control = control;
    this.begin(threads);
  }

  /** Begins with so many threads, whose shares are equal. */
  begin(threads: number): void {
    this.#shares = Array(threads).fill(1 / threads);
    this.#counted = this.#counts();
    this.#steps = 0;
    this.#write();
  }

  /** The share of each thread: together 1. */
  get all(): readonly number[] {
    return this.#shares;
  }

  /** Has shares follow what threads took, now and then. To be called between steps. */
  follow(): void {
    if (this.#shares.length === 1 || ++this.#steps < STEPS) return;
    this.#steps = 0;
    const counted = this.#counts();
    const taken = counted.map((count, index) => count - this.#counted[index]!);
    this.#counted = counted;
    const all = taken.reduce((sum, count) => sum + count, 0);
    if (all <= 0) return;
    this.#shares = this.#shares.map((share, i) => share + FOLLOWS * (taken[i]! / all - share));
    this.#write();
  }

  #counts(): Int32Array {
    return Int32Array.from(
      this.#shares,
      (_, index) => Atomics.load(this.#control, TAKEN + LINE * index),
    );
  }

  /** Writes where the part of each thread begins, and the end of the last one. */
  #write(): void {
    const threads = this.#shares.length;
    // Else chance would give one of equal threads an item more, where each has a few.
    const areEqual = this.#shares.every((share) => Math.abs(threads * share - 1) < CHANCE);
    let sum = 0;
    for (const [index, share] of this.#shares.entries()) {
      // Upwards, so that parts of equal threads begin where whole items do.
      this.#control[SHARES + index] = Math.ceil(WHOLE * (areEqual ? index / threads : sum));
      sum += share;
    }
    this.#control[SHARES + threads] = WHOLE;
  }
}
