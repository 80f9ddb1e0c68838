// Finds the image encoder in a GGUF file, a projector of its own (architecture "clip") or one with
// the decoder, and gives its tensors the names and shapes that the encoders here are written with:
// those of llama.cpp's converter today. Older files have the two matrices of a block swapped.

import { UnsupportedModelError } from "../errors.ts";
import { type GgufFile, MetadataReader, type TensorInfo } from "../gguf/mod.ts";

/** The image encoder of a file. */
export interface EncoderHeader {
  /** The file with the names and shapes that encoders expect. */
  readonly gguf: GgufFile;
  /** What the encoder's metadata begins with, such as "clip.vision". */
  readonly prefix: string;
  /** Such as "gemma3". */
  readonly projectorType: string;
}

/** Projectors whose files may have the two matrices swapped. */
const SWAPPED = new Set(["mlp", "gemma3", "idefics3", "qwen2.5vl_merger"]);

/** Projectors of files that hold decoder and encoder, by their architecture. */
const PROJECTORS: Record<string, string> = {
  gemma3: "gemma3",
  gemma4: "gemma4v",
  llama4: "llama4",
  mistral3: "pixtral",
  qwen25vl: "qwen2.5vl_merger",
  qwen3vl: "qwen3vl_merger",
  qwen3vlmoe: "qwen3vl_merger",
};

/** Reads what a file says of its image encoder. Errors: UnsupportedModelError where it has none. */
export function readEncoderHeader(gguf: GgufFile): EncoderHeader {
  const metadata = new MetadataReader(gguf);
  const architecture = metadata.optionalString("general.architecture", "");
  const projectorType = architecture === "clip"
    ? metadata.optionalString("clip.projector_type", "") ||
      metadata.optionalString("clip.vision.projector_type", "mlp")
    : PROJECTORS[architecture];
  const prefix = `${architecture}.vision`;
  if (projectorType === undefined || !metadata.has(`${prefix}.block_count`)) {
    throw new UnsupportedModelError(`Cannot load "${gguf.path}": it has no image encoder`);
  }
  const tensors = new Map<string, TensorInfo>();
  for (const tensor of gguf.tensors.values()) {
    const named = { ...tensor, name: currentName(tensor.name) };
    tensors.set(named.name, named);
  }
  flattenPatches(tensors);
  if (SWAPPED.has(projectorType)) {
    unswapFeedForward(tensors, metadata.count(`${prefix}.embedding_length`));
  }
  return { gguf: { ...gguf, tensors }, prefix, projectorType };
}

/** A patch embedding is a convolution whose steps are its size: a matrix of whole patches. */
function flattenPatches(tensors: Map<string, TensorInfo>): void {
  for (const name of ["v.patch_embd.weight", "v.patch_embd.weight.1"]) {
    const tensor = tensors.get(name);
    if (tensor?.shape.length !== 4) continue;
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

/** Names of other converters, and what they are called here. */
const RENAMED: readonly (readonly [RegExp, string])[] = [
  [/^v\.patch_embedding\./, "v.patch_embd."],
  [/^v\.patch_embd_0\./, "v.patch_embd."],
  [/^v\.patch_embd_1\.weight$/, "v.patch_embd.weight.1"],
  [/^v\.position_embedding\./, "v.position_embd."],
  [/^v\.post_layernorm\./, "v.post_ln."],
  [/^(v\.blk\.\d+\.)layer_norm([12])\./, "$1ln$2."],
  [/^(v\.blk\.\d+\.)attn_norm\./, "$1ln1."],
  [/^(v\.blk\.\d+\.)ffn_norm\./, "$1ln2."],
  [/^(v\.blk\.\d+\.)attn_output\./, "$1attn_out."],
  [/^(v\.blk\.\d+\.)mlp\.fc1\./, "$1ffn_up."],
  [/^(v\.blk\.\d+\.)mlp\.fc2\./, "$1ffn_down."],
  [/^mm\.mm_/, "mm."],
];

function currentName(name: string): string {
  return RENAMED.reduce((renamed, [pattern, current]) => renamed.replace(pattern, current), name);
}
