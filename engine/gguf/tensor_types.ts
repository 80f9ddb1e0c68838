// The tensor types of GGML: those of weights are the formats of the kernels, the few others are
// listed here. Also the names of a file's quantization mix. Ids are those of `ggml_type` (ggml.h)
// and `llama_ftype` (llama.h) in llama.cpp of September 2026; gaps are types that llama.cpp has
// removed.

import { quantFormats } from "../../kernels/mod.ts";

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
