// The blocks of the paged KV cache (Kwon et al. 2023): who has which. Memory itself is per layer,
// in the network; block i is block i in all of them.

/** Hands out block numbers. */
export class BlockPool {
  readonly #free: number[];

  /** @param size number of blocks */
  constructor(readonly size: number) {
    this.#free = Array.from({ length: size }, (_, i) => size - 1 - i);
  }

  /** Blocks that nobody has. */
  get available(): number {
    return this.#free.length;
  }

  /** Takes `count` blocks, or none and gives undefined if there are fewer. */
  take(count: number): number[] | undefined {
    if (count > this.#free.length) return undefined;
    return Array.from({ length: count }, () => this.#free.pop()!);
  }

  /** Gives blocks back. */
  give(blocks: readonly number[]): void {
    this.#free.push(...blocks);
  }
}
