// A family of image encoders: everything about one type of projector. Each family is a file in
// families/; no other code knows one by name.

import type { FloatRows } from "../../../kernels/mod.ts";
import { GgufError } from "../../errors.ts";
import type { GgufFile, MetadataReader, MetadataValue, TensorInfo } from "../../gguf/mod.ts";
import type { Config } from "../../nn/mod.ts";
import type { Layout, PictureFacts } from "../preprocess/mod.ts";
import type { ImageBuilder } from "./builder.ts";
import type { VisionConfig } from "./config.ts";
import type { PatchGrid } from "./patch_grid.ts";

/** An image encoder with its projector, its input, and how decoders use its rows. */
export interface VisionFamily {
  /** The `clip.projector_type` of its files, such as "gemma3". */
  readonly projector: string;
  /** How pictures are preprocessed. */
  readonly pictures: PictureFacts;
  /**
   * The texts before, between and after the parts of a picture, with which models were trained: one
   * more than there are parts. They contain control tokens of the vocabulary.
   */
  readonly marks: (layout: Layout) => string[];
  /**
   * Whether decoders give the rows of an image positions in a grid (M-RoPE). Default: one after the
   * other.
   */
  readonly usesGrid?: boolean;
  /**
   * Whether rows of an image attend to each other in both directions in this one of the `decoders`,
   * so that an image has to run in one step. Default: only to earlier rows, as in texts.
   */
  readonly isBidirectional?: (decoder: Config) => boolean;
  /**
   * Architectures of decoders that are made for this encoder, and how Ollama's files of them
   * differ.
   */
  readonly decoders?: Readonly<Record<string, OllamaFile>>;
  /** Whether older files have the two matrices of a block swapped. */
  readonly mayBeSwapped?: boolean;
  /** Whether there is a class token: one more row, v.class_embd. Default: there is none. */
  classToken?(gguf: GgufFile, config: VisionConfig): boolean;
  /** Whether layers after the last one that is used are ignored. */
  readonly readsSomeLayers?: boolean;
  /** Whether tokens are ordered by column of the image instead of by row. */
  readonly columnsFirst?: boolean;
  /** A transformation of pixels before all else: scale * pixel + offset. */
  readonly pixels?: { readonly scale: number; readonly offset: number };
  /** Columns of its output rows, from the header of its file. Errors: GgufError. */
  columns(gguf: GgufFile): number;
  /** Builds the network. Errors: GgufError. */
  build(image: ImageBuilder): Promise<BuiltEncoder>;
}

/** A network that was built. */
export interface BuiltEncoder {
  /** The output of a run: [tokens, columns]. */
  readonly output: FloatRows;
  /**
   * Columns of an embedding, if a row also holds the embeddings for later layers of the decoder.
   */
  readonly width?: number;
  /** Whether a token ends each row of tokens except the last. `finish` adds it. */
  readonly breaksLines?: boolean;
  /** Makes the decoder's input from the output, if they differ. */
  readonly finish?: (embeddings: Float32Array, grid: PatchGrid) => Float32Array;
}

/** A pattern of names of tensors, and the name that replaces it. */
export type Renaming = readonly [pattern: RegExp, name: string];

/**
 * How the files of an architecture differ that were made by Ollama's converter
 * (convert/convert_*.go). They hold decoder and encoder, under keys and names of their own.
 */
export interface OllamaFile {
  /** Missing if only the decoder's part is known. */
  readonly encoder?: OllamaEncoder;
  readonly decoder?: OllamaDecoder;
}

/** The encoder's part of a file. */
export interface OllamaEncoder {
  /** The flag for the activation function of the blocks, if there is one. */
  readonly flag?: "use_gelu" | "use_silu";
  /** The mean of pixels, for normalization. */
  readonly mean: readonly number[];
  readonly std: readonly number[];
  /** Keys under "clip.vision." that the file has elsewhere or not at all. */
  readonly keys?: (metadata: MetadataReader, gguf: GgufFile) => Record<string, MetadataValue>;
  /** Names of tensors that only this family's files have. */
  readonly names?: readonly Renaming[];
  /** Tensors of the encoder that are parts of tensors of the decoder. */
  readonly tensors?: (metadata: MetadataReader, gguf: GgufFile) => readonly TensorInfo[];
}

/** The decoder's part of a file. Keys are relative to that of the architecture. */
export interface OllamaDecoder {
  /**
   * For keys that may be missing, other keys with the same value. The first existing one is used.
   */
  readonly keys?: Readonly<Record<string, readonly string[]>>;
  /** Other values for missing keys, computed from the file. */
  readonly more?: (metadata: MetadataReader, name: string) => Record<string, MetadataValue>;
  /** Keys of the vocabulary that replace existing ones. */
  readonly tokenizer?: (gguf: GgufFile) => Record<string, MetadataValue>;
  /** Renamings of the ends of tensors' names. */
  readonly tensors?: readonly Renaming[];
}

/** The {@linkcode OllamaEncoder} values of encoders whose pixels are from -1 to 1. */
export const HALVES = { mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] } as const;

/** The {@linkcode OllamaEncoder} values of encoders based on CLIP. */
export const CLIP_PIXELS = {
  mean: [0.48145466, 0.4578275, 0.40821073],
  std: [0.26862954, 0.26130258, 0.27577711],
} as const;

/** The key of M-RoPE's sections in Ollama's files. */
export const MROPE_SECTIONS = {
  "rope.dimension_sections": ["rope.mrope_section", "mrope_sections"],
} as const;

/** A {@linkcode VisionFamily.marks} with one text before the picture and one after it. */
export function between(open: string, close: string): VisionFamily["marks"] {
  return ({ images }) => [open, ...images.slice(1).map(() => ""), close];
}

/**
 * A {@linkcode VisionFamily.columns} of encoders that end with a matrix. `axis` of its shape is its
 * outputs.
 */
export function outputsOf(name: string, axis = 1): VisionFamily["columns"] {
  return ({ path, tensors }) => {
    const outputs = tensors.get(name)?.shape[axis];
    if (outputs === undefined) throw new GgufError(path, `tensor "${name}"`, "it is missing");
    return outputs;
  };
}
