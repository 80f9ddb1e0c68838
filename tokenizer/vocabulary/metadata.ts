// Typed access to the key-value pairs of a GGUF header that describe a vocabulary. It reads plain
// values, not files. Format: ggml's GGUF specification, section "Tokenizer".

import { TokenizerError } from "../errors.ts";

/**
 * A value of a GGUF header as readers return it: 64-bit integers may be bigint, arrays may be
 * typed.
 */
export type MetadataValue =
  | string
  | number
  | bigint
  | boolean
  | readonly MetadataValue[]
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

/** The key-value pairs of a GGUF header. */
export type Metadata = Readonly<Record<string, MetadataValue>>;

function mismatch(key: string, expected: string): TokenizerError {
  return new TokenizerError(`Cannot read the vocabulary: "${key}" is not ${expected}`);
}

/** The string at `key`, or undefined if there is none. Errors: TokenizerError for another type. */
export function readString(metadata: Metadata, key: string): string | undefined {
  const value = metadata[key];
  if (value === undefined || typeof value === "string") return value;
  throw mismatch(key, "a string");
}

/** The boolean at `key`, or undefined if there is none. Errors: TokenizerError for another type. */
export function readBoolean(metadata: Metadata, key: string): boolean | undefined {
  const value = metadata[key];
  if (value === undefined || typeof value === "boolean") return value;
  throw mismatch(key, "a boolean");
}

/** The integer at `key`, or undefined if there is none. Errors: TokenizerError for another type. */
export function readInteger(metadata: Metadata, key: string): number | undefined {
  const value = metadata[key];
  if (value === undefined) return undefined;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number" && Number.isInteger(value)) return value;
  throw mismatch(key, "an integer");
}

/**
 * The array of strings at `key`. The elements are not checked. Errors: TokenizerError for another
 * type.
 */
export function readStrings(metadata: Metadata, key: string): readonly string[] | undefined {
  const value = metadata[key];
  if (value === undefined) return undefined;
  if (Array.isArray(value) && (value.length === 0 || typeof value[0] === "string")) return value;
  throw mismatch(key, "an array of strings");
}

/**
 * The array of numbers at `key`. The elements are not checked. Errors: TokenizerError for another
 * type.
 */
export function readNumbers(metadata: Metadata, key: string): ArrayLike<number> | undefined {
  const value = metadata[key];
  if (value === undefined) return undefined;
  if (Array.isArray(value) && (value.length === 0 || typeof value[0] === "number")) return value;
  const isTyped = ArrayBuffer.isView(value);
  if (isTyped && !(value instanceof BigInt64Array) && !(value instanceof BigUint64Array)) {
    return value;
  }
  throw mismatch(key, "an array of numbers");
}

/** The array of bytes at `key`, signed or not. Errors: TokenizerError for another type. */
export function readBytes(metadata: Metadata, key: string): Uint8Array | undefined {
  const value = metadata[key];
  if (value === undefined) return undefined;
  if (value instanceof Uint8Array || value instanceof Int8Array) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (Array.isArray(value) && value.length === 0) return new Uint8Array(0);
  throw mismatch(key, "an array of bytes");
}
