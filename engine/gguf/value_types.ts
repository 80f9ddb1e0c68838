// The value types of GGUF metadata: their ids, and their types in JavaScript. Ids are those of
// `gguf_metadata_value_type` in the GGUF specification.

/** Ids of the value types. */
export const ValueType = {
  uint8: 0,
  int8: 1,
  uint16: 2,
  int16: 3,
  uint32: 4,
  int32: 5,
  float32: 6,
  bool: 7,
  string: 8,
  array: 9,
  uint64: 10,
  int64: 11,
  float64: 12,
} as const;

export type NumberTypeName =
  | "uint8"
  | "int8"
  | "uint16"
  | "int16"
  | "uint32"
  | "int32"
  | "float32"
  | "uint64"
  | "int64"
  | "float64";

/** The typed array for each number type. */
export const NUMBER_ARRAYS = {
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  float32: Float32Array,
  uint64: BigUint64Array,
  int64: BigInt64Array,
  float64: Float64Array,
} as const;

/** An array of numbers in metadata. */
export type NumberArray =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | BigUint64Array
  | BigInt64Array
  | Float64Array;

/** A metadata value. A single 64-bit integer is a bigint only if a number would not be exact. */
export type MetadataValue =
  | string
  | number
  | bigint
  | boolean
  | NumberArray
  | MetadataValue[];

const NAMES = new Map(Object.entries(ValueType).map(([name, id]) => [id as number, name]));

/** Name of the value type `id`, or undefined if there is none. */
export function valueTypeName(id: number): keyof typeof ValueType | undefined {
  return NAMES.get(id) as keyof typeof ValueType | undefined;
}
