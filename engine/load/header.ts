// What the header of a model file says, as plain data for people and programs that show it. What the
// engine makes of it is inspect.ts.

import { inSlices } from "../async.ts";
import { type MetadataValue, readGguf } from "../gguf/mod.ts";

/** A value of a header; numbers beyond 2^53 are rounded. */
export type HeaderValue = string | number | boolean | HeaderValue[];

/** The header of a model file, of a split model that of all its files. */
export interface FileHeader {
  /** In the order of the file. */
  metadata: Record<string, HeaderValue>;
  /** In the order of the file; the length of a row comes first in a shape. */
  tensors: { name: string; type: string; shape: number[] }[];
  /** Number of weights. */
  parameterCount: number;
}

/** How much of a header is read. */
export interface HeaderOptions {
  /** Arrays with more elements, such as vocabularies, come empty. Default: none does. */
  longestArray?: number;
}

/** Values that are copied between two pauses. */
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

/** Copies values, and yields now and then: vocabularies have hundreds of thousands. */
function* plainValues(
  metadata: Readonly<Record<string, MetadataValue>>,
  longestArray: number,
): Generator<void, Record<string, HeaderValue>> {
  const values: Record<string, HeaderValue> = {};
  for (const [key, value] of Object.entries(metadata)) {
    // A key of the file may be named "__proto__".
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
