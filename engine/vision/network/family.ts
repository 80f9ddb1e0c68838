// A family of image encoders: all that is known of one type of projector. Each is a file in families/;
// nothing else knows any of them by name.

import type { FloatRows } from "../../../kernels/mod.ts";
import { GgufError } from "../../errors.ts";
import type { GgufFile, MetadataReader, MetadataValue, TensorInfo } from "../../gguf/mod.ts";
import type { Config } from "../../nn/mod.ts";
import type { Layout, PictureFacts } from "../preprocess/mod.ts";
import type { ImageBuilder } from "./builder.ts";
import type { VisionConfig } from "./config.ts";
import type { PatchGrid } from "./patch_grid.ts";

/** An image encoder with its projector, how it is fed, and what decoders make of its rows. */
export interface VisionFamily {
  /** `clip.projector_type` of its files, such as "gemma3". */
  readonly projector: string;
  /** How pictures are prepared. */
  readonly pictures: PictureFacts;
  /**
   * The texts that models were trained to see around a picture and between its parts: one more than
   * there are parts. They are control tokens of the vocabulary.
   */
  readonly marks: (layout: Layout) => string[];
  /** Whether decoders place the rows of an image in a grid (M-RoPE). Default: one after the other. */
  readonly usesGrid?: boolean;
  /**
   * Whether rows of an image see each other in both directions in a decoder of `decoders`, so that
   * an image has to run in one step. Default: they see earlier rows only, as texts do.
   */
  readonly seesWhole?: (decoder: Config) => boolean;
  /** Architectures of texts that are made for this encoder, and what Ollama's files of them differ in. */
  readonly decoders?: Readonly<Record<string, OllamaFile>>;
  /** Whether older files have the two matrices of a block swapped. */
  readonly mayBeSwapped?: boolean;
  /** Whether a row of its own, v.class_embd, goes along with the patches. Default: it does not. */
  classToken?(gguf: GgufFile, config: VisionConfig): boolean;
  /** Whether it leaves layers alone that come after the last that it reads. */
  readonly readsSomeLayers?: boolean;
  /** Whether tokens go down the columns of the image. */
  readonly columnsFirst?: boolean;
  /** What is computed of a pixel first: scale * pixel + offset. */
  readonly pixels?: { readonly scale: number; readonly offset: number };
  /** Columns of a row of what it makes, from the header of its file. Errors: GgufError. */
  columns(gguf: GgufFile): number;
  /** Builds the network. Errors: GgufError. */
  build(image: ImageBuilder): Promise<BuiltEncoder>;
}

/** A network that is built. */
export interface BuiltEncoder {
  /** [tokens, columns] after a run. */
  readonly output: FloatRows;
  /** Columns of an embedding, where a row holds one for a layer of the decoder after the other. */
  readonly width?: number;
  /** Whether a token ends each row of tokens but the last: `finish` adds it. */
  readonly breaksLines?: boolean;
  /** Makes of the output what the decoder gets, if that is something else. */
  readonly finish?: (embeddings: Float32Array, grid: PatchGrid) => Float32Array;
}

/** A pattern of a tensor's name and what it is called here. */
export type Renaming = readonly [pattern: RegExp, name: string];

/**
 * What files of an architecture differ in that Ollama's converter made (convert/convert_*.go): they
 * hold decoder and encoder, under keys and names of their own.
 */
export interface OllamaFile {
  /** Missing: only the decoder is known. */
  readonly encoder?: OllamaEncoder;
  readonly decoder?: OllamaDecoder;
}

/** The encoder's part of a file. */
export interface OllamaEncoder {
  /** The flag of the blocks' activation, if there is one. */
  readonly flag?: "use_gelu" | "use_silu";
  /** What pictures are normalized by. */
  readonly mean: readonly number[];
  readonly std: readonly number[];
  /** Keys below "clip.vision." that the file has elsewhere or not at all. */
  readonly keys?: (metadata: MetadataReader, gguf: GgufFile) => Record<string, MetadataValue>;
  /** Names of tensors that no other family's files have. */
  readonly names?: readonly Renaming[];
  /** Tensors of the encoder that are a part of one of the decoder's. */
  readonly tensors?: (metadata: MetadataReader, gguf: GgufFile) => readonly TensorInfo[];
}

/** The decoder's part of a file. Keys are below that of the architecture. */
export interface OllamaDecoder {
  /** Keys, and where their values are if they are missing: the first that is there. */
  readonly keys?: Readonly<Record<string, readonly string[]>>;
  /** What else follows from the file where it is missing. */
  readonly more?: (metadata: MetadataReader, name: string) => Record<string, MetadataValue>;
  /** Of the vocabulary, in place of what is there. */
  readonly tokenizer?: (gguf: GgufFile) => Record<string, MetadataValue>;
  /** Ends of tensors' names. */
  readonly tensors?: readonly Renaming[];
}

/** {@linkcode OllamaEncoder} values of encoders that take pixels from -1 to 1. */
export const HALVES = { mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] } as const;

/** The same of those that go back to CLIP. */
export const CLIP_PIXELS = {
  mean: [0.48145466, 0.4578275, 0.40821073],
  std: [0.26862954, 0.26130258, 0.27577711],
} as const;

/** Where Ollama's files have the sections of M-RoPE. */
export const MROPE_SECTIONS = {
  "rope.dimension_sections": ["rope.mrope_section", "mrope_sections"],
} as const;

/** {@linkcode VisionFamily.marks} with a text before the picture and one behind it. */
export function between(open: string, close: string): VisionFamily["marks"] {
  return ({ images }) => [open, ...images.slice(1).map(() => ""), close];
}

/** {@linkcode VisionFamily.columns} where a matrix comes last: `axis` of its shape is its outputs. */
export function outputsOf(name: string, axis = 1): VisionFamily["columns"] {
  return ({ path, tensors }) => {
    const outputs = tensors.get(name)?.shape[axis];
    if (outputs === undefined) throw new GgufError(path, `tensor "${name}"`, "it is missing");
    return outputs;
  };
}
