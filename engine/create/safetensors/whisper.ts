// Whisper (Radford et al. 2022) from Hugging Face's names and numbers to GGUF's. No other program has
// such files, so the names are those of T5 in GGUF, which is an encoder with a decoder as well, and of
// the audio encoders there.

import { ConversionError } from "../../errors.ts";
import type { WritableMetadata, WritableTensor } from "../../gguf/mod.ts";
import { isCount, type Settings } from "./settings.ts";
import type { StoredModel, StoredTensor } from "./stored_model.ts";

/** The name of the architecture in config.json. */
const WHISPER = "WhisperForConditionalGeneration";

const EMBEDDING = "model.decoder.embed_tokens";

const TOP: Readonly<Record<string, string>> = {
  "model.encoder.conv1": "enc.conv1d.1",
  "model.encoder.conv2": "enc.conv1d.2",
  "model.encoder.embed_positions": "enc.position_embd",
  "model.encoder.layer_norm": "enc.output_norm",
  [EMBEDDING]: "token_embd",
  "model.decoder.embed_positions": "dec.position_embd",
  "model.decoder.layer_norm": "dec.output_norm",
};

const LAYER: Readonly<Record<string, string>> = {
  "self_attn_layer_norm": "attn_norm",
  "self_attn.q_proj": "attn_q",
  "self_attn.k_proj": "attn_k",
  "self_attn.v_proj": "attn_v",
  "self_attn.out_proj": "attn_output",
  "encoder_attn_layer_norm": "cross_attn_norm",
  "encoder_attn.q_proj": "cross_attn_q",
  "encoder_attn.k_proj": "cross_attn_k",
  "encoder_attn.v_proj": "cross_attn_v",
  "encoder_attn.out_proj": "cross_attn_output",
  "final_layer_norm": "ffn_norm",
  "fc1": "ffn_up",
  "fc2": "ffn_down",
};

/** The head, which is the table of tokens. */
const HEAD = "proj_out.weight";

/** Whether a folder has a Whisper. */
export function isWhisper(config: Settings): boolean {
  return config.list("architectures")[0] === WHISPER;
}

/** The name in GGUF; undefined if Whisper has no such tensor. */
export function whisperName(name: string): string | undefined {
  const [, path, kind] = /^(.+)\.(weight|bias)$/.exec(name) ?? [];
  if (path === undefined) return undefined;
  if (Object.hasOwn(TOP, path)) return `${TOP[path]}.${kind}`;
  const [, side, layer, part] = /^model\.(en|de)coder\.layers\.(\d+)\.(.+)$/.exec(path) ?? [];
  return part !== undefined && Object.hasOwn(LAYER, part)
    ? `${side}c.blk.${Number(layer)}.${LAYER[part]}.${kind}`
    : undefined;
}

/** The tensors that GGUF has, too. Errors: ConversionError if the table of tokens is missing. */
export function whisperTensors(
  folder: string,
  { tensors }: StoredModel,
): { stored: StoredTensor[]; size: number } {
  const table = tensors.get(`${EMBEDDING}.weight`);
  if (!table) {
    throw new ConversionError(folder, `tensor "${EMBEDDING}.weight"`, "it is in none of the files");
  }
  const stored = [...tensors.values()].filter(({ name }) => name !== HEAD);
  return { stored, size: table.shape[0] };
}

/**
 * Biases of zero for the keys, which have none: so all products of a layer's input have biases, and
 * are one product.
 */
export function zeroBiases(stored: readonly StoredTensor[]): WritableTensor[] {
  return stored.flatMap(({ name, shape: [rows] }) => {
    const named = whisperName(name);
    if (!named?.endsWith("attn_k.weight")) return [];
    const bytes = new Uint8Array(rows * 4);
    return [{
      name: named.replace(/weight$/, "bias"),
      shape: [rows],
      type: "F32",
      data: () => [bytes],
    }];
  });
}

/**
 * The keys of the architecture.
 *
 * @param generation generation_config.json, where newer folders have the lists of tokens
 * @throws {ConversionError} for a key that is missing or has another type
 */
export function whisperMetadata(
  config: Settings,
  generation: Settings | undefined,
): WritableMetadata {
  const activation = config.string("activation_function", "gelu");
  if (activation !== "gelu") {
    throw config.error("activation_function", `it is ${activation}, and Whisper has gelu`);
  }
  const count = (key: string) => ({ uint32: config.count(key) });
  const heads = config.count("encoder_attention_heads");
  if (config.count("decoder_attention_heads") !== heads) {
    throw config.error("decoder_attention_heads", "encoder and decoder have different numbers");
  }
  const tokens = (key: string) =>
    Uint32Array.from(idsOf(generation?.has(key) ? generation : config, key));
  const alignment = Uint32Array.from(
    generation?.list("alignment_heads").flat().filter(isCount) ?? [],
  );
  const keys: WritableMetadata = {
    "block_count": count("encoder_layers"),
    "decoder_block_count": count("decoder_layers"),
    "context_length": count("max_target_positions"),
    "encoder.context_length": count("max_source_positions"),
    "embedding_length": count("d_model"),
    "feed_forward_length": count("encoder_ffn_dim"),
    "attention.head_count": { uint32: heads },
    "attention.layer_norm_epsilon": { float32: 1e-5 },
    "mel_bins": count("num_mel_bins"),
    // Models of English alone lack one of the languages' tokens.
    "multilingual": generation?.boolean("is_multilingual", null) ??
      config.count("vocab_size") >= 51_865,
    "suppress_tokens": tokens("suppress_tokens"),
    "begin_suppress_tokens": tokens("begin_suppress_tokens"),
    ...(alignment.length > 0 && { "alignment_heads": alignment }),
  };
  return Object.fromEntries(Object.entries(keys).map(([key, value]) => [`whisper.${key}`, value]));
}

/** A list of tokens. */
function idsOf(config: Settings, key: string): number[] {
  return config.list(key).map((id, index) => {
    if (isCount(id)) return id;
    throw config.error(`${key}[${index}]`, "it is not the id of a token");
  });
}
