// Quantizes a GGUF file of floats to a new one, a slice of a tensor at a time, so that memory does
// not grow with the model. Metadata is copied, except for the two keys that describe the
// quantization.

import { fileSystem } from "../../../host/mod.ts";
import type { Cancellation } from "../../cancellation.ts";
import { RequestError } from "../../errors.ts";
import {
  fileTypeByName,
  type GgufFile,
  readGguf,
  readRawMetadata,
  type TensorInfo,
  TensorReader,
  tensorTypeById,
  type WritableMetadata,
  writeGguf,
} from "../../gguf/mod.ts";
import { nextTask } from "../../async.ts";
import { encoderOf } from "./encoder.ts";
import { FLOAT_BYTES, type FloatType, isFloatType, readFloats } from "./floats.ts";
import { chooseFormats, type QuantizationName } from "./tensor_formats.ts";

/** The options of {@linkcode quantizeModel}. */
export interface QuantizeOptions {
  /** GGUF file with tensors of F32, F16 and BF16. For a split model, its first shard. */
  readonly from: string;
  /** Path of the file to write. An existing file is overwritten. */
  readonly to: string;
  /** The mix of formats. */
  readonly type: QuantizationName;
  /** Receives the number of bytes of tensors that are done, and of all. */
  onProgress?(done: number, total: number): void;
  /** Cancels the work. */
  readonly signal?: Cancellation;
}

/** Bytes of a slice: some milliseconds of work, and whole blocks of every format. */
const SLICE_BYTES = 1 << 18;
/** The largest half float, which bounds scales. */
const MAX_HALF = 65_504;
/** The version of GGML's formats. */
const QUANTIZATION_VERSION = 2;
/** Keys of split models. The new model is a single file. */
const SPLIT_KEYS = ["split.no", "split.count", "split.tensors.count"];

/**
 * Quantizes a model. A failed or aborted attempt leaves no file.
 * @throws RequestError if the model is quantized already, or has values that the format cannot
 *   represent
 * @throws GgufError if the file is invalid; the signal's reason
 */
export async function quantizeModel(options: QuantizeOptions): Promise<void> {
  const { from, to, type, signal, onProgress } = options;
  const file = await readGguf(from);
  refuseQuantized(file);
  const formats = chooseFormats(file, type);
  const metadata = await metadataOf(file, type);
  const all = [...file.tensors.values()];
  const total = all.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let done = 0;
  using reader = await TensorReader.open(file, SLICE_BYTES);

  async function* slicesOf(tensor: TensorInfo): AsyncGenerator<Uint8Array> {
    const convert = converter(file, tensor, formats.get(tensor.name)!);
    for (const { bytes } of reader.chunks(tensor)) {
      signal?.throwIfAborted();
      yield convert(bytes);
      onProgress?.(done += bytes.length, total);
      await nextTask();
    }
  }

  try {
    const tensors = all.map((tensor) => {
      const { name, shape } = tensor;
      return { name, shape, type: formats.get(name)!, data: () => slicesOf(tensor) };
    });
    await writeGguf(to, metadata, tensors);
  } catch (error) {
    await fileSystem().remove(to).catch(() => {});
    throw error;
  }
}

function refuseQuantized({ path, tensors }: GgufFile): void {
  for (const { name, type, typeName } of tensors.values()) {
    if (tensorTypeById(type)?.blockSize === 1) continue;
    throw new RequestError(
      `Cannot quantize "${path}": quantization is only supported for F32, F16 and BF16 models, ` +
        `and tensor "${name}" is ${typeName}`,
    );
  }
}

async function metadataOf(file: GgufFile, mix: QuantizationName): Promise<WritableMetadata> {
  const metadata: Record<string, WritableMetadata[string]> = {};
  for (const [key, value] of await readRawMetadata(file.shards[0])) {
    if (!SPLIT_KEYS.includes(key)) metadata[key] = value;
  }
  if ("general.alignment" in metadata) metadata["general.alignment"] = { uint32: file.alignment };
  metadata["general.quantization_version"] = { uint32: QUANTIZATION_VERSION };
  metadata["general.file_type"] = { uint32: fileTypeByName(mix)! };
  return metadata;
}

/**
 * A function that makes blocks of slices of a tensor. Each result is overwritten by the next one.
 */
function converter(
  file: GgufFile,
  tensor: TensorInfo,
  format: string,
): (slice: Uint8Array) => Uint8Array {
  const { typeName } = tensor;
  if (typeName === format || !isFloatType(typeName)) return (slice) => slice;
  const encoder = encoderOf(format);
  const limit = encoder.blockSize > 1 || format === "F16" ? MAX_HALF : Number.MAX_VALUE;
  const weights = new Float32Array(SLICE_BYTES / FLOAT_BYTES[typeName]);
  const blocks = new Uint8Array(weights.length / encoder.blockSize * encoder.blockBytes);
  return (slice) => {
    const count = slice.length / FLOAT_BYTES[typeName as FloatType];
    const read = weights.subarray(0, count);
    readFloats(typeName as FloatType, slice, read);
    const fault = read.find((weight) => !(Math.abs(weight) <= limit));
    if (fault !== undefined) {
      throw new RequestError(
        `Cannot quantize "${file.path}": tensor "${tensor.name}" has the value ${fault}, ` +
          `which ${format} cannot hold`,
      );
    }
    const target = blocks.subarray(0, count / encoder.blockSize * encoder.blockBytes);
    encoder.encode(read, target);
    return target;
  };
}
