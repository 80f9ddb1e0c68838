// What a family of image encoders is to the rest: how it cuts images up, and its network. The
// families are in encoders, one file each.

import type { FloatRows } from "../../../kernels/mod.ts";
import { GgufError } from "../../errors.ts";
import type { GgufFile } from "../../gguf/mod.ts";
import type { ImageBuilder } from "./builder.ts";
import type { PatchGrid } from "./patch_grid.ts";
import type { VisionConfig } from "./config.ts";

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

/** An encoder with its projector. */
export interface EncoderFamily {
  /** Patches on each side of the square that becomes one token. */
  merge(config: VisionConfig): number;
  /** Whether images may have any size; otherwise they have that which the file names. */
  readonly anySize?: boolean;
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

/** {@linkcode EncoderFamily.columns} where a matrix comes last: `axis` of its shape is its outputs. */
export function outputsOf(name: string, axis = 1): EncoderFamily["columns"] {
  return ({ path, tensors }) => {
    const outputs = tensors.get(name)?.shape[axis];
    if (outputs === undefined) throw new GgufError(path, `tensor "${name}"`, "it is missing");
    return outputs;
  };
}
