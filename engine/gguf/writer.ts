// Writes GGUF files, version 3, little-endian. Tensor data is streamed, so that only one piece of
// it is in memory at a time. The caller decides which keys and tensors a model needs.

import { fileSystem, type FsFile } from "../../host/mod.ts";
import type { RawValue } from "./gguf_file.ts";
import { type TensorType, tensorTypeByName } from "./tensor_types.ts";
import { NUMBER_ARRAYS, type NumberArray, type NumberTypeName, ValueType } from "./value_types.ts";

/** A single number with its type in the file, such as `{ uint32: 30 }`. */
export type TypedNumber = {
  [Name in NumberTypeName]: { readonly [Key in Name]: number | bigint };
}[NumberTypeName];

/** A metadata value to write. Arrays of numbers get the type of the typed array. */
export type WritableValue =
  | string
  | boolean
  | TypedNumber
  | RawValue
  | readonly string[]
  | readonly boolean[]
  | NumberArray;

/** Metadata to write, in order. The alignment is `general.alignment`, or else 32. */
export type WritableMetadata = Readonly<Record<string, WritableValue>>;

/** A tensor to write. */
export interface WritableTensor {
  /** Name, unique in the file. */
  readonly name: string;
  /** Shape in GGML order: shape[0] is the length of a row. */
  readonly shape: readonly number[];
  /** GGML name of the type, such as "Q8_0". */
  readonly type: string;
  /** The bytes in pieces of any size. Called when this tensor is written. */
  data(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

const VERSION = 3;
const DEFAULT_ALIGNMENT = 32;

/**
 * Writes a GGUF file, and overwrites an existing one.
 * @throws RangeError if a type is unknown, rows are not whole blocks of it, or the number of a
 *   tensor's bytes does not match its shape; then the file is incomplete
 */
export async function writeGguf(
  path: string | URL,
  metadata: WritableMetadata,
  tensors: readonly WritableTensor[],
): Promise<void> {
  const alignment = alignmentOf(metadata);
  using file = await fileSystem().create(path);
  writeAll(file, headerBytes(metadata, tensors, alignment));
  for (const tensor of tensors) {
    let written = 0;
    for await (const piece of tensor.data()) {
      writeAll(file, piece);
      written += piece.length;
    }
    const expected = tensorBytes(tensor);
    if (written !== expected) {
      throw new RangeError(
        `Cannot write tensor "${tensor.name}": it has ${written} bytes, its shape ${expected}`,
      );
    }
    writeAll(file, new Uint8Array(paddingBytes(written, alignment)));
  }
}

function headerBytes(
  metadata: WritableMetadata,
  tensors: readonly WritableTensor[],
  alignment: number,
): Uint8Array {
  const pairs = Object.entries(metadata);
  const header = new ByteBuilder().append(new TextEncoder().encode("GGUF"));
  header.uint32(VERSION).uint64(tensors.length).uint64(pairs.length);
  for (const [key, value] of pairs) appendValue(header.string(key), value);
  let offset = 0;
  for (const tensor of tensors) {
    header.string(tensor.name).uint32(tensor.shape.length);
    for (const length of tensor.shape) header.uint64(length);
    header.uint32(typeOf(tensor).id).uint64(offset);
    const byteLength = tensorBytes(tensor);
    offset += byteLength + paddingBytes(byteLength, alignment);
  }
  return header.align(alignment).bytes;
}

function appendValue(header: ByteBuilder, value: WritableValue): void {
  if (typeof value === "string") {
    header.uint32(ValueType.string).string(value);
  } else if (typeof value === "boolean") {
    header.uint32(ValueType.bool).number("uint8", Number(value));
  } else if (ArrayBuffer.isView(value)) {
    header.uint32(ValueType.array).uint32(ValueType[numberTypeOf(value)]);
    header.uint64(value.length).numbers(value);
  } else if (Array.isArray(value)) {
    appendArray(header, value);
  } else if ("raw" in value) {
    header.append(value.raw);
  } else {
    const [[type, number]] = Object.entries(value) as [NumberTypeName, number | bigint][];
    header.uint32(ValueType[type]).number(type, number);
  }
}

function appendArray(header: ByteBuilder, values: readonly (string | boolean)[]): void {
  const type = typeof values[0] === "boolean" ? ValueType.bool : ValueType.string;
  header.uint32(ValueType.array).uint32(type).uint64(values.length);
  for (const value of values) {
    if (typeof value === "boolean") header.number("uint8", Number(value));
    else header.string(value);
  }
}

function numberTypeOf(values: NumberArray): NumberTypeName {
  const names = Object.keys(NUMBER_ARRAYS) as NumberTypeName[];
  return names.find((name) => values instanceof NUMBER_ARRAYS[name])!;
}

function alignmentOf(metadata: WritableMetadata): number {
  const value = metadata["general.alignment"];
  if (value === undefined) return DEFAULT_ALIGNMENT;
  if (typeof value === "object" && "uint32" in value) return Number(value.uint32);
  throw new RangeError("Cannot write GGUF: general.alignment is not a uint32");
}

function typeOf({ name, type, shape }: WritableTensor): TensorType {
  const found = tensorTypeByName(type);
  if (found === undefined) {
    throw new RangeError(`Cannot write tensor "${name}": unknown type ${type}`);
  }
  const rowLength = shape[0] ?? 1;
  if (rowLength % found.blockSize !== 0) {
    throw new RangeError(
      `Cannot write tensor "${name}": a row of ${rowLength} is not whole blocks of ${type}`,
    );
  }
  return found;
}

function tensorBytes(tensor: WritableTensor): number {
  const { blockSize, blockBytes } = typeOf(tensor);
  const values = tensor.shape.reduce((product, length) => product * length, 1);
  return values / blockSize * blockBytes;
}

function writeAll(file: FsFile, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    written += file.writeSync(bytes.subarray(written));
  }
}

// Builds the bytes of a GGUF header in memory, value by value, little-endian. It checks nothing, so
// that tests can build defective headers.

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
function paddingBytes(length: number, alignment: number): number {
  return Math.ceil(length / alignment) * alignment - length;
}

function toNumberArray(type: NumberTypeName, value: number | bigint): NumberArray {
  if (type === "uint64" || type === "int64") return NUMBER_ARRAYS[type].of(BigInt(value));
  return NUMBER_ARRAYS[type].of(Number(value));
}
