// Builds the bytes of a GGUF header in memory, value by value, little-endian. It checks nothing, so
// that tests can build defective headers.

import { NUMBER_ARRAYS, type NumberArray, type NumberTypeName } from "./value_types.ts";

const encoder = new TextEncoder();

/** A growing buffer of bytes. Every method returns the builder itself. */
export class ByteBuilder {
  #bytes = new Uint8Array(1 << 16);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The bytes so far, as a view. The next append may move them. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  append(bytes: Uint8Array): this {
    const end = this.#length + bytes.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, this.#bytes.length * 2));
      grown.set(this.bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = end;
    return this;
  }

  number(type: NumberTypeName, value: number | bigint): this {
    return this.numbers(toNumberArray(type, value));
  }

  uint32(value: number): this {
    return this.number("uint32", value);
  }

  uint64(value: number | bigint): this {
    return this.number("uint64", value);
  }

  /** The numbers themselves, without a type or a count. */
  numbers(values: NumberArray): this {
    return this.append(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }

  /** The length of the text in bytes, then the text. */
  string(text: string): this {
    const bytes = encoder.encode(text);
    return this.uint64(bytes.length).append(bytes);
  }

  /** Zeros up to the next multiple of `alignment`. */
  align(alignment: number): this {
    return this.append(new Uint8Array(paddingBytes(this.#length, alignment)));
  }
}

/** The number of bytes from `length` to the next multiple of `alignment`. */
export function paddingBytes(length: number, alignment: number): number {
  return Math.ceil(length / alignment) * alignment - length;
}

function toNumberArray(type: NumberTypeName, value: number | bigint): NumberArray {
  if (type === "uint64" || type === "int64") return NUMBER_ARRAYS[type].of(BigInt(value));
  return NUMBER_ARRAYS[type].of(Number(value));
}
