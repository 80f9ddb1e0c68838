// Typed access to the metadata of a GGUF file. A key that is missing or has another type is an
// error with the key's name.

import { GgufError } from "../errors.ts";
import type { MetadataValue } from "./value_types.ts";

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
