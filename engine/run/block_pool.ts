// The blocks of the paged KV cache (Kwon et al. 2023): who has which. Memory itself is per layer,
// in the network; block i is block i in all of them. Sequences that begin alike can share blocks.
// A block that nobody has any more but the prefix cache knows is idle: it keeps what it holds until
// room is needed, and the one that is idle for longest goes first.

import type { Checkpoints } from "./checkpoints.ts";
import type { PrefixCache } from "./prefix_cache.ts";

/** Hands out block numbers. */
export class BlockPool {
  readonly #cache: PrefixCache;
  readonly #checkpoints: Checkpoints;
  readonly #free: number[];
  /** In the order in which they go: that in which they became idle. */
  readonly #idle = new Set<number>();
  /** How many have each block. */
  readonly #owners: Uint32Array;

  /**
   * @param size number of blocks
   * @param cache what is known of blocks that hold tokens
   * @param checkpoints which of these have copies of states
   */
  constructor(readonly size: number, cache: PrefixCache, checkpoints: Checkpoints) {
    this.#cache = cache;
    this.#checkpoints = checkpoints;
    this.#free = Array.from({ length: size }, (_, i) => size - 1 - i);
    this.#owners = new Uint32Array(size);
  }

  /** Blocks that can be taken. */
  get available(): number {
    return this.#free.length + this.#idle.size;
  }

  /** How many blocks hold nothing, are kept for what they hold, and belong to somebody. */
  get counts(): { free: number; idle: number; used: number } {
    const used = this.#owners.reduce((count, owners) => count + Math.min(owners, 1), 0);
    return { free: this.#free.length, idle: this.#idle.size, used };
  }

  /** Takes `count` blocks, or none and gives undefined if there are fewer. */
  take(count: number): number[] | undefined {
    if (count > this.available) return undefined;
    const blocks = Array.from({ length: count }, () => this.#free.pop() ?? this.#evict());
    this.share(blocks);
    return blocks;
  }

  /** Has blocks that hold something already, idle or somebody's, one more time. */
  share(blocks: readonly number[]): void {
    for (const block of blocks) {
      this.#owners[block]++;
      this.#idle.delete(block);
    }
  }

  /** Whether more than one has a block: then nobody may write to it. */
  isShared(block: number): boolean {
    return this.#owners[block] > 1;
  }

  /**
   * Gives blocks back, in order of position. The last become idle first: whoever has a known block
   * has those before it too, so that none ever goes before the blocks that follow it.
   */
  give(blocks: readonly number[]): void {
    for (const block of blocks.toReversed()) {
      if (--this.#owners[block] > 0) continue;
      if (this.#cache.has(block)) this.#idle.add(block);
      else this.#free.push(block);
    }
  }

  #evict(): number {
    const [block] = this.#idle;
    this.#idle.delete(block);
    this.#cache.remove(block);
    this.#checkpoints.remove(block);
    return block;
  }
}
