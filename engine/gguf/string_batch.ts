// Decodes many short UTF-8 strings at once, because one call of the decoder per string would take
// longer than everything else about reading a vocabulary. Invalid bytes become U+FFFD, as in a
// string decoded alone. A drawback: in engines, long strings may share the memory of their batch,
// which then lives as long as they do.

const BATCH_BYTES = 1 << 18;
// A byte that is never part of a multi-byte sequence, so an invalid sequence does not affect the
// next string.
const SEPARATOR = "\0";

/** Collects the bytes of strings and appends the decoded strings to `strings`, in order. */
export class StringBatch {
  readonly #bytes = new Uint8Array(BATCH_BYTES);
  /** The end of each string in `#bytes`; its separator follows. */
  readonly #ends: number[] = [];
  #used = 0;

  constructor(readonly strings: string[]) {}

  /** Adds the string in bytes [start, start + length) of `source`. */
  add(source: Uint8Array, start: number, length: number): void {
    if (this.#used + length >= BATCH_BYTES) this.flush();
    if (length >= BATCH_BYTES) {
      this.strings.push(decodeText(source.subarray(start, start + length)));
      return;
    }
    let used = this.#used;
    for (let index = start; index < start + length; index++) this.#bytes[used++] = source[index];
    this.#ends.push(used);
    this.#bytes[used++] = 0;
    this.#used = used;
  }

  /** Decodes the rest; to be called after the last `add`. */
  flush(): void {
    const texts = decodeText(this.#bytes.subarray(0, this.#used)).split(SEPARATOR);
    texts.pop();
    if (texts.length === this.#ends.length) {
      for (const text of texts) this.strings.push(text);
    } else {
      this.#decodeOneByOne();
    }
    this.#ends.length = 0;
    this.#used = 0;
  }

  /** For a batch in which a string contains the separator. */
  #decodeOneByOne(): void {
    let start = 0;
    for (const end of this.#ends) {
      this.strings.push(decodeText(this.#bytes.subarray(start, end)));
      start = end + 1;
    }
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Decodes UTF-8; invalid bytes become U+FFFD, a byte order mark stays. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
