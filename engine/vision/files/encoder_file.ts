// Finds the image encoder in a GGUF file, a projector of its own (architecture "clip") or one beside
// a decoder, and gives its tensors the names and shapes that the encoders here are written with:
// those of llama.cpp's converter today. Older files have the two matrices of a block swapped.

import { UnsupportedModelError } from "../../errors.ts";
import { type GgufFile, MetadataReader, type TensorInfo } from "../../gguf/mod.ts";
import { viewAsProjector } from "./all_in_one.ts";
import { CHANNELS } from "../network/patch_grid.ts";

/** The image encoder of a file. */
export interface EncoderHeader {
  /** The file as a projector's: metadata under "clip.", names and shapes as encoders expect them. */
  readonly gguf: GgufFile;
  /** Such as "gemma3". */
  readonly projectorType: string;
}

/** Projectors whose files may have the two matrices swapped. */
const SWAPPED = new Set(["mlp", "gemma3", "idefics3", "qwen2.5vl_merger"]);

/** Reads what a file says of its image encoder. Errors: UnsupportedModelError where it has none. */
export function readEncoderHeader(file: GgufFile): EncoderHeader {
  const gguf = viewAsProjector(file, new MetadataReader(file)) ?? file;
  const metadata = new MetadataReader(gguf);
  const isProjector = metadata.optionalString("general.architecture", "") === "clip";
  if (!isProjector || !metadata.has("clip.vision.block_count")) {
    throw new UnsupportedModelError(`Cannot load "${gguf.path}": it has no image encoder`);
  }
  const projectorType = metadata.optionalString("clip.projector_type", "") ||
    metadata.optionalString("clip.vision.projector_type", "mlp");
  const tensors = new Map(gguf.tensors);
  flattenPatches(tensors);
  if (SWAPPED.has(projectorType)) {
    unswapFeedForward(tensors, metadata.count("clip.vision.embedding_length"));
  }
  return { gguf: { ...gguf, tensors }, projectorType };
}

/** A patch embedding is a convolution whose steps are its size: a matrix of whole patches. */
function flattenPatches(tensors: Map<string, TensorInfo>): void {
  for (const name of ["v.patch_embd.weight", "v.patch_embd.weight.1"]) {
    const tensor = tensors.get(name);
    if (tensor?.shape.length !== 4 || tensor.shape[2] !== CHANNELS) continue;
    const [width, height, channels, outputs] = tensor.shape;
    tensors.set(name, { ...tensor, shape: [width * height * channels, outputs] });
  }
}

/** Swaps ffn_up and ffn_down of blocks whose ffn_down reads the residual stream. */
function unswapFeedForward(tensors: Map<string, TensorInfo>, width: number): void {
  for (let block = 0; tensors.has(`v.blk.${block}.ffn_down.weight`); block++) {
    const [up, down] = [`v.blk.${block}.ffn_up`, `v.blk.${block}.ffn_down`];
    if (tensors.get(`${down}.weight`)!.shape[0] !== width) continue;
    for (const part of ["weight", "bias"]) {
      const [first, second] = [tensors.get(`${down}.${part}`), tensors.get(`${up}.${part}`)];
      if (first) tensors.set(`${up}.${part}`, { ...first, name: `${up}.${part}` });
      if (second) tensors.set(`${down}.${part}`, { ...second, name: `${down}.${part}` });
    }
  }
}
