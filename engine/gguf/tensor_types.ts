// The tensor types of GGML: those of weights are the formats of the kernels, the few others are
// listed here. Also the names of a file's quantization mix. Ids are those of `ggml_type` (ggml.h)
// and `llama_ftype` (llama.h) in llama.cpp of September 2026; gaps are types that llama.cpp has
// removed.

import { quantFormats } from "../../kernels/mod.ts";
import { type HeaderReader, STEP_ITEMS, type Steps } from "./header_reader.ts";

/** How a tensor's values are stored: in blocks of `blockSize` values, `blockBytes` bytes each. */
export interface TensorType {
  /** Value of `ggml_type`. */
  readonly id: number;
  /** GGML name, such as "Q4_K". */
  readonly name: string;
  /** Values per block. */
  readonly blockSize: number;
  /** Types of activations and integers, which no kernel reads as weights. */
  readonly blockBytes: number;
}

/** Types that no kernel reads, so that no weight can have them: of activations, and of whole numbers. */
const OTHER_TYPES: readonly TensorType[] = ([
  [9, "Q8_1", 32, 36],
  [15, "Q8_K", 256, 292],
  [24, "I8", 1, 1],
  [25, "I16", 1, 2],
  [26, "I32", 1, 4],
  [27, "I64", 1, 8],
  [28, "F64", 1, 8],
] as const).map(([id, name, blockSize, blockBytes]) => ({ id, name, blockSize, blockBytes }));

const TENSOR_TYPES: readonly TensorType[] = [
  ...quantFormats.map(({ ggmlType, name, blockSize, blockBytes }) => {
    return { id: ggmlType, name, blockSize, blockBytes };
  }),
  ...OTHER_TYPES,
];

const BY_ID = new Map(TENSOR_TYPES.map((type) => [type.id, type]));
const BY_NAME = new Map(TENSOR_TYPES.map((type) => [type.name, type]));

// deno-fmt-ignore
const FILE_TYPES = new Map<number, string>([
  [0, "F32"], [1, "F16"], [2, "Q4_0"], [3, "Q4_1"], [7, "Q8_0"], [8, "Q5_0"], [9, "Q5_1"],
  [10, "Q2_K"], [11, "Q3_K_S"], [12, "Q3_K_M"], [13, "Q3_K_L"], [14, "Q4_K_S"], [15, "Q4_K_M"],
  [16, "Q5_K_S"], [17, "Q5_K_M"], [18, "Q6_K"], [19, "IQ2_XXS"], [20, "IQ2_XS"], [21, "Q2_K_S"],
  [22, "IQ3_XS"], [23, "IQ3_XXS"], [24, "IQ1_S"], [25, "IQ4_NL"], [26, "IQ3_S"], [27, "IQ3_M"],
  [28, "IQ2_S"], [29, "IQ2_M"], [30, "IQ4_XS"], [31, "IQ1_M"], [32, "BF16"], [36, "TQ1_0"],
  [37, "TQ2_0"], [38, "MXFP4_MOE"], [39, "NVFP4"], [40, "Q1_0"], [41, "Q2_0"],
]);

const FILE_TYPE_IDS = new Map(Array.from(FILE_TYPES, ([id, name]) => [name, id]));

/** The tensor type with that `ggml_type` value, or undefined if there is none. */
export function tensorTypeById(id: number): TensorType | undefined {
  return BY_ID.get(id);
}

/** The tensor type with that GGML name, or undefined if there is none. */
export function tensorTypeByName(name: string): TensorType | undefined {
  return BY_NAME.get(name);
}

/** Name of a `general.file_type`, such as "Q4_K_M" for 15, or undefined if there is none. */
export function fileTypeName(fileType: number): string | undefined {
  return FILE_TYPES.get(fileType);
}

/** The `general.file_type` of that name, or undefined if there is none. */
export function fileTypeByName(name: string): number | undefined {
  return FILE_TYPE_IDS.get(name);
}

// Reads the tensor table of a GGUF header and computes where in the file each tensor is. A tensor
// has to be completely within the file, aligned, and must not overlap another.

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
