// The image encoder in a GGUF file: a projector of its own (architecture "clip"), or one beside a
// decoder, as Ollama's converter makes them. The result has the names and shapes of tensors that
// the families expect, those of llama.cpp's current converter, and metadata under "clip.".

import { UnsupportedModelError } from "../../errors.ts";
import {
  type GgufFile,
  MetadataReader,
  type MetadataValue,
  type TensorInfo,
} from "../../gguf/mod.ts";
import { familyOf, familyOfDecoder } from "../families/mod.ts";
import type { Renaming, VisionFamily } from "../network/family.ts";
import { CHANNELS } from "../network/patch_grid.ts";

/** The image encoder of a file. */
export interface EncoderHeader {
  /** The file, viewed as that of a projector. */
  readonly gguf: GgufFile;
  readonly family: VisionFamily;
}

/** Whether a projector's file has an image encoder, of whatever family. */
export function hasImageEncoder(gguf: GgufFile): boolean {
  return new MetadataReader(gguf).has("clip.vision.block_count");
}

/**
 * Reads what a file tells about its image encoder.
 *
 * @throws {UnsupportedModelError} if it has none, or none that is supported
 */
export function readEncoderHeader(file: GgufFile): EncoderHeader {
  const gguf = viewAsProjector(file, new MetadataReader(file)) ?? file;
  const metadata = new MetadataReader(gguf);
  const isProjector = metadata.optionalString("general.architecture", "") === "clip";
  if (!isProjector || !metadata.has("clip.vision.block_count")) {
    throw new UnsupportedModelError(`Cannot load "${gguf.path}": it has no image encoder`);
  }
  const family = familyOf(metadata, gguf.path);
  const tensors = new Map(gguf.tensors);
  const namesInFile = new Map(gguf.namesInFile);
  flattenPatches(tensors);
  if (family.mayBeSwapped) {
    const width = metadata.count("clip.vision.embedding_length");
    unswapFeedForward(tensors, namesInFile, width);
  }
  return { gguf: { ...gguf, tensors, namesInFile }, family };
}

/**
 * A patch embedding is a convolution whose stride is its size, so it is a matrix of whole patches.
 */
function flattenPatches(tensors: Map<string, TensorInfo>): void {
  for (const name of ["v.patch_embd.weight", "v.patch_embd.weight.1"]) {
    const tensor = tensors.get(name);
    if (tensor?.shape.length !== 4 || tensor.shape[2] !== CHANNELS) continue;
    const [width, height, channels, outputs] = tensor.shape;
    tensors.set(name, { ...tensor, shape: [width * height * channels, outputs] });
  }
}

/**
 * Swaps ffn_up and ffn_down of blocks in which ffn_down has the width of the residual stream as
 * input.
 */
function unswapFeedForward(
  tensors: Map<string, TensorInfo>,
  namesInFile: Map<string, string>,
  width: number,
): void {
  for (let block = 0; tensors.has(`v.blk.${block}.ffn_down.weight`); block++) {
    const [up, down] = [`v.blk.${block}.ffn_up`, `v.blk.${block}.ffn_down`];
    if (tensors.get(`${down}.weight`)!.shape[0] !== width) continue;
    for (const part of ["weight", "bias"]) {
      const names = [`${up}.${part}`, `${down}.${part}`] as const;
      const [atUp, atDown] = names.map((name) => tensors.get(name));
      for (
        const [name, tensor, inFile] of [[names[0], atDown, names[1]], [
          names[1],
          atUp,
          names[0],
        ]] as const
      ) {
        if (tensor) tensors.set(name, { ...tensor, name });
        else tensors.delete(name);
        namesInFile.set(name, inFile);
      }
    }
  }
}

/** Names in files of Ollama's converter that several families have. */
const NAMES: readonly Renaming[] = [
  [/^v\.patch_(?:embedding|embed|conv|embd_0)\./, "v.patch_embd."],
  [/^v\.patch_embd_1\.weight$/, "v.patch_embd.weight.1"],
  [/^v\.(?:position_embedding|pos_embed)\./, "v.position_embd."],
  [/^v\.positional_embedding_vlm$/, "v.position_embd.weight"],
  [/^v\.class_embedding$/, "v.class_embd"],
  [/^v\.(?:encoder_norm|layernorm_pre)\./, "v.pre_ln."],
  [/^v\.(?:post_layernorm|layernorm_post|merger\.norm|merger\.ln_q)\./, "v.post_ln."],
  [/^(v\.blk\.\d+\.)(?:layer_norm1|attn_norm|norm1)\./, "$1ln1."],
  [/^(v\.blk\.\d+\.)(?:layer_norm2|ffn_norm|norm2)\./, "$1ln2."],
  [/^(v\.blk\.\d+\.)attn_output\./, "$1attn_out."],
  [/^(v\.blk\.\d+\.)mlp\.(?:linear_)?fc1\./, "$1ffn_up."],
  [/^(v\.blk\.\d+\.)mlp\.(?:linear_)?fc2\./, "$1ffn_down."],
  [/^v\.merger\.(?:linear_fc1|mlp\.0)\./, "mm.0."],
  [/^v\.merger\.(?:linear_fc2|mlp\.2)\./, "mm.2."],
  [/^v\.vision_adapter\.mlp\.fc([12])\./, "mm.model.mlp.$1."],
  [/^mm\.mm_/, "mm."],
  [/^mm\.norm\./, "mm.input_norm."],
  [/^mm\.patch_merger\.merging_layer\./, "mm.patch_merger."],
];

/** The encoder beside a decoder, viewed as a projector's file; undefined if no family knows it. */
function viewAsProjector(gguf: GgufFile, metadata: MetadataReader): GgufFile | undefined {
  const name = metadata.optionalString("general.architecture", "");
  const prefix = `${name}.vision.`;
  const found = familyOfDecoder(name);
  if (!found?.file.encoder || !metadata.has(`${prefix}block_count`)) return undefined;
  const { flag, mean, std, keys, names = [], tensors: more } = found.file.encoder;
  // Values that the original model lacks are empty lists.
  const isSaid = (value: MetadataValue) => typeof value !== "object" || value.length > 0;
  const own = Object.entries(gguf.metadata)
    .filter(([key, value]) => key.startsWith(prefix) && isSaid(value))
    .map(([key, value]) => [`clip.vision.${key.slice(prefix.length)}`, value]);
  const added = { image_mean: Float32Array.from(mean), image_std: Float32Array.from(std) };
  const defaults = Object.entries({ ...added, ...keys?.(metadata, gguf) })
    .map(([key, value]) => [`clip.vision.${key}`, value]);
  const view: Record<string, MetadataValue> = {
    ...gguf.metadata,
    ...Object.fromEntries([...defaults, ...own]),
    "general.architecture": "clip",
    "clip.projector_type": found.family.projector,
    ...(flag ? { [`clip.${flag}`]: true } : {}),
  };
  const deepLayers = metadata.optionalNumbers(`${prefix}deepstack_visual_indexes`, []);
  const tensors = new Map<string, TensorInfo>();
  const namesInFile = new Map<string, string>();
  for (const tensor of gguf.tensors.values()) {
    if (!/^(?:v|mm)\./.test(tensor.name)) continue;
    const renamed = renameDeepLayer([...names, ...NAMES].reduce(rename, tensor.name), deepLayers);
    tensors.set(renamed, { ...tensor, name: renamed });
    if (renamed !== tensor.name) namesInFile.set(renamed, tensor.name);
  }
  for (const tensor of more?.(metadata, gguf) ?? []) tensors.set(tensor.name, tensor);
  return { ...gguf, metadata: view, tensors, namesInFile };
}

function rename(name: string, [pattern, current]: Renaming): string {
  return name.replace(pattern, current);
}

/**
 * Files number the mergers for early layers of the decoder consecutively. Here each has the number
 * of its block.
 */
function renameDeepLayer(name: string, layers: readonly number[]): string {
  const match = /^v\.deepstack(?:_merger)?\.(\d+)\.(?:linear_)?(\w+\.\w+)$/.exec(name);
  if (!match) return name;
  return `v.deepstack.${layers[Number(match[1])]}.${match[2]}`;
}

// The decoders of vision models in files of Ollama's converter: keys and tensors that llama.cpp's
// converter names differently, or that are missing, are added. Each family tells what that is for
// its architectures.

/** A file with its decoder's keys and tensors under the names that architectures expect. */
export function viewAsDecoder(gguf: GgufFile): GgufFile {
  const reader = new MetadataReader(gguf);
  const name = reader.optionalString("general.architecture", "");
  const decoder = familyOfDecoder(name)?.file.decoder;
  if (!decoder) return gguf;
  const { keys = {}, more, tokenizer, tensors = [] } = decoder;
  const found = Object.entries(keys).flatMap(([key, others]) => {
    const value = others.map((other) => gguf.metadata[`${name}.${other}`])
      .find((value) => value !== undefined);
    return value === undefined ? [] : [[key, key.endsWith("_sections") ? four(value) : value]];
  });
  const missing = Object.entries({ ...more?.(reader, name), ...Object.fromEntries(found) })
    .map(([key, value]) => [`${name}.${key}`, value]);
  return {
    ...gguf,
    metadata: { ...Object.fromEntries(missing), ...gguf.metadata, ...tokenizer?.(gguf) },
    tensors: new Map(gguf.tensors.values().map((tensor) => named(tensor, tensors))),
  };
}

/** The sections of M-RoPE. Some files have only those of time, height and width. */
function four(sections: MetadataValue): MetadataValue {
  return typeof sections === "object"
    ? Int32Array.from({ length: 4 }, (_, i) => Number(sections[i] ?? 0))
    : sections;
}

function named(tensor: TensorInfo, names: readonly Renaming[]): [string, TensorInfo] {
  const name = names.reduce((name, [pattern, other]) => name.replace(pattern, other), tensor.name);
  return [name, { ...tensor, name }];
}
