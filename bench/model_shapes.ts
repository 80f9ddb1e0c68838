// Models of kinds for which there are no small files, with random weights: a mixture of experts,
// Mamba, Mamba 2, and a hybrid of the delta rule and attention. Their widths are real, but they
// have few layers.

import { type WritableMetadata, type WritableTensor, writeGguf } from "../engine/gguf/mod.ts";
import { randomWeights } from "./random_weights.ts";
import {
  LLAMA_3_2_1B,
  SMOLLM2_135M,
  tokenizerMetadata,
  writeSyntheticLlama,
} from "./synthetic_model.ts";

/** Tensors of a model by name: their shapes, as GGUF has them. Those of one dimension are F32. */
type Shapes = Record<string, number[]>;

interface Shape {
  readonly vocabulary: number;
  readonly metadata: WritableMetadata;
  readonly tensors: Shapes;
}

/** Window of these models, in tokens. */
export const CONTEXT = 512;

/** As Qwen3 30B-A3B, but two layers and 64 experts. */
function mixture(): Shape {
  const [layers, width, experts, inner, vocabulary] = [2, 2048, 64, 768, 151_936];
  const tensors: Shapes = {};
  for (let layer = 0; layer < layers; layer++) {
    Object.assign(tensors, attention(`blk.${layer}`, width, { heads: 32, kvHeads: 4, size: 128 }), {
      [`blk.${layer}.ffn_norm`]: [width],
      [`blk.${layer}.ffn_gate_inp`]: [width, experts],
      [`blk.${layer}.ffn_gate_exps`]: [width, inner, experts],
      [`blk.${layer}.ffn_up_exps`]: [width, inner, experts],
      [`blk.${layer}.ffn_down_exps`]: [inner, width, experts],
    });
  }
  return model("qwen3moe", { layers, width, vocabulary, tensors }, {
    "expert_count": experts,
    "expert_used_count": 8,
    "expert_feed_forward_length": inner,
    "feed_forward_length": inner,
    ...HEADS,
  });
}

const HEADS = {
  "attention.head_count": 32,
  "attention.head_count_kv": 4,
  "attention.key_length": 128,
  "attention.value_length": 128,
  "rope.dimension_count": 128,
};

function attention(
  block: string,
  width: number,
  { heads, kvHeads, size, gated = false }: {
    heads: number;
    kvHeads: number;
    size: number;
    gated?: boolean;
  },
): Shapes {
  return {
    [`${block}.attn_norm`]: [width],
    [`${block}.attn_q`]: [width, heads * size * (gated ? 2 : 1)],
    [`${block}.attn_k`]: [width, kvHeads * size],
    [`${block}.attn_v`]: [width, kvHeads * size],
    [`${block}.attn_q_norm`]: [size],
    [`${block}.attn_k_norm`]: [size],
    [`${block}.attn_output`]: [heads * size, width],
  };
}

/** As Mamba 370M, but eight layers. */
function mamba(): Shape {
  const [layers, width, inner, states, rank, vocabulary] = [8, 1024, 2048, 16, 64, 50_280];
  const tensors: Shapes = {};
  for (let layer = 0; layer < layers; layer++) {
    Object.assign(tensors, {
      [`blk.${layer}.attn_norm`]: [width],
      [`blk.${layer}.ssm_in`]: [width, 2 * inner],
      [`blk.${layer}.ssm_conv1d`]: [4, inner],
      [`blk.${layer}.ssm_conv1d.bias`]: [inner],
      [`blk.${layer}.ssm_x`]: [inner, rank + 2 * states],
      [`blk.${layer}.ssm_dt`]: [rank, inner],
      [`blk.${layer}.ssm_dt.bias`]: [inner],
      [`blk.${layer}.ssm_a`]: [states, inner],
      [`blk.${layer}.ssm_d`]: [inner],
      [`blk.${layer}.ssm_out`]: [inner, width],
    });
  }
  return model("mamba", { layers, width, vocabulary, tensors }, {
    "ssm.inner_size": inner,
    "ssm.conv_kernel": 4,
    "ssm.state_size": states,
    "ssm.time_step_rank": rank,
  });
}

/** As Mamba 2 370M, but eight layers. */
function mamba2(): Shape {
  const [layers, width, inner, states, heads, vocabulary] = [8, 1024, 2048, 128, 32, 50_280];
  const mixed = inner + 2 * states;
  const tensors: Shapes = {};
  for (let layer = 0; layer < layers; layer++) {
    Object.assign(tensors, {
      [`blk.${layer}.attn_norm`]: [width],
      [`blk.${layer}.ssm_in`]: [width, inner + mixed + heads],
      [`blk.${layer}.ssm_conv1d`]: [4, mixed],
      [`blk.${layer}.ssm_conv1d.bias`]: [mixed],
      [`blk.${layer}.ssm_dt.bias`]: [heads],
      [`blk.${layer}.ssm_a`]: [1, heads],
      [`blk.${layer}.ssm_d`]: [1, heads],
      [`blk.${layer}.ssm_norm`]: [inner, 1],
      [`blk.${layer}.ssm_out`]: [inner, width],
    });
  }
  return model("mamba2", { layers, width, vocabulary, tensors }, {
    "ssm.inner_size": inner,
    "ssm.conv_kernel": 4,
    "ssm.state_size": states,
    "ssm.time_step_rank": heads,
    "ssm.group_count": 1,
  });
}

/** As Qwen3.5 0.8B: three layers of the delta rule, one of attention. */
function hybrid(): Shape {
  const [layers, width, heads, states, inner, vocabulary] = [4, 1024, 16, 128, 3072, 151_936];
  const size = heads * states;
  const tensors: Shapes = {};
  for (let layer = 0; layer < layers; layer++) {
    const block = `blk.${layer}`;
    const mixer = layer === layers - 1
      ? attention(block, width, { heads: 8, kvHeads: 2, size: 256, gated: true })
      : {
        [`${block}.attn_norm`]: [width],
        [`${block}.attn_qkv`]: [width, 3 * size],
        [`${block}.attn_gate`]: [width, size],
        [`${block}.ssm_conv1d`]: [4, 3 * size],
        [`${block}.ssm_dt.bias`]: [heads],
        [`${block}.ssm_a`]: [heads],
        [`${block}.ssm_alpha`]: [width, heads],
        [`${block}.ssm_beta`]: [width, heads],
        [`${block}.ssm_norm`]: [states],
        [`${block}.ssm_out`]: [size, width],
      };
    Object.assign(tensors, mixer, {
      [`${block}.post_attention_norm`]: [width],
      [`${block}.ffn_gate`]: [width, inner],
      [`${block}.ffn_up`]: [width, inner],
      [`${block}.ffn_down`]: [inner, width],
    });
  }
  const shape = model("qwen35", { layers, width, vocabulary, tensors }, {
    "feed_forward_length": inner,
    "full_attention_interval": layers,
    "attention.head_count": 8,
    "attention.head_count_kv": 2,
    "attention.key_length": 256,
    "attention.value_length": 256,
    "rope.dimension_count": 64,
    "ssm.inner_size": size,
    "ssm.conv_kernel": 4,
    "ssm.state_size": states,
    "ssm.time_step_rank": heads,
    "ssm.group_count": heads,
  });
  const sections = { "qwen35.rope.dimension_sections": Int32Array.of(11, 11, 10, 0) };
  return { ...shape, metadata: { ...shape.metadata, ...sections } };
}

function model(
  architecture: string,
  { layers, width, vocabulary, tensors }: {
    layers: number;
    width: number;
    vocabulary: number;
    tensors: Shapes;
  },
  numbers: Record<string, number>,
): Shape {
  const all = { block_count: layers, context_length: CONTEXT, embedding_length: width, ...numbers };
  const entries = Object.entries(all).map(([key, value]) =>
    [`${architecture}.${key}`, { uint32: value }] as const
  );
  return {
    vocabulary,
    metadata: {
      "general.architecture": architecture,
      ...Object.fromEntries(entries),
      [`${architecture}.attention.layer_norm_rms_epsilon`]: { float32: 1e-5 },
    },
    tensors: {
      token_embd: [width, vocabulary],
      ...tensors,
      output_norm: [width],
      output: [width, vocabulary],
    },
  };
}

async function writeShape(
  path: string,
  matrices: string,
  { vocabulary, metadata, tensors }: Shape,
): Promise<void> {
  const list = Object.entries(tensors).map(([name, shape], i): WritableTensor => {
    const isSmall = shape.length === 1 || /ssm_(a|d|conv1d|norm)$|gate_inp$/.test(name);
    const type = isSmall ? "F32" : matrices;
    const values = shape.reduce((product, length) => product * length);
    const mean = /norm$/.test(name) ? 1 : /ssm_a$/.test(name) ? -1 : 0;
    const data = () => randomWeights(type, values, { mean, deviation: 0.02, seed: i + 1 });
    return { name: /bias$|ssm_[ad]$/.test(name) ? name : `${name}.weight`, shape, type, data };
  });
  await writeGguf(path, { ...metadata, ...tokenizerMetadata(vocabulary) }, list);
}

/** Writes a model whose matrices are of a GGML type, by the name of its shape. */
export const MODEL_SHAPES: Record<string, (path: string, type: string) => Promise<void>> = {
  "135m": (path, type) => writeSyntheticLlama(path, SMOLLM2_135M, { type }),
  "1b": (path, type) => writeSyntheticLlama(path, { ...LLAMA_3_2_1B, layers: 4 }, { type }),
  "moe": (path, type) => writeShape(path, type, mixture()),
  "mamba": (path, type) => writeShape(path, type, mamba()),
  "mamba2": (path, type) => writeShape(path, type, mamba2()),
  "hybrid": (path, type) => writeShape(path, type, hybrid()),
};
