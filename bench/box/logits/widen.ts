// Copies a GGUF file with its quantized weights widened to F32: the same numbers, in a format at which
// no engine rounds what it multiplies them with. Tensors of floats stay as they are.

import {
  fileTypeByName,
  readGguf,
  readRawMetadata,
  type TensorInfo,
  TensorReader,
  tensorTypeById,
  type WritableMetadata,
  writeGguf,
} from "../../../engine/gguf/mod.ts";
import { quantFormat } from "../../../kernels/mod.ts";

/** Writes the copy. */
export async function widen(from: string, to: string): Promise<void> {
  const file = await readGguf(from);
  const metadata: Record<string, WritableMetadata[string]> = Object.fromEntries(
    await readRawMetadata(from),
  );
  metadata["general.file_type"] = { uint32: fileTypeByName("F32")! };
  using reader = await TensorReader.open(file);
  const tensors = [...file.tensors.values()].map((tensor) => ({
    name: tensor.name,
    shape: tensor.shape,
    type: isQuantized(tensor) ? "F32" : tensor.typeName,
    data: () => dataOf(reader, tensor),
  }));
  await writeGguf(to, metadata, tensors);
}

function isQuantized({ type }: TensorInfo): boolean {
  return tensorTypeById(type)!.blockSize > 1;
}

function* dataOf(reader: TensorReader, tensor: TensorInfo): Generator<Uint8Array> {
  const format = quantFormat(tensor.type)!;
  for (const { bytes } of reader.chunks(tensor)) {
    if (!isQuantized(tensor)) yield bytes;
    else yield new Uint8Array(format.dequantize(bytes, bytes.length / format.blockBytes).buffer);
  }
}
