// Copies a GGUF file with its Q8_0 weights widened to F32: the same numbers, in a format at which no
// engine rounds what it multiplies them with. Q8_0, as GGML has it: blocks of a half-precision scale
// and 32 signed bytes.

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
} from "../engine/gguf/mod.ts";

const BLOCK_VALUES = 32;
const BLOCK_BYTES = 2 + BLOCK_VALUES;

/**
 * Writes the copy; tensors of floats stay as they are.
 * @throws RangeError if a tensor has another format
 */
export async function widen(from: string, to: string): Promise<void> {
  const file = await readGguf(from);
  refuseOthers(file);
  const metadata: Record<string, WritableMetadata[string]> = Object.fromEntries(
    await readRawMetadata(from),
  );
  metadata["general.file_type"] = { uint32: fileTypeByName("F32")! };
  using reader = await TensorReader.open(file);
  const tensors = [...file.tensors.values()].map((tensor) => ({
    name: tensor.name,
    shape: tensor.shape,
    type: tensor.typeName === "Q8_0" ? "F32" : tensor.typeName,
    data: () => dataOf(reader, tensor),
  }));
  await writeGguf(to, metadata, tensors);
}

function refuseOthers({ path, tensors }: GgufFile): void {
  for (const { name, type, typeName } of tensors.values()) {
    if (typeName === "Q8_0" || tensorTypeById(type)?.blockSize === 1) continue;
    throw new RangeError(
      `Cannot widen "${path}": only weights in Q8_0 can be, and tensor "${name}" is ${typeName}`,
    );
  }
}

function* dataOf(reader: TensorReader, tensor: TensorInfo): Generator<Uint8Array> {
  for (const { bytes } of reader.chunks(tensor)) {
    yield tensor.typeName === "Q8_0" ? widenBlocks(bytes) : bytes;
  }
}

function widenBlocks(blocks: Uint8Array<ArrayBuffer>): Uint8Array {
  const view = new DataView(blocks.buffer, blocks.byteOffset, blocks.byteLength);
  const values = new Float32Array(blocks.length / BLOCK_BYTES * BLOCK_VALUES);
  for (let i = 0; i < values.length; i++) {
    const block = Math.floor(i / BLOCK_VALUES) * BLOCK_BYTES;
    values[i] = view.getFloat16(block, true) * view.getInt8(block + 2 + i % BLOCK_VALUES);
  }
  return new Uint8Array(values.buffer);
}
