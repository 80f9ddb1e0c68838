// The blocks of the paged KV cache (Kwon et al. 2023), with a count of references each. The memory
// itself belongs to the layers of the network; block i is block i in all of them. Sequences with the
// same prefix share blocks. A block without references that is in the prefix cache is idle: it keeps
// its tokens until another block is needed, and the least recently used idle block is evicted first.

import type { Checkpoints } from "./checkpoints.ts";
import type { PrefixCache } from "./prefix_cache.ts";

/** The listener for cached blocks that no sequence uses. */
export interface IdleListener {
  /** A cached block has lost its last reference. */
  idle(block: number): void;
  /** An idle block is evicted: its number is used for other tokens. */
  evicted(block: number): void;
}

/** The allocator of block numbers. */
export class BlockPool {
  readonly #cache: PrefixCache;
  readonly #checkpoints: Checkpoints;
  readonly #free: number[];
  /** Idle blocks in the order of eviction, which is that in which they became idle. */
  readonly #idle = new Set<number>();
  /** The references to each block. */
  readonly #owners: Uint32Array;
  readonly #listener: IdleListener | undefined;

  /**
   * @param size number of blocks
   * @param cache the blocks that can be found by their tokens
   * @param checkpoints which of these have copies of states
   * @param listener is told of blocks that become idle, and of those that are evicted
   */
  constructor(
    readonly size: number,
    cache: PrefixCache,
    checkpoints: Checkpoints,
    listener?: IdleListener,
  ) {
    this.#listener = listener;
    this.#cache = cache;
    this.#checkpoints = checkpoints;
    this.#free = Array.from({ length: size }, (_, i) => size - 1 - i);
    this.#owners = new Uint32Array(size);
  }

  /** Number of blocks that can be taken. */
  get available(): number {
    return this.#free.length + this.#idle.size;
  }

  /** Numbers of blocks: empty, idle and referenced ones. */
  get counts(): { free: number; idle: number; used: number } {
    const used = this.#owners.reduce((count, owners) => count + Math.min(owners, 1), 0);
    return { free: this.#free.length, idle: this.#idle.size, used };
  }

  /** The idle blocks that would be evicted to take `count` blocks, while those of `kept` are used. */
  victims(count: number, kept: readonly number[]): number[] {
    const missing = count - this.#free.length;
    if (missing <= 0) return [];
    const used = new Set(kept);
    return [...this.#idle].filter((block) => !used.has(block)).slice(0, missing);
  }

  /** Takes `count` blocks; undefined, and none is taken, if there are fewer. */
  take(count: number): number[] | undefined {
    if (count > this.available) return undefined;
    const blocks = Array.from({ length: count }, () => this.#free.pop() ?? this.#evict());
    this.share(blocks);
    return blocks;
  }

  /** Adds a reference to blocks that hold tokens already. */
  share(blocks: readonly number[]): void {
    for (const block of blocks) {
      this.#owners[block]++;
      this.#idle.delete(block);
    }
  }

  /** Whether a block has several references, so that it is read-only. */
  isShared(block: number): boolean {
    return this.#owners[block] > 1;
  }

  /**
   * Drops a reference to each of these blocks, given in order of position. The last become idle first,
   * so that a cached block is never evicted before those that follow it.
   */
  give(blocks: readonly number[]): void {
    for (const block of blocks.toReversed()) {
      if (--this.#owners[block] > 0) continue;
      if (this.#cache.has(block)) {
        this.#idle.add(block);
        this.#listener?.idle(block);
      } else {
        this.#free.push(block);
      }
    }
  }

  #evict(): number {
    const [block] = this.#idle;
    this.#idle.delete(block);
    this.#cache.remove(block);
    this.#checkpoints.remove(block);
    this.#listener?.evicted(block);
    return block;
  }
}
