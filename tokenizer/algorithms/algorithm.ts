// The interface of tokenization algorithms: from text without special tokens to ids, and from a
// normal piece back to bytes. Implementations: bpe/bpe.ts, sentencepiece.ts, unigram.ts,
// wordpiece.ts.

/** Called often during long work. An error from it ends the work. */
export type Poll = () => void;

/**
 * Characters or joins between two polls. Each takes some nanoseconds, so this is less than a
 * millisecond.
 */
export const POLL_STEPS = 4096;

/** The algorithm of a vocabulary. Special tokens never reach it. */
export interface Algorithm {
  /**
   * Appends the ids of `text`. `isFirst`: whether it begins the input or follows a special token.
   */
  encode(text: string, isFirst: boolean, ids: number[]): void;
  /** The bytes that a piece of kind "normal" stands for. */
  bytesOf(piece: string): Uint8Array;
  /** Whether encoding a text adds a space at its beginning. */
  readonly addsSpacePrefix: boolean;
  /** The defaults for keys that the metadata lacks. */
  readonly defaults: {
    readonly addBos: boolean;
    readonly addEos?: boolean;
    readonly bosToken?: number | undefined;
    readonly eosToken?: number | undefined;
  };
  /** Whether texts begin with BOS even if the metadata says otherwise. */
  readonly requiresBos?: boolean;
  /** The token that ends every text, whatever the metadata says about EOS. */
  readonly separator?: number | undefined;
  /** The guess, as a sentence. */
  readonly warning?: string;
}
