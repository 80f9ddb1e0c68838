// Reads the header of a GGUF file front to back in one pass, through a window that slides over the
// file: nothing is read twice, and the size of the header need not be known. Every length is held
// against the bytes that are left in the file before anything is allocated for it.

import { GgufError } from "../errors.ts";
import type { ByteSource } from "./byte_source.ts";
import { decodeText, StringBatch } from "./string_batch.ts";
import { NUMBER_ARRAYS, type NumberArray, type NumberTypeName } from "./value_types.ts";

const WINDOW_BYTES = 1 << 20;
// Far above any chat template or vocabulary: they bound what a hostile file of many gigabytes gets.
const MAX_STRING_BYTES = 1 << 24;
const MAX_COUNT = 1 << 24;
// A vocabulary of 262,144 tokens has 1.3 million values with its merges.
const MAX_VALUES = 1 << 22;
// The largest header of a published model has 30 MB; this bounds the time that a hostile one takes.
const MAX_HEADER_BYTES = 1 << 26;

/** Items that are read between two pauses: less than a millisecond. */
export const STEP_ITEMS = 1 << 11;

/** Reading that may pause where it yields: a header can have millions of values. */
export type Steps<T> = Generator<void, T>;

/** The fewest bytes that a string takes: those of its length. */
export const MIN_STRING_BYTES = 8;

/** A cursor over the header of one file. Little-endian, as the machines are that Deno runs on. */
export class HeaderReader {
  /** What is being read, as errors name it. */
  field = "header";

  readonly #source: ByteSource;
  readonly #path: string;
  #window: Uint8Array<ArrayBuffer>;
  #view: DataView;
  /** Values of arrays that were announced so far. */
  #values = 0;
  /** Offset in the file of the window's first byte. */
  #windowOffset = 0;
  /** The unread part of the window is [#start, #end). */
  #start = 0;
  #end = 0;

  /** @param source a file @param path for error messages */
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

  /** The error that the current field is not as it should be. */
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

  /** The number of items that follow. @param itemBytes the fewest bytes that an item can have */
  count(itemBytes: number): number {
    const count = this.uint64();
    if (count > MAX_COUNT) throw this.error(`a count of ${count} is above ${MAX_COUNT}`);
    this.#require(count * itemBytes);
    return count;
  }

  /** The number of values of an array that follows. @param itemBytes the fewest that one can have */
  arrayLength(itemBytes: number): number {
    const length = this.count(itemBytes);
    this.#values += length + 1;
    if (this.#values <= MAX_VALUES) return length;
    throw this.error(`the arrays of the header have more than ${MAX_VALUES} values`);
  }

  /** `length` bytes; they are overwritten by the next read. */
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

  /** A string with its length before it. */
  string(): string {
    return decodeText(this.bytes(this.#stringLength()));
  }

  /** `count` strings; a step is some thousand of them. */
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

  /** Consumes `length` bytes and returns where in the window they are. */
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

  /** Slides the window to the first unread byte and fills it with at least `length` bytes. */
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
