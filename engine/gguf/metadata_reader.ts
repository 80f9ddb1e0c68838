// Reads the key-value part of a GGUF header. The meaning of keys is not known here.

import { GgufError } from "../errors.ts";
import { type HeaderReader, MIN_STRING_BYTES, STEP_ITEMS, type Steps } from "./header_reader.ts";
import {
  type MetadataValue,
  NUMBER_ARRAYS,
  type NumberTypeName,
  ValueType,
  valueTypeName,
} from "./value_types.ts";

// Deepest nesting of arrays. Files of llama.cpp have no nested arrays at all.
const MAX_ARRAY_DEPTH = 4;
const ARRAY_HEADER_BYTES = 12;

/** Most keys, far more than any file has, to bound the cost of a hostile file. */
const MAX_KEYS = 1 << 14;

/**
 * Reads `count` keys and their values.
 * @throws GgufError naming the invalid key
 */
export function* readMetadata(
  header: HeaderReader,
  count: number,
): Steps<Record<string, MetadataValue>> {
  if (count > MAX_KEYS) throw header.error(`a count of ${count} is above ${MAX_KEYS}`);
  // Without a prototype, so that "__proto__" is a key like any other.
  const metadata: Record<string, MetadataValue> = Object.create(null);
  for (let index = 0; index < count; index++) {
    header.field = `metadata key ${index}`;
    const key = header.string();
    header.field = key;
    if (key in metadata) throw header.error("the key occurs twice");
    metadata[key] = yield* readValue(header, header.uint32());
    if (index % STEP_ITEMS === 0) yield;
  }
  return metadata;
}

function* readValue(header: HeaderReader, typeId: number): Steps<MetadataValue> {
  const type = valueTypeName(typeId);
  switch (type) {
    case undefined:
      throw header.error(`unknown value type ${typeId}`);
    case "string":
      return header.string();
    case "bool":
      return readBoolean(header);
    case "array":
      return yield* readArray(header, 1);
    default: {
      const value = header.numbers(type, 1)[0];
      const isExact = typeof value === "bigint" && Number.isSafeInteger(Number(value));
      return isExact ? Number(value) : value;
    }
  }
}

function* readArray(header: HeaderReader, depth: number): Steps<MetadataValue> {
  if (depth > MAX_ARRAY_DEPTH) throw header.error(`arrays nested over ${MAX_ARRAY_DEPTH} deep`);
  const typeId = header.uint32();
  const type = valueTypeName(typeId);
  if (type === undefined) throw header.error(`unknown value type ${typeId} of array elements`);
  const count = header.arrayLength(minimumBytes(type));
  switch (type) {
    case "string":
      return yield* header.strings(count);
    case "bool": {
      const values: boolean[] = [];
      while (values.length < count) {
        values.push(readBoolean(header));
        if (values.length % STEP_ITEMS === 0) yield;
      }
      return values;
    }
    case "array": {
      const arrays: MetadataValue[] = [];
      while (arrays.length < count) {
        arrays.push(yield* readArray(header, depth + 1));
        if (arrays.length % STEP_ITEMS === 0) yield;
      }
      return arrays;
    }
    default:
      return header.numbers(type, count);
  }
}

function readBoolean(header: HeaderReader): boolean {
  const byte = header.bytes(1)[0];
  if (byte > 1) throw header.error(`${byte} is not a boolean`);
  return byte === 1;
}

function minimumBytes(type: keyof typeof ValueType): number {
  switch (type) {
    case "string":
      return MIN_STRING_BYTES;
    case "bool":
      return 1;
    case "array":
      return ARRAY_HEADER_BYTES;
    default:
      return NUMBER_ARRAYS[type satisfies NumberTypeName].BYTES_PER_ELEMENT;
  }
}

/**
 * Typed access to the metadata of a GGUF file. A key that is missing or has another type is an
 * error with the key's name.
 */
export interface MetadataSource {
  /** Path of the file, for errors. */
  readonly path: string;
  readonly metadata: Readonly<Record<string, MetadataValue>>;
}

/** Converts a value to T; undefined if it is not possible. */
type Conversion<T> = (value: MetadataValue) => T | undefined;

/**
 * Getters by type. All throw GgufError for a value of another type; those without a fallback also
 * for a missing key.
 */
export class MetadataReader {
  readonly #file: MetadataSource;

  /** @param file the header of a file */
  constructor(file: MetadataSource) {
    this.#file = file;
  }

  /** Whether the key exists, with any type. */
  has(key: string): boolean {
    return this.#file.metadata[key] !== undefined;
  }

  /** Whether the key exists and is a list of values. */
  isList(key: string): boolean {
    return typeof this.#file.metadata[key] === "object";
  }

  number(key: string): number {
    return this.#require(key, "a number", toNumber);
  }

  /** A number, or `fallback` if the key is missing. */
  optionalNumber<T>(key: string, fallback: T): number | T {
    return this.#get(key, "a number", toNumber) ?? fallback;
  }

  /** A whole number, zero or more: what sizes and counts have to be. */
  count(key: string): number {
    return this.#require(key, "a whole number", toCount);
  }

  /** A whole number, zero or more, or `fallback` if the key is missing. */
  optionalCount<T>(key: string, fallback: T): number | T {
    return this.#get(key, "a whole number", toCount) ?? fallback;
  }

  string(key: string): string {
    return this.#require(key, "a string", toString);
  }

  /** A string, or `fallback` if the key is missing. */
  optionalString<T>(key: string, fallback: T): string | T {
    return this.#get(key, "a string", toString) ?? fallback;
  }

  boolean(key: string): boolean {
    return this.#require(key, "a boolean", toBoolean);
  }

  /** A boolean, or `fallback` if the key is missing. */
  optionalBoolean<T>(key: string, fallback: T): boolean | T {
    return this.#get(key, "a boolean", toBoolean) ?? fallback;
  }

  /** An array of strings. */
  strings(key: string): readonly string[] {
    return this.#require(key, "an array of strings", toStrings);
  }

  /** An array of strings, or `fallback` if the key is missing. */
  optionalStrings<T>(key: string, fallback: T): readonly string[] | T {
    return this.#get(key, "an array of strings", toStrings) ?? fallback;
  }

  /** An array of numbers. 64-bit integers that are too large for a number are rounded. */
  numbers(key: string): readonly number[] {
    return this.#require(key, "an array of numbers", toNumbers);
  }

  /** An array of numbers, or `fallback` if the key is missing. */
  optionalNumbers<T>(key: string, fallback: T): readonly number[] | T {
    return this.#get(key, "an array of numbers", toNumbers) ?? fallback;
  }

  /**
   * A number or boolean (as 0 or 1) for each layer: from an array, or the same for all, or
   * `fallback`.
   */
  perLayer(key: string, layers: number, fallback: number): readonly number[] {
    const value = this.#get(key, "a number, a boolean or an array of them", toNumberList);
    if (value === undefined) return new Array(layers).fill(fallback);
    if (value.length === 1) return new Array(layers).fill(value[0]);
    if (value.length >= layers) return value;
    throw new GgufError(this.#file.path, key, `it has ${value.length} values for ${layers} layers`);
  }

  #require<T>(key: string, kind: string, convert: Conversion<T>): T {
    const value = this.#get(key, kind, convert);
    if (value === undefined) throw new GgufError(this.#file.path, key, "the key is missing");
    return value;
  }

  #get<T>(key: string, kind: string, convert: Conversion<T>): T | undefined {
    const value = this.#file.metadata[key];
    if (value === undefined) return undefined;
    const converted = convert(value);
    if (converted !== undefined) return converted;
    throw new GgufError(this.#file.path, key, `${describe(value)} is not ${kind}`);
  }
}

function toNumber(value: MetadataValue): number | undefined {
  return typeof value === "number" && !Number.isNaN(value) ? value : undefined;
}

function toCount(value: MetadataValue): number | undefined {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
}

function toString(value: MetadataValue): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function toBoolean(value: MetadataValue): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

function toStrings(value: MetadataValue): readonly string[] | undefined {
  const isStrings = Array.isArray(value) && value.every((item) => typeof item === "string");
  return isStrings ? value : undefined;
}

function toNumbers(value: MetadataValue): readonly number[] | undefined {
  return typeof value === "object" && !Array.isArray(value) ? Array.from(value, Number) : undefined;
}

function toNumberList(value: MetadataValue): readonly number[] | undefined {
  const isScalar = (item: MetadataValue) => typeof item === "number" || typeof item === "boolean";
  if (isScalar(value)) return [Number(value)];
  return Array.isArray(value) && value.every(isScalar) ? value.map(Number) : toNumbers(value);
}

function describe(value: MetadataValue): string {
  return typeof value === "object"
    ? "an array"
    : `${typeof value} ${JSON.stringify(String(value))}`;
}
