// The names of Transformers' tensors in GGUF, and the reverse. convert_safetensors.ts converts their data.

import type { Architecture } from "./architecture.ts";

const TOP: Readonly<Record<string, string>> = {
  "model.embed_tokens": "token_embd",
  "model.norm": "output_norm",
  "lm_head": "output",
};

const LAYER: Readonly<Record<string, string>> = {
  "input_layernorm": "attn_norm",
  "self_attn.q_proj": "attn_q",
  "self_attn.k_proj": "attn_k",
  "self_attn.v_proj": "attn_v",
  "self_attn.o_proj": "attn_output",
  "self_attn.q_norm": "attn_q_norm",
  "self_attn.k_norm": "attn_k_norm",
  "post_attention_layernorm": "ffn_norm",
  "mlp.gate_proj": "ffn_gate",
  "mlp.up_proj": "ffn_up",
  "mlp.down_proj": "ffn_down",
};

/** The names of norms in architectures that have norms after blocks. */
const LAYER_WITH_POST_NORMS: Readonly<Record<string, string>> = {
  ...LAYER,
  "post_attention_layernorm": "post_attention_norm",
  "pre_feedforward_layernorm": "ffn_norm",
  "post_feedforward_layernorm": "post_ffw_norm",
};

/** Tables in old files that follow from config.json. */
const SUPERFLUOUS = /\.(rotary_emb\.inv_freq|attention\.(masked_)?bias)$/;

/** Whether GGUF lacks a tensor because it follows from others. */
export function isSuperfluous(name: string): boolean {
  return SUPERFLUOUS.test(name);
}

/** The name in GGUF; undefined if the architecture has no such tensor. */
export function ggufName(name: string, architecture: Architecture): string | undefined {
  const [, path, kind] = /^(.+)\.(weight|bias)$/.exec(name) ?? [];
  if (path === undefined) return undefined;
  if (Object.hasOwn(TOP, path)) return `${TOP[path]}.${kind}`;
  const [, layer, part] = /^model\.layers\.(\d+)\.(.+)$/.exec(path) ?? [];
  const table = architecture.hasPostNorms ? LAYER_WITH_POST_NORMS : LAYER;
  return part !== undefined && Object.hasOwn(table, part)
    ? `blk.${Number(layer)}.${table[part]}.${kind}`
    : undefined;
}

/**
 * The name in Transformers of a GGUF tensor, for architectures without norms after blocks;
 * undefined if there is none.
 */
export function storedName(name: string): string | undefined {
  const [, layer, part, kind] = /^(?:blk\.(\d+)\.)?(\w+)\.(weight|bias)$/.exec(name) ?? [];
  const table = Object.entries(layer === undefined ? TOP : LAYER);
  const path = table.find(([, own]) => own === part)?.[0];
  if (path === undefined) return undefined;
  return layer === undefined ? `${path}.${kind}` : `model.layers.${layer}.${path}.${kind}`;
}
