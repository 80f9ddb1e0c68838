// What the header of a model file says, as plain data for people and programs that show it. What the
// engine makes of it is inspect.ts.

import { type MetadataValue, readGguf } from "./gguf/mod.ts";

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

/** Reads the header of a GGUF file. Errors: GgufError. */
export async function readHeader(
  path: string,
  { longestArray = Infinity }: HeaderOptions = {},
): Promise<FileHeader> {
  const { metadata, tensors } = await readGguf(path);
  const values = Object.entries(metadata).map(([key, value]) => [key, plain(value, longestArray)]);
  const shapes = [...tensors.values()].map(({ name, typeName: type, shape }) => {
    return { name, type, shape: [...shape] };
  });
  return {
    metadata: Object.fromEntries(values),
    tensors: shapes,
    parameterCount: shapes.reduce(
      (sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1),
      0,
    ),
  };
}

function plain(value: MetadataValue, longestArray: number): HeaderValue {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object") return value;
  if (value.length > longestArray) return [];
  return Array.from(value as Iterable<MetadataValue>, (element) => plain(element, longestArray));
}
