// Which block of the KV cache holds which tokens after which others. A beginning is a chain of full
// blocks, each known by the block before it and its own tokens, as in vLLM's prefix cache (Kwon et
// al. 2023), but by the tokens themselves where vLLM has a hash: no beginning is taken for another.
// In place of a token a row of an image has a name, which no token and no other row has.
// Who has a block, and which one has to go for a new one, is the business of block_pool.ts.

import type { TokenKey } from "../prompt/mod.ts";

/** The blocks that can be found by their tokens. */
export class PrefixCache {
  readonly #blocks = new Map<string, number>();
  readonly #keys = new Map<number, string>();

  /** @param blockSize tokens of a block */
  constructor(readonly blockSize: number) {}

  /** The blocks that hold the longest known beginning of these tokens. */
  match(tokens: readonly TokenKey[]): number[] {
    const blocks: number[] = [];
    for (let end = this.blockSize; end <= tokens.length; end += this.blockSize) {
      const block = this.find(blocks.at(-1), tokens.slice(end - this.blockSize, end));
      if (block === undefined) break;
      blocks.push(block);
    }
    return blocks;
  }

  /** The block that holds these tokens after what `parent` and those before it hold. */
  find(parent: number | undefined, tokens: readonly TokenKey[]): number | undefined {
    return this.#blocks.get(keyOf(parent, tokens));
  }

  /** Makes a block known that find() does not find. `parent`: the known block before it. */
  add(parent: number | undefined, tokens: readonly TokenKey[], block: number): void {
    const key = keyOf(parent, tokens);
    this.#blocks.set(key, block);
    this.#keys.set(block, key);
  }

  /** Whether a block is known, so that nobody may write to it. */
  has(block: number): boolean {
    return this.#keys.has(block);
  }

  /** Forgets a block. Those after it have to be forgotten before: it gives them their meaning. */
  remove(block: number): void {
    this.#blocks.delete(this.#keys.get(block)!);
    this.#keys.delete(block);
  }
}

function keyOf(parent: number | undefined, tokens: readonly TokenKey[]): string {
  return `${parent ?? ""}:${tokens.join()}`;
}
