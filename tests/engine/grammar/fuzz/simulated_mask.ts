// The mask as its definition says: each token that is text, tried byte by byte. Tokens in the order of
// their bytes share the trial of what they begin with; no table or trie of the engine has a part in it.

import type { Matcher } from "../../../../engine/grammar/machine/mod.ts";
import type { Draws } from "./draws.ts";
import { hasToken } from "./sampler.ts";
import type { Vocabulary } from "./vocabularies.ts";

/** Tries all tokens of a vocabulary. */
export class TokenTrials {
  readonly #vocabulary: Vocabulary;
  /** Tokens that are text, by their bytes. */
  readonly #sorted: readonly number[];

  /** Sorts the vocabulary. */
  constructor(vocabulary: Vocabulary) {
    const { tokenizer, bytes } = vocabulary;
    this.#vocabulary = vocabulary;
    this.#sorted = [...bytes.keys()]
      .filter((token) =>
        bytes[token]!.length > 0 && !tokenizer.isControl(token) &&
        !tokenizer.endOfGeneration.has(token)
      )
      .sort((a, b) => compareBytes(bytes[a]!, bytes[b]!));
  }

  /** The mask at a matcher's place. */
  maskAt(matcher: Matcher): Uint32Array {
    const { tokenizer } = this.#vocabulary;
    const mask = new Uint32Array(Math.ceil(tokenizer.vocabularySize / 32));
    if (matcher.isComplete) {
      for (const token of tokenizer.endOfGeneration) mask[token >>> 5]! |= 1 << (token & 31);
    }
    this.#try(matcher, mask, 0, this.#sorted.length, 0);
    return mask;
  }

  /** Whether a matcher takes a token's bytes one at a time. The matcher is spent. */
  takesByteByByte(matcher: Matcher, token: number): boolean {
    const bytes = this.#vocabulary.bytes[token]!;
    return bytes.every((byte) => matcher.acceptBytes(Uint8Array.of(byte)));
  }

  /** Any token that is text. */
  oneOf(draws: Draws): number {
    return draws.one(this.#sorted);
  }

  /** The first tokens that two masks do not agree about. */
  differences(mask: Uint32Array, expected: Uint32Array): string[] {
    const { bytes } = this.#vocabulary;
    const tokens = [...bytes.keys()]
      .filter((token) => hasToken(mask, token) !== hasToken(expected, token));
    return tokens.slice(0, 5).map((token) => {
      const piece = JSON.stringify(new TextDecoder().decode(bytes[token]));
      return `${token} ${piece} ${hasToken(mask, token) ? "must not come" : "may come"}`;
    });
  }

  /** Tries the tokens from `start` to `end`, which have `length` bytes in common that may come. */
  #try(matcher: Matcher, mask: Uint32Array, start: number, end: number, length: number): void {
    const { bytes } = this.#vocabulary;
    const sorted = this.#sorted;
    let at = start;
    for (; at < end && bytes[sorted[at]!]!.length === length; at++) {
      mask[sorted[at]! >>> 5]! |= 1 << (sorted[at]! & 31);
    }
    while (at < end) {
      const prefix = bytes[sorted[at]!]!.subarray(0, length + 1);
      const first = at;
      while (at < end && bytes[sorted[at]!]![length] === prefix[length]) at++;
      if (matcher.allows(prefix)) this.#try(matcher, mask, first, at, length + 1);
    }
  }
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    if (a[index] !== b[index]) return a[index]! - b[index]!;
  }
  return a.length - b.length;
}
