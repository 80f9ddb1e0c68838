// The prefix cache: finds full blocks of the KV cache by their tokens. A prefix is a chain of blocks,
// each found by the block before it and its own tokens, as in vLLM's prefix cache (Kwon et al. 2023),
// but by the tokens themselves instead of a hash, so that no prefix is mistaken for another. A row of
// an image has a key of its own in place of a token. Which blocks are in use and which are evicted is
// decided in block_pool.ts.

import type { TokenKey } from "../prompt/mod.ts";

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
