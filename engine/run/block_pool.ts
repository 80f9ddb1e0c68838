// The blocks of the paged KV cache (Kwon et al. 2023), with a count of references each. The memory
// itself belongs to the layers of the network; block i is block i in all of them. Sequences with the
// same prefix share blocks. A block without references that is in the prefix cache is idle: it keeps
// its tokens until another block is needed, and the least recently used idle block is evicted first.
// Blocks that only requests in the background have used are evicted before all others.

import type { TokenKey } from "../prompt/mod.ts";
import type { Checkpoints } from "./checkpoints.ts";

/** The listener for cached blocks that no sequence uses. */
export interface IdleListener {
  /** A cached block has lost its last reference, and is not among those that go first. */
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
  /** Those that only requests in the background have used, likewise. */
  readonly #idleBehind = new Set<number>();
  /** Blocks that are among those when they are idle. */
  readonly #behind = new Set<number>();
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
    return this.#free.length + this.#idle.size + this.#idleBehind.size;
  }

  /** Numbers of blocks: empty, idle and referenced ones. */
  get counts(): { free: number; idle: number; used: number } {
    const used = this.#owners.reduce((count, owners) => count + Math.min(owners, 1), 0);
    const idle = this.#idle.size + this.#idleBehind.size;
    return { free: this.#free.length, idle, used };
  }

  /** The idle blocks that would be evicted to take `count` blocks, while those of `kept` are used. */
  victims(count: number, kept: readonly number[]): number[] {
    const missing = count - this.#free.length;
    if (missing <= 0) return [];
    const used = new Set(kept);
    const idle = [...this.#idleBehind, ...this.#idle];
    return idle.filter((block) => !used.has(block)).slice(0, missing);
  }

  /** Has blocks evicted before all others, or after them. */
  place(blocks: readonly number[], isBehind: boolean): void {
    for (const block of blocks) {
      if (isBehind) this.#behind.add(block);
      else this.#behind.delete(block);
    }
  }

  /** Has idle blocks, given in order of position, evicted as if they had been used just now. */
  touch(blocks: readonly number[]): void {
    for (const block of blocks.toReversed()) {
      if (this.#idle.delete(block)) this.#idle.add(block);
    }
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
      this.#idleBehind.delete(block);
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
        const isBehind = this.#behind.has(block);
        (isBehind ? this.#idleBehind : this.#idle).add(block);
        // What goes first is worth no copy in the place of what others have kept.
        if (!isBehind) this.#listener?.idle(block);
      } else {
        this.#behind.delete(block);
        this.#free.push(block);
      }
    }
  }

  #evict(): number {
    const idle = this.#idleBehind.size > 0 ? this.#idleBehind : this.#idle;
    const [block] = idle;
    idle.delete(block);
    this.#behind.delete(block);
    this.#cache.remove(block);
    this.#checkpoints.remove(block);
    this.#listener?.evicted(block);
    return block;
  }
}

// The prefix cache: finds full blocks of the KV cache by their tokens. A prefix is a chain of blocks,
// each found by the block before it and its own tokens, as in vLLM's prefix cache (Kwon et al. 2023),
// but by the tokens themselves instead of a hash, so that no prefix is mistaken for another. A row of
// an image has a key of its own in place of a token. Which blocks are in use and which are evicted is
// decided in block_pool.ts.

/** The blocks that can be found by their tokens. */
export class PrefixCache {
  readonly #blocks = new Map<string, number>();
  readonly #keys = new Map<number, string>();

  /** @param blockSize tokens of a block */
  constructor(readonly blockSize: number) {}

  /** The blocks that hold the longest cached prefix of these tokens. */
  match(tokens: readonly TokenKey[]): number[] {
    const blocks: number[] = [];
    for (let end = this.blockSize; end <= tokens.length; end += this.blockSize) {
      const block = this.find(blocks.at(-1), tokens.slice(end - this.blockSize, end));
      if (block === undefined) break;
      blocks.push(block);
    }
    return blocks;
  }

  /** The block that holds these tokens right after those of `parent`. */
  find(parent: number | undefined, tokens: readonly TokenKey[]): number | undefined {
    return this.#blocks.get(keyOf(parent, tokens));
  }

  /** Adds a block that find() does not find. `parent`: the cached block before it. */
  add(parent: number | undefined, tokens: readonly TokenKey[], block: number): void {
    const key = keyOf(parent, tokens);
    this.#blocks.set(key, block);
    this.#keys.set(block, key);
  }

  /** Whether a block is cached, so that it is read-only. */
  has(block: number): boolean {
    return this.#keys.has(block);
  }

  /** Removes a block; those that follow it must have been removed before. */
  remove(block: number): void {
    this.#blocks.delete(this.#keys.get(block)!);
    this.#keys.delete(block);
  }
}

function keyOf(parent: number | undefined, tokens: readonly TokenKey[]): string {
  return `${parent ?? ""}:${tokens.join()}`;
}

// Which blocks the main conversations of sessions have left. Whoever stands beside such a conversation
// uses the same session, so these blocks count as used with it: of those that can be evicted they are the
// last, after those of other sessions and those that were left beside them.

/** Most sessions that are known; the one that was used longest ago is forgotten first. */
const MOST_SESSIONS = 64;

/** The idle blocks of sessions' main conversations. */
export class SessionBlocks {
  /** In the order of their last use. */
  readonly #blocks = new Map<string, Set<number>>();

  /** Notes what the last request of a main conversation leaves, in order of position. */
  keep(session: string, blocks: readonly number[]): void {
    this.#blocks.delete(session);
    this.#blocks.set(session, new Set(blocks));
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > MOST_SESSIONS) this.#blocks.delete(oldest!);
  }

  /** The blocks of a session's main conversation that were not evicted, in order of position. */
  of(session: string): number[] {
    return [...this.#blocks.get(session) ?? []];
  }

  /** A block is evicted: it will hold other tokens. */
  evicted(block: number): void {
    for (const blocks of this.#blocks.values()) blocks.delete(block);
  }
}
