// Draws that a seed repeats, so that a fault can be seen again (mulberry32 by Tommy Ettinger).

/** A generator of random choices. */
export class Draws {
  #state: number;

  /** Choices that a seed determines. */
  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 * limit);
  }

  /** An integer from `low` to `high`, ends included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True once in `odds` times. */
  oneIn(odds: number): boolean {
    return this.below(odds) === 0;
  }

  /** Any of some items. */
  one<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** About half of some items, in their order. */
  some<T>(items: readonly T[]): T[] {
    return items.filter(() => this.oneIn(2));
  }
}
