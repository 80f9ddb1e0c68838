// What a tokenization algorithm is to the tokenizer: text that holds no special token to ids, and
// a normal piece back to bytes. One implementation per file: bpe.ts, sentencepiece.ts, unigram.ts,
// wordpiece.ts.

/** Called often in the midst of long work; what it throws ends that. */
export type Poll = () => void;

/** Characters or joins between two polls, where each takes some nanoseconds: less than a millisecond. */
export const POLL_STEPS = 4096;

/** How a vocabulary splits text. Special tokens are cut out before and never reach it. */
export interface Algorithm {
  /** Appends the ids of `text`. `isFirst`: it begins the input or follows a special token. */
  encode(text: string, isFirst: boolean, ids: number[]): void;
  /** The bytes that a piece of kind "normal" stands for. */
  bytesOf(piece: string): Uint8Array;
  /** Whether the encoding of a text begins with a space that the text does not have. */
  readonly addsSpacePrefix: boolean;
  /** What the algorithm's vocabularies assume where the metadata is silent. */
  readonly defaults: {
    readonly addBos: boolean;
    readonly addEos?: boolean;
    readonly bosToken?: number | undefined;
    readonly eosToken?: number | undefined;
  };
  /** Texts begin with BOS even where the metadata says otherwise. */
  readonly requiresBos?: boolean;
  /** Ends every text, whatever the metadata says of EOS. */
  readonly separator?: number | undefined;
  /** What it had to guess, as a sentence. */
  readonly warning?: string;
}
