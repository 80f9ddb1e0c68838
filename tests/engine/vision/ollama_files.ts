// Files as Ollama's converter makes them, with a decoder and its encoder, in its names and layouts: made
// from the fixtures of the conformance data, whose values hold for them too.

import { type GgufFile, readGguf, TensorReader } from "../../../engine/gguf/mod.ts";
import { DATA } from "../../conformance/logits.ts";
import { type PlainMetadata, type PlainValue, writeModelFile } from "../../model_file.ts";

/** A tensor whose bytes are in memory. */
interface Tensor {
  name: string;
  shape: readonly number[];
  type: string;
  bytes: Uint8Array;
}

/** How the files of a fixture become one. */
export interface Conversion {
  fixture: string;
  architecture: string;
  names: readonly (readonly [RegExp, string])[];
  /** Metadata below the architecture that the projector has elsewhere. */
  metadata?: PlainMetadata;
  /** What becomes of the decoder's metadata. */
  decoder?: (metadata: PlainMetadata) => PlainMetadata;
  /** What becomes of a tensor whose data is laid out in another way. */
  convert?: (tensor: Tensor, all: ReadonlyMap<string, Tensor>) => Tensor[];
}

const BLOCKS = [
  [/(blk\.\d+)\.attn_out\./, "$1.attn_output."],
  [/(blk\.\d+)\.ln1\./, "$1.attn_norm."],
  [/(blk\.\d+)\.ln2\./, "$1.ffn_norm."],
] as const;

/** Rows of whole heads, in another order within each head. */
function reorderRows(tensor: Tensor, heads: number, from: (row: number, size: number) => number) {
  const rows = tensor.shape[1];
  const [size, rowBytes] = [rows / heads, tensor.bytes.length / rows];
  const bytes = new Uint8Array(tensor.bytes.length);
  for (let row = 0; row < rows; row++) {
    const source = row - row % size + from(row % size, size);
    bytes.set(tensor.bytes.subarray(source * rowBytes, (source + 1) * rowBytes), row * rowBytes);
  }
  return { ...tensor, bytes };
}

/** Pairs (i, i + half) of what is stored as neighbours. */
function separatePairs(tensor: Tensor): Tensor[] {
  if (!/attn_[qk]\.weight/.test(tensor.name)) return [tensor];
  return [
    reorderRows(tensor, 4, (row, size) => 2 * (row % (size / 2)) + Math.floor(2 * row / size)),
  ];
}

/** The two frames' convolutions as one, and the parts of attn_qkv apart. */
function convertQwen3(tensor: Tensor, all: ReadonlyMap<string, Tensor>): Tensor[] {
  const { name, shape, bytes } = tensor;
  if (name === "v.patch_embd.weight.1") return [];
  if (name === "v.patch_embd.weight") {
    const [width, height, channels, outputs] = shape;
    const plane = bytes.length / channels / outputs;
    const joined = new Uint8Array(2 * bytes.length);
    for (const [frame, source] of [bytes, all.get(`${name}.1`)!.bytes].entries()) {
      for (let at = 0; at < channels * outputs; at++) {
        const part = source.subarray(at * plane, (at + 1) * plane);
        joined.set(part, (2 * at + frame) * plane);
      }
    }
    const joinedShape = [width, height, 2, channels * outputs];
    return [{ ...tensor, name: "v.patch_embed.weight", shape: joinedShape, bytes: joined }];
  }
  if (!name.includes("attn_qkv")) return [tensor];
  const size = bytes.length / 3;
  const partShape = [...shape.slice(0, -1), shape.at(-1)! / 3];
  return ["attn_q", "attn_k", "attn_v"].map((part, i) => ({
    ...tensor,
    name: name.replace("attn_qkv", part),
    shape: partShape,
    bytes: bytes.subarray(i * size, (i + 1) * size),
  }));
}

/** Sections of M-RoPE as they are in the original model. */
function renameSections(metadata: PlainMetadata, from: string, to: string): PlainMetadata {
  const { [`${from}.rope.dimension_sections`]: sections, ...others } = metadata;
  return {
    ...Object.fromEntries(
      Object.entries(others).map(([key, value]) => [key.replace(`${from}.`, `${to}.`), value]),
    ),
    [`${to}.rope.mrope_section`]: (sections as Int32Array).slice(0, 3),
  };
}

/** The fixtures, by the architecture of their decoder. */
export const CONVERSIONS: readonly Conversion[] = [
  {
    fixture: "gemma3",
    architecture: "gemma3",
    names: [
      [/^v\.patch_embd\./, "v.patch_embedding."],
      [/^v\.position_embd\./, "v.position_embedding."],
      [/^v\.post_ln\./, "v.post_layernorm."],
      [/\.ln([12])\./, ".layer_norm$1."],
      [/\.attn_out\./, ".attn_output."],
      [/\.ffn_up\./, ".mlp.fc1."],
      [/\.ffn_down\./, ".mlp.fc2."],
      [/^mm\./, "mm.mm_"],
    ],
    metadata: { "mm.tokens_per_image": 9 },
  },
  {
    fixture: "gemma4v",
    architecture: "gemma4",
    names: [],
    decoder: (metadata) => ({ ...metadata, "tokenizer.ggml.model": "llama" }),
  },
  {
    fixture: "mistral3",
    architecture: "mistral3",
    names: [
      [/^v\.patch_embd\./, "v.patch_conv."],
      [/^v\.pre_ln\./, "v.encoder_norm."],
      [/^mm\.([12])\./, "mm.linear_$1."],
      [/^mm\.patch_merger\./, "mm.patch_merger.merging_layer."],
      [/^mm\.input_norm\./, "mm.norm."],
      ...BLOCKS,
    ],
    metadata: {
      spatial_merge_size: 2,
      "tokenizer.ggml.tokens": ["<unk>", "[INST]", "[IMG_BREAK]", "a"],
    },
    convert(tensor) {
      if (tensor.name !== "v.token_embd.img_break") return separatePairs(tensor);
      const { length } = tensor.bytes;
      const bytes = new Uint8Array(4 * length);
      bytes.set(tensor.bytes, 2 * length);
      return [{ ...tensor, name: "token_embd.weight", shape: [tensor.shape[0], 4], bytes }];
    },
  },
  {
    fixture: "qwen25vl",
    architecture: "qwen25vl",
    names: [
      [/^v\.patch_embd\.weight$/, "v.patch_embd_0.weight"],
      [/^v\.patch_embd\.weight\.1$/, "v.patch_embd_1.weight"],
      [/^v\.post_ln\./, "v.merger.ln_q."],
      [/^mm\.([02])\./, "v.merger.mlp.$1."],
    ],
    metadata: { "vision.fullatt_block_indexes": Int32Array.of(1, 3) },
    decoder: (metadata) => renameSections(metadata, "qwen2vl", "qwen25vl"),
  },
  {
    fixture: "qwen3vl",
    architecture: "qwen3vl",
    names: [
      [/^v\.patch_embd\./, "v.patch_embed."],
      [/^v\.position_embd\./, "v.pos_embed."],
      [/^v\.post_ln\./, "v.merger.norm."],
      [/^mm\.0\./, "v.merger.linear_fc1."],
      [/^mm\.2\./, "v.merger.linear_fc2."],
      [/^v\.deepstack\.1\./, "v.deepstack_merger.0."],
      [/^v\.deepstack\.2\./, "v.deepstack_merger.1."],
      [/\.fc([12])\./, ".linear_fc$1."],
      [/\.ln([12])\./, ".norm$1."],
      [/\.ffn_up\./, ".mlp.linear_fc1."],
      [/\.ffn_down\./, ".mlp.linear_fc2."],
    ],
    metadata: {
      "vision.deepstack_visual_indexes": Int32Array.of(1, 2),
      // As where the original model says nothing of them.
      "vision.image_mean": new Float32Array(0),
      "vision.image_std": new Float32Array(0),
    },
    decoder({ "qwen3vl.n_deepstack_layers": _, ...metadata }) {
      return renameSections(metadata, "qwen3vl", "qwen3vl");
    },
    convert: convertQwen3,
  },
  {
    fixture: "llama4",
    architecture: "llama4",
    names: [
      [/^v\.patch_embd\./, "v.patch_embedding."],
      [/^v\.class_embd$/, "v.class_embedding"],
      [/^v\.position_embd\.weight$/, "v.positional_embedding_vlm"],
      [/^v\.p(re|ost)_ln\./, "v.layernorm_p$1."],
      [/\.ffn_up\./, ".mlp.fc1."],
      [/\.ffn_down\./, ".mlp.fc2."],
      [/^mm\.model\.mlp\.([12])\./, "v.vision_adapter.mlp.fc$1."],
      [/^mm\.model\.fc\./, "mm.linear_1."],
      ...BLOCKS,
    ],
    metadata: { "vision.layer_norm_epsilon": 1e-5, "vision.pixel_shuffle_ratio": 0.5 },
  },
];

/** Keys that such files do not have below `vision`, or not at all. */
const OMITTED =
  /image_(mean|std)|projection_dim|n_wa_pattern|is_deepstack|projector\.|spatial_merge_size$/;

/** The tensors of a file, with their data. */
async function readTensors(gguf: GgufFile): Promise<Tensor[]> {
  using reader = await TensorReader.open(gguf);
  return [...gguf.tensors.values()].map(({ name, shape, typeName: type, ...tensor }) => {
    const bytes = new Uint8Array(tensor.byteLength);
    reader.read({ name, shape, typeName: type, ...tensor }, 0, bytes);
    return { name, shape, type, bytes };
  });
}

/** Writes a fixture's projector as it would be in a file with its decoder, alone or with that. */
export async function writeAllInOne(
  { fixture, architecture, names, metadata = {}, decoder, convert }: Conversion,
  { withDecoder = false } = {},
): Promise<string> {
  const open = (file: string) => readGguf(new URL(`vision/${fixture}/${file}.gguf`, DATA));
  const projector = await open("mmproj");
  const all = new Map((await readTensors(projector)).map((tensor) => [tensor.name, tensor]));
  const converted = [...all.values()].flatMap((tensor) => convert?.(tensor, all) ?? [tensor]);
  const renamed = converted.map((tensor) => ({
    ...tensor,
    name: names.reduce((name, [pattern, other]) => name.replace(pattern, other), tensor.name),
  }));
  const text = withDecoder ? await open("text") : undefined;
  const tensors = [...text ? await readTensors(text) : [], ...renamed];
  const own = Object.entries(projector.metadata)
    .filter(([key]) => key.startsWith("clip.vision.") && !OMITTED.test(key))
    .map(([key, value]) => [key.replace("clip", architecture), value]);
  const more = Object.entries(metadata).map(([key, value]) => [
    key.startsWith("tokenizer") ? key : `${architecture}.${key}`,
    value,
  ]);
  const before = (text?.metadata ?? {}) as PlainMetadata;
  return await writeModelFile(
    {
      ...decoder && text ? decoder(before) : before,
      ...Object.fromEntries<PlainValue>([...own, ...more] as [string, PlainValue][]),
      "general.architecture": architecture,
    },
    tensors.map(({ bytes, ...tensor }) => ({ ...tensor, data: () => [bytes] })),
  );
}
