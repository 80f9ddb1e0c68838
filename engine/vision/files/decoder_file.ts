// The decoders of vision models as Ollama's converter made them: what is called otherwise than
// llama.cpp's converter does, or is left out, is put in where it is missing. The names follow from
// convert/convert_*.go of Ollama and what its model/models read; the architecture keeps its own.

import {
  type GgufFile,
  MetadataReader,
  type MetadataValue,
  type TensorInfo,
} from "../../gguf/mod.ts";

/** What files of an architecture have otherwise. Keys are below that of the architecture. */
interface Decoder {
  /** Keys, and where their values are if they are missing: the first that is there. */
  readonly keys?: Readonly<Record<string, readonly string[]>>;
  /** What else follows from the file where it is missing. */
  readonly more?: (metadata: MetadataReader, name: string) => Record<string, MetadataValue>;
  /** Of the vocabulary, in place of what is there. */
  readonly tokenizer?: (gguf: GgufFile) => Record<string, MetadataValue>;
  /** Ends of tensors' names. */
  readonly tensors?: readonly (readonly [pattern: RegExp, name: string])[];
}

const SECTIONS = { "rope.dimension_sections": ["rope.mrope_section", "mrope_sections"] };

const QWEN3_VL: Decoder = {
  keys: SECTIONS,
  more: (metadata, name) => ({
    "rope.dimension_sections": Int32Array.of(24, 20, 20, 0),
    n_deepstack_layers:
      metadata.optionalNumbers(`${name}.vision.deepstack_visual_indexes`, []).length,
  }),
};

const QWEN3_5: Decoder = { keys: SECTIONS, tensors: [[/\.ssm_dt$/, ".ssm_dt.bias"]] };

const DECODERS: Readonly<Record<string, Decoder>> = {
  gemma3: { tokenizer: trimVocabulary },
  gemma4: {
    tokenizer: ({ metadata }): Record<string, MetadataValue> =>
      metadata["tokenizer.ggml.model"] === "llama" ? { "tokenizer.ggml.model": "gemma4" } : {},
    tensors: [[/\.ffn_gate_inp\.per_expert_scale$/, ".ffn_down_exps.scale"]],
  },
  mistral3: {
    keys: {
      "rope.scaling.yarn_beta_fast": ["rope.scaling.beta_fast"],
      "rope.scaling.yarn_beta_slow": ["rope.scaling.beta_slow"],
      "rope.scaling.yarn_log_multiplier": ["rope.scaling.mscale_all_dim"],
      "attention.temperature_scale": ["rope.scaling_beta"],
    },
    tokenizer: ({ metadata }): Record<string, MetadataValue> => {
      const { "tokenizer.ggml.pre": rule = "default" } = metadata;
      return rule === "default" && "mistral3.vision.block_count" in metadata
        ? { "tokenizer.ggml.pre": "tekken" }
        : {};
    },
  },
  qwen25vl: { keys: SECTIONS },
  qwen3vl: QWEN3_VL,
  qwen3vlmoe: QWEN3_VL,
  qwen35: QWEN3_5,
  qwen35moe: QWEN3_5,
};

/** A file with its decoder's keys and tensors under the names that are read here. */
export function viewAsDecoder(gguf: GgufFile): GgufFile {
  const reader = new MetadataReader(gguf);
  const name = reader.optionalString("general.architecture", "");
  if (!Object.hasOwn(DECODERS, name)) return gguf;
  const { keys = {}, more, tokenizer, tensors = [] } = DECODERS[name];
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

/** Sections of M-RoPE, of which those of time, height and width may be all that is there. */
function four(sections: MetadataValue): MetadataValue {
  return typeof sections === "object"
    ? Int32Array.from({ length: 4 }, (_, i) => Number(sections[i] ?? 0))
    : sections;
}

function named(tensor: TensorInfo, names: Decoder["tensors"] = []): [string, TensorInfo] {
  const name = names.reduce((name, [pattern, other]) => name.replace(pattern, other), tensor.name);
  return [name, { ...tensor, name }];
}

/** Tokens without an embedding that a vocabulary may have at its end. */
const MOST_SURPLUS = 16;

/** The vocabulary may have tokens that stand for images and have no embedding. */
function trimVocabulary({ metadata, tensors }: GgufFile): Record<string, MetadataValue> {
  const size = tensors.get("token_embd.weight")?.shape[1];
  const tokens = metadata["tokenizer.ggml.tokens"];
  const surplus = typeof tokens === "object" && size !== undefined ? tokens.length - size : 0;
  if (surplus > MOST_SURPLUS) return {};
  const lists = ["tokens", "scores", "token_type"].map((list) => `tokenizer.ggml.${list}`);
  return Object.fromEntries(
    lists.filter((key) => typeof metadata[key] === "object")
      .map((key) => [key, (metadata[key] as MetadataValue[]).slice(0, size)]),
  );
}
