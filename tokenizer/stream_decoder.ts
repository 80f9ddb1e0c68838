// Text from tokens one at a time. A character may be spread over several tokens: what is not yet a
// whole UTF-8 sequence is held back until the rest comes, or is U+FFFD at the end.

/** Turns a stream of tokens into a stream of text. */
export interface StreamDecoder {
  /** The text that `token` completes; may be empty. Throws TokenizerError on an id out of range. */
  push(token: number): string;
  /** What was held back, as U+FFFD; afterwards the decoder can be used anew. */
  flush(): string;
}

/** Decodes the bytes that `bytesOf` has for a token, as UTF-8. */
export class Utf8StreamDecoder implements StreamDecoder {
  readonly #bytesOf: (token: number) => Uint8Array;
  // U+FEFF is text like any other here, not a mark of the encoding.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #dropsFirstSpace: boolean;
  #isAtStart = true;

  /** @param dropsFirstSpace whether a space that begins the text was put there by the encoder */
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
