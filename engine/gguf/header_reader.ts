// Reads the header of a GGUF file from front to back in one pass, through a window that moves over
// the file. Nothing is read twice, and the size of the header need not be known. Every length is
// compared with the remaining bytes of the file before memory is allocated for it.

import { GgufError } from "../errors.ts";
import type { ByteSource } from "./byte_source.ts";
import { NUMBER_ARRAYS, type NumberArray, type NumberTypeName } from "./value_types.ts";

const WINDOW_BYTES = 1 << 20;
// Longest string, far longer than any chat template. These limits bound the cost of a hostile file.
const MAX_STRING_BYTES = 1 << 24;
const MAX_COUNT = 1 << 24;
// Most values in arrays. A vocabulary of 262,144 tokens has 1.3 million, with its merges.
const MAX_VALUES = 1 << 22;
// Largest header. Those of published models have at most 30 MB.
const MAX_HEADER_BYTES = 1 << 26;

/** Items that are read between two pauses: less than a millisecond. */
export const STEP_ITEMS = 1 << 11;

/** Work that may pause where it yields, because a header can have millions of values. */
export type Steps<T> = Generator<void, T>;

/** Fewest bytes of a string: those of its length. */
export const MIN_STRING_BYTES = 8;

/** A cursor in the header of one file. Little-endian, like all machines that Deno runs on. */
export class HeaderReader {
  /** Name of what is being read, for errors. */
  field = "header";

  readonly #source: ByteSource;
  readonly #path: string;
  #window: Uint8Array<ArrayBuffer>;
  #view: DataView;
  /** Number of values in arrays so far. */
  #values = 0;
  /** Offset in the file of the window's first byte. */
  #windowOffset = 0;
  /** The unread part of the window is [#start, #end). */
  #start = 0;
  #end = 0;

  /** @param source the file @param path its path, for errors */
  constructor(source: ByteSource, path: string) {
    this.#source = source;
    this.#path = path;
    this.#window = new Uint8Array(Math.min(WINDOW_BYTES, source.size));
    this.#view = new DataView(this.#window.buffer);
  }

  /** Offset in the file of the next byte. */
  get position(): number {
    return this.#windowOffset + this.#start;
  }

  /** The error of an invalid current field. */
  error(state: string): GgufError {
    return new GgufError(this.#path, this.field, state);
  }

  uint32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  /** A 64-bit unsigned integer. @throws GgufError if it has more than 53 bits */
  uint64(): number {
    const at = this.#take(8);
    const value = this.#view.getUint32(at + 4, true) * 2 ** 32 + this.#view.getUint32(at, true);
    if (value > Number.MAX_SAFE_INTEGER) throw this.error(`${value} is out of range`);
    return value;
  }

  /** The number of items that follow. @param itemBytes fewest bytes of an item */
  count(itemBytes: number): number {
    const count = this.uint64();
    if (count > MAX_COUNT) throw this.error(`a count of ${count} is above ${MAX_COUNT}`);
    this.#require(count * itemBytes);
    return count;
  }

  /** The number of values of an array that follows. @param itemBytes fewest bytes of a value */
  arrayLength(itemBytes: number): number {
    const length = this.count(itemBytes);
    this.#values += length + 1;
    if (this.#values <= MAX_VALUES) return length;
    throw this.error(`the arrays of the header have more than ${MAX_VALUES} values`);
  }

  /** `length` bytes, which the next read overwrites. */
  bytes(length: number): Uint8Array {
    const start = this.#take(length);
    return this.#window.subarray(start, start + length);
  }

  /** `count` numbers of one type. */
  numbers(type: NumberTypeName, count: number): NumberArray {
    const ArrayType = NUMBER_ARRAYS[type];
    this.#require(count * ArrayType.BYTES_PER_ELEMENT);
    const numbers = new ArrayType(count);
    const target = new Uint8Array(numbers.buffer);
    for (let done = 0; done < target.length;) {
      const part = this.bytes(Math.min(target.length - done, this.#window.length));
      target.set(part, done);
      done += part.length;
    }
    return numbers;
  }

  /** A string, which is preceded by its length. */
  string(): string {
    return decodeText(this.bytes(this.#stringLength()));
  }

  /** `count` strings. It yields after some thousand of them. */
  *strings(count: number): Steps<string[]> {
    const batch = new StringBatch([]);
    for (let index = 0; index < count; index++) {
      const length = this.#stringLength();
      const start = this.#take(length);
      batch.add(this.#window, start, length);
      if (index % STEP_ITEMS === 0) yield;
    }
    batch.flush();
    return batch.strings;
  }

  #stringLength(): number {
    const length = this.uint64();
    if (length > MAX_STRING_BYTES) {
      throw this.error(`a string of ${length} bytes is above ${MAX_STRING_BYTES}`);
    }
    return length;
  }

  /** Consumes `length` bytes and returns their offset in the window. */
  #take(length: number): number {
    if (length > this.#end - this.#start) this.#refill(length);
    const start = this.#start;
    this.#start += length;
    return start;
  }

  #require(length: number): void {
    const { size } = this.#source;
    if (length > size - this.position) {
      throw this.error(`${length} bytes are needed at byte ${this.position}, the file has ${size}`);
    }
  }

  /** Moves the window to the first unread byte, and fills it with at least `length` bytes. */
  #refill(length: number): void {
    this.#require(length);
    if (this.position > MAX_HEADER_BYTES) {
      throw this.error(`the header is longer than ${MAX_HEADER_BYTES} bytes`);
    }
    const unread = this.#window.subarray(this.#start, this.#end);
    if (length > this.#window.length) {
      this.#window = new Uint8Array(length);
      this.#view = new DataView(this.#window.buffer);
    }
    this.#window.set(unread);
    this.#windowOffset += this.#start;
    this.#start = 0;
    this.#end = unread.length;
    while (this.#end < length) {
      const offset = this.#windowOffset + this.#end;
      const read = this.#source.read(offset, this.#window.subarray(this.#end));
      if (read === 0) throw this.error("the file ends before its size");
      this.#end += read;
    }
  }
}

// Decodes many short UTF-8 strings at once, because one call of the decoder per string would take
// longer than everything else about reading a vocabulary. Invalid bytes become U+FFFD, as in a
// string decoded alone. A drawback: in engines, long strings may share the memory of their batch,
// which then lives as long as they do.

const BATCH_BYTES = 1 << 18;
// A byte that is never part of a multi-byte sequence, so an invalid sequence does not affect the
// next string.
const SEPARATOR = "\0";

/** Collects the bytes of strings and appends the decoded strings to `strings`, in order. */
class StringBatch {
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
function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
