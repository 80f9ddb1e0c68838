// The interface of quantization formats: the layout of GGUF blocks, how they are repacked into
// aligned planes at load, and the WGSL that reads 32 weights back from the planes. Each format is a
// file, with its plain reference. The formats are those of ggml-common.h.

/** A plane of repacked weights: a storage buffer binding named `w_<name>`. */
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
  /** Planes in binding order, at most three, or two and a codebook. */
  readonly planes: readonly Plane[];
  /** The values of codes, if they are too expensive to compute. All matrices share one buffer. */
  readonly codebook?: Codebook;
  /**
   * "integer": the snippet gives int8 codes, `fn load_group(group: u32) -> Group`. "float": it
   * gives weights 4*index to 4*index+3, `fn load_floats(index: u32) -> vec4<f32>`.
   */
  readonly kind: "integer" | "float";
  /** Whether `Group.minimum` can be other than zero (integer formats). */
  readonly hasMinimum: boolean;
  /** Whether both halves of a group share one scale and minimum (integer formats). */
  readonly uniformGroup: boolean;
  /** The WGSL of that function, over the planes' bindings. */
  readonly snippet: string;
  /**
   * Splits `blocks` GGUF blocks from `source` into planes. Each plane has exactly blocks *
   * bytesPerBlock bytes, which need not be a multiple of 4, because buffers round up. A plane may
   * be a view of the source.
   */
  repack(source: Uint8Array, blocks: number): Uint8Array[];
  /** The plain reference, written from the format alone: decodes whole GGUF blocks to f32. */
  dequantize(source: Uint8Array, blocks: number): Float32Array;
}
