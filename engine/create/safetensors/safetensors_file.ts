// Reads the header of a safetensors file: eight bytes with its length, then a JSON object with
// type, shape and place of each tensor, followed by the data. Tensors have to be completely within
// the file and must not overlap. The format: the README of huggingface/safetensors.

import { fileSystem, type FsFile, isSystemError } from "../../../host/mod.ts";
import { ConversionError } from "../../errors.ts";
import { isCount, Settings } from "./settings.ts";

/** The place, shape and type of a tensor. */
export interface StoredTensor {
  /** Unique in the model. */
  readonly name: string;
  /** Path of its file. */
  readonly file: string;
  /** Type, such as "BF16". */
  readonly type: string;
  /** Shape. The length of a row comes last. */
  readonly shape: readonly number[];
  /** Offset of its first byte in the file. */
  readonly offset: number;
  /** Bytes in the file. */
  readonly byteLength: number;
}

const LENGTH_BYTES = 8;
/** Largest header, as in the format's own reader. */
const MAX_HEADER_BYTES = 100_000_000;
/** Bits of a value. Types that are not listed are not supported. */
const VALUE_BITS: Readonly<Record<string, number | undefined>> = {
  F64: 64,
  F32: 32,
  F16: 16,
  BF16: 16,
  I64: 64,
  I32: 32,
  I16: 16,
  I8: 8,
  U8: 8,
  BOOL: 8,
};

/**
 * Reads the tensors of a file, in the order of their data.
 * @throws ConversionError naming the file and the tensor if anything in the header is invalid
 */
export async function readSafetensors(path: string): Promise<StoredTensor[]> {
  const { header, dataOffset, fileSize } = await readHeader(path);
  const tensors = Object.keys(header.members)
    .filter((name) => name !== "__metadata__")
    .map((name) => readTensor(header.object(name) ?? header, name, dataOffset))
    .sort((a, b) => a.offset - b.offset);
  let end = dataOffset;
  for (const tensor of tensors) {
    const fault = (state: string) => new ConversionError(path, `tensor "${tensor.name}"`, state);
    if (tensor.offset < end) throw fault("it overlaps another");
    end = tensor.offset + tensor.byteLength;
    if (end > fileSize) throw fault(`it ends at byte ${end}, the file at ${fileSize}`);
  }
  return tensors;
}

async function readHeader(
  path: string,
): Promise<{ header: Settings; dataOffset: number; fileSize: number }> {
  using file = await openFile(path);
  const { size } = await file.stat();
  const fault = (state: string) => new ConversionError(path, "header", state);
  const lengthBytes = new Uint8Array(LENGTH_BYTES);
  if (size < LENGTH_BYTES) throw fault(`the file has ${size} bytes only`);
  await readExactly(file, lengthBytes);
  const length = Number(new DataView(lengthBytes.buffer).getBigUint64(0, true));
  if (length > Math.min(MAX_HEADER_BYTES, size - LENGTH_BYTES)) {
    throw fault(`a length of ${length} bytes is too much for a file of ${size}`);
  }
  const text = new Uint8Array(length);
  await readExactly(file, text);
  const header = Settings.parse(path, new TextDecoder().decode(text));
  return { header, dataOffset: LENGTH_BYTES + length, fileSize: size };
}

function readTensor(entry: Settings, name: string, dataOffset: number): StoredTensor {
  const fault = (state: string) => new ConversionError(entry.file, `tensor "${name}"`, state);
  const type = entry.string("dtype");
  const shape = entry.list("shape");
  const offsets = entry.list("data_offsets");
  if (!shape.every(isCount)) throw fault("its shape is not a list of whole numbers");
  if (offsets.length !== 2 || !offsets.every(isCount) || offsets[0] > offsets[1]) {
    throw fault("its data_offsets are not a start and an end");
  }
  const [start, end] = offsets;
  const bits = VALUE_BITS[type];
  const expected = shape.reduce((product, length) => product * length, 1) * (bits ?? 0) / 8;
  if (bits !== undefined && expected !== end - start) {
    throw fault(
      `it has ${end - start} bytes, its shape [${shape.join(", ")}] of ${type} ${expected}`,
    );
  }
  return {
    name,
    file: entry.file,
    type,
    shape,
    offset: dataOffset + start,
    byteLength: end - start,
  };
}

/** Opens a file of the model. Errors: ConversionError if it does not exist. */
export async function openFile(path: string): Promise<FsFile> {
  try {
    return await fileSystem().open(path);
  } catch (error) {
    if (!isSystemError(error, "NotFound")) throw error;
    throw new ConversionError(path, "file", "it is not there");
  }
}

async function readExactly(file: FsFile, target: Uint8Array): Promise<void> {
  for (let filled = 0; filled < target.length;) {
    const count = await file.read(target.subarray(filled));
    if (count === null) throw new Error("The file has become shorter while it was read");
    filled += count;
  }
}
