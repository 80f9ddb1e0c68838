// The interface of quantization formats: the layout of GGUF blocks, how they are repacked into
// aligned planes at load, and the WGSL that reads 32 weights back from the planes. Multi-byte fields
// of GGUF are little-endian, as is every platform that has WebGPU. The formats are those of
// ggml-common.h.

import sharedShaders from "./shared.wgsl" with { type: "text" };

/** A plane of repacked weights: a storage buffer binding named `w_<name>`. */
export interface Plane {
  /** Binding name without the `w_`, such as "quants". */
  readonly name: string;
  /** WGSL element type of the binding, such as "vec4<u32>". */
  readonly type: "u32" | "vec2<u32>" | "vec4<u32>" | "vec4<f32>";
  /** Bytes of this plane per GGUF block. */
  readonly bytesPerBlock: number;
  /** Bytes of these that a block has; zeros follow them. Default: all. */
  readonly fieldBytes?: number;
  /** How its bits are rearranged, so that shaders expand them with constant shifts. Default: not. */
  readonly arrangement?: Arrangement;
}

/** A rearrangement of the bits of a plane; repack.ts has them in plain loops. */
export type Arrangement =
  | "1-bit fields"
  | "2-bit fields"
  | "4-bit fields"
  | "4-bit fields by group"
  | "spread bits"
  | "quarters";

/** A constant table that a format's snippet reads: a storage buffer binding named `w_codebook`. */
export interface Codebook {
  /** WGSL element type of the binding. */
  readonly type: "u32" | "vec2<u32>";
  /** The elements of the table, one after the other. */
  readonly words: Uint32Array;
}

/** A weight format. Groups of 32 consecutive weights are numbered row after row over the matrix. */
export interface QuantFormat {
  /** GGML name, such as "Q4_0". */
  readonly name: string;
  /** Value of the ggml_type enum. */
  readonly ggmlType: number;
  /** Weights per GGUF block. */
  readonly blockSize: number;
  /** Bytes per GGUF block. */
  readonly blockBytes: number;
  /** Planes in binding order, which is that of their fields in a block: at most three, or two and a codebook. */
  readonly planes: readonly Plane[];
  /** The values of codes, if they are too expensive to compute. All matrices share one buffer. */
  readonly codebook?: Codebook;
  /**
   * "integer": the snippet loads the words of a group, `fn fetch_group(group: u32) -> PackedGroup`,
   * and makes int8 codes of them, `fn unpack_group(packed: PackedGroup, group: u32) -> Group`.
   * "float": the same for weights 4*index to 4*index+3, `fn fetch_floats(index: u32) -> vec4<u32>`
   * and `fn unpack_floats(words: vec4<u32>) -> vec4<f32>`. group.wgsl has both in one.
   */
  readonly kind: "integer" | "float";
  /** Whether `Group.minimum` can be other than zero (integer formats). */
  readonly hasMinimum: boolean;
  /** Whether both halves of a group share one scale and minimum (integer formats). */
  readonly uniformGroup: boolean;
  /** What codes are stored too large by, where they are: `centred()` of group.wgsl subtracts it. */
  readonly codeBias?: number;
  /**
   * Whether unpack_group() depends on the group's number within its super-block alone, which is the
   * same in all rows.
   */
  readonly partOfRow?: boolean;
  /** The WGSL of these functions, over the planes' bindings. */
  readonly snippet: string;
  /** The plain reference, written from the format alone: decodes whole GGUF blocks to f32. */
  dequantize(source: Uint8Array, blocks: number): Float32Array;
}

/** What a format of integer codes says of itself; `hasMinimum` is false and `uniformGroup` true else. */
type IntegerFormat =
  & Omit<QuantFormat, "kind" | "hasMinimum" | "uniformGroup" | "snippet" | "dequantize">
  & Partial<Pick<QuantFormat, "hasMinimum" | "uniformGroup">>
  & {
    /** Parts of shared.wgsl that its own WGSL calls. */
    readonly shares?: readonly string[];
    /**
     * Reads one block's bytes and writes its weights. It may compute in doubles: products of factors,
     * scales and codes fit in the 24 bits of a float, so only the sum with a minimum is rounded, once,
     * as in single precision.
     */
    decode(block: DataView, weights: Float32Array): void;
  };

/** A format of integer codes, whose part of `shaders` is named like it. */
export function integerFormat(
  shaders: string,
  { shares = [], decode, ...format }: IntegerFormat,
): QuantFormat {
  const { name, blockBytes, blockSize } = format;
  return {
    kind: "integer",
    hasMinimum: false,
    uniformGroup: true,
    ...format,
    snippet: [...shares, name].map((part) => partOf(sharedShaders + shaders, part)).join("\n"),
    dequantize(source, blocks) {
      const weights = new Float32Array(blocks * blockSize);
      for (let block = 0; block < blocks; block++) {
        const start = source.byteOffset + block * blockBytes;
        const bytes = new DataView(source.buffer, start, blockBytes);
        decode(bytes, weights.subarray(block * blockSize, (block + 1) * blockSize));
      }
      return weights;
    },
  };
}

/** A part of a file of WGSL, which begins with a comment `// NAME: ...` and ends where another does. */
export function partOf(shaders: string, name: string): string {
  const part = shaders.split(/^(?=\/\/ [A-Z0-9_]+: )/m).find((one) =>
    one.startsWith(`// ${name}: `)
  );
  if (part === undefined) {
    throw new RangeError(`Cannot find the WGSL of ${name}: no part has this name`);
  }
  return part;
}

/** The bytes as words of 32 bits. */
export function wordsOf(plane: Uint8Array | Int8Array): Uint32Array {
  return new Uint32Array(plane.buffer, plane.byteOffset, plane.byteLength / 4);
}
