// The header of a model file as plain data, for people and programs that show it. inspect.ts tells
// what the engine understands of it.

import { inSlices } from "../async.ts";
import { type MetadataValue, readGguf } from "../gguf/mod.ts";

/** A value of a header. Numbers beyond 2^53 are rounded. */
export type HeaderValue = string | number | boolean | HeaderValue[];

/** The header of a model file. For a split model, of all its files together. */
export interface FileHeader {
  /** The keys, in the order of the file. */
  metadata: Record<string, HeaderValue>;
  /** The tensors, in the order of the file. Shapes begin with the length of a row. */
  tensors: { name: string; type: string; shape: number[] }[];
  /** Number of weights. */
  parameterCount: number;
}

/** Options of readHeader(). */
export interface HeaderOptions {
  /**
   * Most elements of an array. Longer ones, such as vocabularies, are replaced by empty ones.
   * Default: unlimited.
   */
  longestArray?: number;
}

/** Values that are copied between two pauses of the thread. */
const STEP_VALUES = 4096;

/** Reads the header of a GGUF file. Errors: GgufError. */
export async function readHeader(
  path: string,
  { longestArray = Infinity }: HeaderOptions = {},
): Promise<FileHeader> {
  const { metadata, tensors } = await readGguf(path);
  const values = await inSlices(plainValues(metadata, longestArray));
  const shapes = [...tensors.values()].map(({ name, typeName: type, shape }) => {
    return { name, type, shape: [...shape] };
  });
  return {
    metadata: values,
    tensors: shapes,
    parameterCount: shapes.reduce(
      (sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1),
      0,
    ),
  };
}

/**
 * Copies values, and yields now and then, because vocabularies have hundreds of thousands of
 * elements.
 */
function* plainValues(
  metadata: Readonly<Record<string, MetadataValue>>,
  longestArray: number,
): Generator<void, Record<string, HeaderValue>> {
  const values: Record<string, HeaderValue> = {};
  for (const [key, value] of Object.entries(metadata)) {
    // defineProperty, because a key of the file may be named "__proto__".
    const copy = yield* plain(value, longestArray);
    Object.defineProperty(values, key, { value: copy, enumerable: true });
  }
  return values;
}

function* plain(value: MetadataValue, longestArray: number): Generator<void, HeaderValue> {
  if (typeof value !== "object") return asNumber(value);
  if (value.length > longestArray) return [];
  const copy: HeaderValue[] = [];
  for (const element of value as Iterable<MetadataValue>) {
    copy.push(
      typeof element === "object" ? yield* plain(element, longestArray) : asNumber(element),
    );
    if (copy.length % STEP_VALUES === 0) yield;
  }
  return copy;
}

function asNumber(value: string | number | boolean | bigint): string | number | boolean {
  return typeof value === "bigint" ? Number(value) : value;
}
