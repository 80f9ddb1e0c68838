// Reads the tensor table of a GGUF header and computes where in the file each tensor is. A tensor
// has to be completely within the file, aligned, and must not overlap another.

import { type HeaderReader, STEP_ITEMS, type Steps } from "./header_reader.ts";
import { type TensorType, tensorTypeById } from "./tensor_types.ts";

/** The place, shape and type of a tensor. */
export interface TensorInfo {
  /** Name, unique in the file, such as "blk.0.attn_q.weight". */
  readonly name: string;
  /** Shape in GGML order: shape[0] is the length of a row. Empty for a scalar. */
  readonly shape: readonly number[];
  /** Value of `ggml_type`. */
  readonly type: number;
  /** GGML name of the type, such as "Q4_K". */
  readonly typeName: string;
  /** Index in `GgufFile.shards` of its file; 0 unless the model is split. */
  readonly shard: number;
  /** Offset of its first byte in the file. */
  readonly offset: number;
  /** Bytes without the padding after it. */
  readonly byteLength: number;
}

/** The range of bytes in a file that holds the tensors. */
interface DataSection {
  readonly dataOffset: number;
  readonly alignment: number;
  readonly fileSize: number;
}

const MAX_DIMENSIONS = 4;
/** Most tensors, far more than any model has, to bound the cost of a hostile file. */
const MAX_TENSORS = 1 << 15;

/**
 * Reads `count` entries. Their offsets are still relative to the start of the tensor data.
 * @throws GgufError naming the invalid tensor
 */
export function* readTensorTable(header: HeaderReader, count: number): Steps<TensorInfo[]> {
  header.field = "tensor count";
  if (count > MAX_TENSORS) throw header.error(`a count of ${count} is above ${MAX_TENSORS}`);
  const table: TensorInfo[] = [];
  for (let index = 0; index < count; index++) {
    header.field = `tensor ${index}`;
    const name = header.string();
    header.field = `tensor "${name}"`;
    const shape = readShape(header);
    const typeId = header.uint32();
    const type = tensorTypeById(typeId);
    if (type === undefined) throw header.error(`unknown tensor type ${typeId}`);
    const byteLength = tensorBytes(header, shape, type);
    const offset = header.uint64();
    const { id, name: typeName } = type;
    table.push({ name, shape, type: id, typeName, shard: 0, offset, byteLength });
    if (index % STEP_ITEMS === 0) yield;
  }
  return table;
}

function readShape(header: HeaderReader): number[] {
  const dimensions = header.uint32();
  if (dimensions > MAX_DIMENSIONS) {
    throw header.error(`${dimensions} dimensions are more than ${MAX_DIMENSIONS}`);
  }
  return Array.from({ length: dimensions }, (_, index) => {
    const length = header.uint64();
    if (length === 0) throw header.error(`dimension ${index} is zero`);
    return length;
  });
}

function tensorBytes(header: HeaderReader, shape: readonly number[], type: TensorType): number {
  const rowLength = shape[0] ?? 1;
  if (rowLength % type.blockSize !== 0) {
    throw header.error(
      `a row of ${rowLength} values is not whole blocks of ${type.blockSize} (${type.name})`,
    );
  }
  const blocks = shape.reduce((product, length) => product * length, 1) / type.blockSize;
  const bytes = blocks * type.blockBytes;
  if (bytes > Number.MAX_SAFE_INTEGER) throw header.error(`shape ${shape.join("x")} is too large`);
  return bytes;
}

/**
 * Gives each tensor its offset in the file.
 * @throws GgufError naming a tensor that occurs twice, is misaligned, overlaps another or exceeds
 *   the file
 */
export function* placeTensors(
  header: HeaderReader,
  table: readonly TensorInfo[],
  { dataOffset, alignment, fileSize }: DataSection,
): Steps<Map<string, TensorInfo>> {
  const tensors = new Map<string, TensorInfo>();
  for (const entry of table) {
    header.field = `tensor "${entry.name}"`;
    if (tensors.has(entry.name)) throw header.error("the name occurs twice");
    if (entry.offset % alignment !== 0) {
      throw header.error(`offset ${entry.offset} is not a multiple of ${alignment}`);
    }
    const offset = dataOffset + entry.offset;
    if (offset + entry.byteLength > fileSize) {
      throw header.error(
        `its ${entry.byteLength} bytes at byte ${offset} pass the end of the file at ${fileSize}`,
      );
    }
    tensors.set(entry.name, { ...entry, offset });
    if (tensors.size % STEP_ITEMS === 0) yield;
  }
  checkOverlap(header, tensors);
  return tensors;
}

function checkOverlap(header: HeaderReader, tensors: ReadonlyMap<string, TensorInfo>): void {
  const byOffset = [...tensors.values()].sort((a, b) => a.offset - b.offset);
  for (const [index, tensor] of byOffset.entries()) {
    const next = byOffset[index + 1];
    if (next === undefined || tensor.offset + tensor.byteLength <= next.offset) continue;
    header.field = `tensor "${next.name}"`;
    throw header.error(`it overlaps tensor "${tensor.name}"`);
  }
}
