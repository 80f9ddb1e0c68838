// Arrays of f32 and i64 as one file, which is made while it is sent, from memory or a spool: .npz, as numpy.load() reads it (a
// zip of .npy: numpy.lib.format, and APPNOTE.TXT of PKWARE, entries stored), and .safetensors
// (huggingface.co/docs/safetensors, an unsigned 64-bit length, JSON, and the bytes).

import { crc32 } from "../../../../engine/mod.ts";

/** An array by its name. */
export interface NamedArray {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: "F32" | "I64";
  /** Bytes of its values. */
  readonly size: number;
  /** Its values, little-endian, piece by piece; from the beginning at each call. */
  bytes(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** An array in memory. Integers become 64-bit ones. */
export function arrayOf(
  name: string,
  shape: readonly number[],
  values: Float32Array | readonly number[],
): NamedArray {
  const isFloat = values instanceof Float32Array;
  const bytes = isFloat
    ? new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
    : new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
  const dtype = isFloat ? "F32" : "I64";
  return { name, shape, dtype, size: bytes.length, bytes: () => [bytes] };
}

/** A format of files. */
export interface ArrayFile {
  readonly contentType: string;
  /** The parts of a file, in order. */
  parts(arrays: readonly NamedArray[]): AsyncIterable<Uint8Array>;
}

/** The formats by name. */
export const ARRAY_FILES: Readonly<Record<"npz" | "safetensors", ArrayFile>> = {
  npz: { contentType: "application/zip", parts: npz },
  safetensors: { contentType: "application/octet-stream", parts: safetensors },
};

const utf8 = new TextEncoder();

async function* safetensors(arrays: readonly NamedArray[]): AsyncGenerator<Uint8Array> {
  let end = 0;
  const entries = arrays.map(({ name, dtype, shape, size }) => {
    const begin = end;
    end += size;
    return [name, { dtype, shape, data_offsets: [begin, end] }];
  });
  const text = JSON.stringify(Object.fromEntries(entries));
  const header = utf8.encode(text.padEnd(Math.ceil(text.length / 8) * 8)); // Readers map the values.
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(header.length), true);
  yield length;
  yield header;
  for (const array of arrays) yield* array.bytes();
}

/** The header of a .npy of version 1.0: its end is at a multiple of 64. */
function npyHeader({ shape, dtype }: NamedArray): Uint8Array {
  const kind = dtype === "F32" ? "<f4" : "<i8";
  const sizes = shape.map((size) => `${size},`).join(" ");
  const text = `{'descr': '${kind}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const length = Math.ceil((10 + text.length + 1) / 64) * 64 - 10;
  const header = utf8.encode(`\x00NUMPY\x01\x00..${text.padEnd(length - 1)}\n`);
  header[0] = 0x93;
  new DataView(header.buffer).setUint16(8, length, true);
  return header;
}

/** Sizes and offsets beyond 32 bits need zip's longer records, which readers have since 2001. */
const ZIP64 = 0xffffffff;

async function* npz(arrays: readonly NamedArray[]): AsyncGenerator<Uint8Array> {
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const array of arrays) {
    const name = utf8.encode(`${array.name}.npy`);
    const header = npyHeader(array);
    const size = header.length + array.size;
    // The sum stands before the values, which are read twice.
    let crc = crc32(header);
    for await (const bytes of array.bytes()) crc = crc32(bytes, crc);
    const local = record(0x04034b50, [["2", 45], ["2", 0x800], ["2", 0], ["2", 0], ["2", 0x21]], {
      crc,
      name,
      extra: [size, size],
    });
    const fixed: Field[] = [["2", 45], ["2", 45], ["2", 0x800], ["2", 0], ["2", 0], ["2", 0x21]];
    const rest: Field[] = [["2", 0], ["2", 0], ["2", 0], ["4", 0], ["4", ZIP64]];
    directory.push(record(0x02014b50, fixed, { crc, name, extra: [size, size, offset], rest }));
    yield local;
    yield header;
    yield* array.bytes();
    offset += local.length + size;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const count = arrays.length;
  yield* directory;
  const end: Field[] = [["8", 44], ["2", 45], ["2", 45], ["4", 0], ["4", 0], ["8", count], [
    "8",
    count,
  ]];
  yield packed([["4", 0x06064b50], ...end, ["8", size], ["8", offset]]);
  yield packed([["4", 0x07064b50], ["4", 0], ["8", offset + size], ["4", 1]]);
  const few = Math.min(count, 0xffff);
  yield packed([["4", 0x06054b50], ["2", 0], ["2", 0], ["2", few], ["2", few], ["4", ZIP64], [
    "4",
    ZIP64,
  ], ["2", 0]]);
}

/** A number of so many bytes. */
type Field = readonly ["2" | "4" | "8", number];

/** A record of a file in a zip, whose sizes, and offset if it has one, are in its zip64 part. */
function record(
  magic: number,
  fixed: readonly Field[],
  { crc, name, extra, rest = [] }: {
    crc: number;
    name: Uint8Array;
    extra: readonly number[];
    rest?: readonly Field[];
  },
): Uint8Array {
  const more: Field[] = [["2", 1], ["2", 8 * extra.length], ...extra.map((n): Field => ["8", n])];
  const head = packed([
    ["4", magic],
    ...fixed,
    ...[["4", crc], ["4", ZIP64], ["4", ZIP64], ["2", name.length], [
      "2",
      4 + 8 * extra.length,
    ]] satisfies Field[],
    ...rest,
  ]);
  return Uint8Array.from([...head, ...name, ...packed(more)]);
}

function packed(fields: readonly Field[]): Uint8Array {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + Number(size), 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === "2") view.setUint16(at, value, true);
    else if (size === "4") view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
    at += Number(size);
  }
  return bytes;
}
