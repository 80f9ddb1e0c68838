// The blocks of the paged KV cache (Kwon et al. 2023): who has which. Memory itself is per layer,
// in the network; block i is block i in all of them. Sequences that begin alike can share blocks.

/** Hands out block numbers. */
export class BlockPool {
  readonly #free: number[];
  /** How many have each block. */
  readonly #owners: Uint32Array;

  /** @param size number of blocks */
  constructor(readonly size: number) {
    this.#free = Array.from({ length: size }, (_, i) => size - 1 - i);
    this.#owners = new Uint32Array(size);
  }

  /** Blocks that nobody has. */
  get available(): number {
    return this.#free.length;
  }

  /** Takes `count` blocks, or none and gives undefined if there are fewer. */
  take(count: number): number[] | undefined {
    if (count > this.#free.length) return undefined;
    const blocks = Array.from({ length: count }, () => this.#free.pop()!);
    this.share(blocks);
    return blocks;
  }

  /** Has blocks that somebody has already one more time. */
  share(blocks: readonly number[]): void {
    for (const block of blocks) this.#owners[block]++;
  }

  /** Whether more than one has a block: then nobody may write to it. */
  isShared(block: number): boolean {
    return this.#owners[block] > 1;
  }

  /** Gives blocks back; they are free once nobody has them. */
  give(blocks: readonly number[]): void {
    for (const block of blocks) {
      if (--this.#owners[block] === 0) this.#free.push(block);
    }
  }
}
