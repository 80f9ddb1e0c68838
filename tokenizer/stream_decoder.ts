// Text from tokens, one at a time. A character may be spread over several tokens, so an incomplete
// UTF-8 sequence is held back until it is complete, or becomes U+FFFD at the end.

/** Turns a stream of tokens into a stream of text. */
export interface StreamDecoder {
  /**
   * The text that `token` completes; may be empty. Errors: TokenizerError for an id out of range.
   */
  push(token: number): string;
  /** The text that was held back, as U+FFFD. Afterwards the decoder can be used again. */
  flush(): string;
}

/** Decodes the bytes of each token as UTF-8. */
export class Utf8StreamDecoder implements StreamDecoder {
  readonly #bytesOf: (token: number) => Uint8Array;
  // U+FEFF is ordinary text here, not a mark of the encoding.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #dropsFirstSpace: boolean;
  #isAtStart = true;

  /**
   * @param bytesOf the bytes of a token
   * @param dropsFirstSpace whether to remove a space at the beginning, which the encoder added
   */
  constructor(bytesOf: (token: number) => Uint8Array, dropsFirstSpace: boolean) {
    this.#bytesOf = bytesOf;
    this.#dropsFirstSpace = dropsFirstSpace;
  }

  push(token: number): string {
    const text = this.#decoder.decode(this.#bytesOf(token), { stream: true });
    if (text === "" || !this.#isAtStart) return text;
    this.#isAtStart = false;
    return this.#dropsFirstSpace && text.startsWith(" ") ? text.slice(1) : text;
  }

  flush(): string {
    this.#isAtStart = true;
    return this.#decoder.decode();
  }
}
