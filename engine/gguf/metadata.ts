// Reads the key-value part of a GGUF header. The meaning of keys is not known here.

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
