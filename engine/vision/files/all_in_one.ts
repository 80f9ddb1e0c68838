// Files that hold decoder and encoder, as Ollama's converter made them: the encoder's metadata is
// `<architecture>.vision.*` and its tensors have other names. Seen through here they are what a
// projector's file is. The names follow from convert/convert_*.go of Ollama.

import type { GgufFile, MetadataReader, MetadataValue, TensorInfo } from "../../gguf/mod.ts";

/** What differs between architectures. */
interface Architecture {
  readonly projectorType: string;
  /** The flag of the blocks' activation, if there is one. */
  readonly flag?: "use_gelu" | "use_silu";
  readonly mean: readonly number[];
  readonly std: readonly number[];
  /** Keys below "clip.vision." that the file has elsewhere or not at all. */
  readonly keys?: (metadata: MetadataReader, gguf: GgufFile) => Record<string, MetadataValue>;
  readonly names?: readonly Renaming[];
}

type Renaming = readonly [pattern: RegExp, name: string];

const HALVES = { mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] };
const CLIP = {
  mean: [0.48145466, 0.4578275, 0.40821073],
  std: [0.26862954, 0.26130258, 0.27577711],
};

const QWEN3: Architecture = {
  projectorType: "qwen3vl_merger",
  flag: "use_gelu",
  ...HALVES,
  keys: (metadata, { metadata: { "general.architecture": architecture }, tensors }) => {
    const table = tensors.get("v.pos_embed.weight") ?? tensors.get("v.position_embd.weight");
    const [, positions = 0] = table?.shape ?? [];
    const patch = metadata.optionalCount(`${architecture}.vision.patch_size`, 16);
    return { image_size: Math.sqrt(positions) * patch };
  },
};

const ARCHITECTURES: Record<string, Architecture> = {
  gemma3: {
    projectorType: "gemma3",
    flag: "use_gelu",
    ...HALVES,
    keys: (metadata) => {
      const tokens = metadata.optionalCount("gemma3.mm.tokens_per_image", 256);
      const [image, patch] = ["image_size", "patch_size"].map((key) =>
        metadata.count(`gemma3.vision.${key}`)
      );
      return { "projector.scale_factor": Math.floor(image / patch / Math.sqrt(tokens)) };
    },
  },
  gemma4: {
    projectorType: "gemma4v",
    mean: [0, 0, 0],
    std: [1, 1, 1],
    keys: () => ({ image_size: 224 }),
  },
  llama4: {
    projectorType: "llama4",
    flag: "use_gelu",
    ...HALVES,
    keys: (metadata) => ({
      "attention.layer_norm_epsilon": metadata.optionalNumber(
        "llama4.vision.layer_norm_epsilon",
        1e-5,
      ),
      "projector.scale_factor": Math.round(
        1 / metadata.optionalNumber("llama4.vision.pixel_shuffle_ratio", 0.5),
      ),
    }),
    names: [[/^mm\.linear_1\./, "mm.model.fc."]],
  },
  mistral3: {
    projectorType: "pixtral",
    flag: "use_silu",
    ...CLIP,
    keys: (metadata) => ({
      "attention.layer_norm_epsilon": 1e-5,
      spatial_merge_size: metadata.optionalCount("mistral3.spatial_merge_size", 2),
      // Queries and keys are as in the original model, where others reorder them.
      "rope.pairs": "half",
    }),
    names: [[/^mm\.linear_([12])\./, "mm.$1."]],
  },
  qwen25vl: {
    projectorType: "qwen2.5vl_merger",
    flag: "use_silu",
    ...CLIP,
    keys: () => ({ image_size: 560, n_wa_pattern: 8 }),
  },
  qwen35: QWEN3,
  qwen35moe: QWEN3,
  qwen3vl: QWEN3,
  qwen3vlmoe: QWEN3,
};

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

/** The encoder in a file as a projector's file has it; undefined where there is none known. */
export function viewAsProjector(gguf: GgufFile, metadata: MetadataReader): GgufFile | undefined {
  const name = metadata.optionalString("general.architecture", "");
  const prefix = `${name}.vision.`;
  if (!Object.hasOwn(ARCHITECTURES, name) || !metadata.has(`${prefix}block_count`)) {
    return undefined;
  }
  const { projectorType, flag, mean, std, keys, names = [] } = ARCHITECTURES[name];
  // What the original model did not say is an empty list.
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
    "clip.projector_type": projectorType,
    ...(flag ? { [`clip.${flag}`]: true } : {}),
  };
  const deepLayers = metadata.optionalNumbers(`${prefix}deepstack_visual_indexes`, []);
  const tensors = new Map<string, TensorInfo>();
  for (const tensor of gguf.tensors.values()) {
    if (!/^(?:v|mm)\./.test(tensor.name)) continue;
    const renamed = renameDeepLayer([...names, ...NAMES].reduce(rename, tensor.name), deepLayers);
    tensors.set(renamed, { ...tensor, name: renamed });
  }
  const lineBreak = projectorType === "pixtral" ? breakEmbedding(gguf, metadata) : undefined;
  if (lineBreak) tensors.set(lineBreak.name, lineBreak);
  return { ...gguf, metadata: view, tensors };
}

function rename(name: string, [pattern, current]: Renaming): string {
  return name.replace(pattern, current);
}

/** Mergers for early layers of the decoder are counted; here they have the number of their block. */
function renameDeepLayer(name: string, layers: readonly number[]): string {
  const match = /^v\.deepstack(?:_merger)?\.(\d+)\.(?:linear_)?(\w+\.\w+)$/.exec(name);
  if (!match) return name;
  return `v.deepstack.${layers[Number(match[1])]}.${match[2]}`;
}

/** The token that ends a row of an image is one of the decoder's. */
function breakEmbedding(gguf: GgufFile, metadata: MetadataReader): TensorInfo | undefined {
  const table = gguf.tensors.get("token_embd.weight");
  const tokens = metadata.optionalStrings<readonly string[]>("tokenizer.ggml.tokens", []);
  const token = tokens.indexOf("[IMG_BREAK]");
  if (!table || token < 0) return undefined;
  const byteLength = table.byteLength / table.shape[1];
  const offset = table.offset + token * byteLength;
  return { ...table, name: "v.token_embd.img_break", shape: [table.shape[0]], byteLength, offset };
}
