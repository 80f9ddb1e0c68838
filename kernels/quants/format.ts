// What a quantization format is to the kernels: how its GGUF blocks are laid out, how they are
// repacked into aligned planes at load, and the WGSL that reads 32 weights back from the planes.
// One file per format implements it, with its plain CPU reference; formats as in ggml-common.h.

/** One plane of repacked weights: a storage buffer binding named `w_<name>`. */
export interface Plane {
  /** Binding name without the `w_`, such as "quants". */
  readonly name: string;
  /** WGSL element type of the binding, such as "vec4<u32>". */
  readonly type: "u32" | "vec2<u32>" | "vec4<u32>" | "vec4<f32>";
  /** Bytes of this plane per GGUF block. */
  readonly bytesPerBlock: number;
}

/** A constant table that a format's snippet reads: a storage buffer binding named `w_codebook`. */
export interface Codebook {
  /** WGSL element type of the binding. */
  readonly type: "u32" | "vec2<u32>";
  /** Its elements one after the other. */
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
  /** Planes in binding order, at most three, or two and a codebook. */
  readonly planes: readonly Plane[];
  /** What codes stand for, where that is too much to compute: one buffer for all matrices. */
  readonly codebook?: Codebook;
  /**
   * "integer": the snippet gives int8 codes, `fn load_group(group: u32) -> Group`.
   * "float": it gives weights 4*index to 4*index+3, `fn load_floats(index: u32) -> vec4<f32>`.
   */
  readonly kind: "integer" | "float";
  /** Whether `Group.minimum` can be other than zero (integer formats). */
  readonly hasMinimum: boolean;
  /** Whether both halves of a group share one scale and minimum (integer formats). */
  readonly uniformGroup: boolean;
  /** WGSL that defines the function above over the planes' bindings. */
  readonly snippet: string;
  /**
   * Splits `blocks` GGUF blocks from `source` into planes, one Uint8Array per plane, each of
   * exactly blocks * bytesPerBlock bytes, which is not always a multiple of 4: buffers round up.
   * A plane can be a view of the source.
   */
  repack(source: Uint8Array, blocks: number): Uint8Array[];
  /** Decodes whole GGUF blocks to f32: the CPU reference, written from the format alone. */
  dequantize(source: Uint8Array, blocks: number): Float32Array;
}
