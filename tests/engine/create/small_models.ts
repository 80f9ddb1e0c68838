// Small models of the architectures that are converted: each as a GGUF file with random weights, and
// what config.json says of it.

import { randomWeights } from "../../../bench/random_weights.ts";
import { tokenizerMetadata } from "../../../bench/synthetic_model.ts";
import type { WritableTensor } from "../../../engine/gguf/mod.ts";
import { type PlainMetadata, writeModelFile } from "../../model_file.ts";
import { HEADS, HIDDEN, VOCABULARY, WIDTH } from "../reference/model.ts";
import type { Undoing } from "./hugging_face_folder.ts";

const EPSILON = 1e-5;
const { heads, kvHeads, headDim } = HEADS;

/** An architecture, in both worlds. */
export interface SmallModel {
  readonly transformersName: string;
  readonly ggufName: string;
  readonly layers: number;
  /** Keys of GGUF, without the architecture's name. */
  readonly metadata: PlainMetadata;
  readonly config: Readonly<Record<string, unknown>>;
  readonly undoing: Undoing;
  readonly isTied?: boolean;
  readonly hasBiases?: boolean;
  readonly hasHeadNorms?: boolean;
  /** rope_freqs.weight. */
  readonly factors?: Float32Array;
}

const GEMMA = {
  isTied: true,
  undoing: { isGemma: true, hasPostNorms: true },
};

const LLAMA: SmallModel = {
  transformersName: "MistralForCausalLM",
  ggufName: "llama",
  layers: 2,
  metadata: { "rope.freq_base": 500_000 },
  config: { hidden_act: "silu", rope_theta: 500_000, sliding_window: null },
  undoing: { pairedRows: headDim },
};

/** All architectures. */
export const SMALL_MODELS: readonly SmallModel[] = [
  { ...LLAMA, hasBiases: true },
  {
    ...LLAMA,
    transformersName: "LlamaForCausalLM",
    config: {
      rope_theta: 500_000,
      rope_scaling: {
        rope_type: "llama3",
        factor: 8,
        low_freq_factor: 1,
        high_freq_factor: 4,
        original_max_position_embeddings: 256,
      },
    },
    factors: llama3Factors(8, 1, 4, 256, 500_000),
  },
  {
    transformersName: "Qwen2ForCausalLM",
    ggufName: "qwen2",
    layers: 2,
    metadata: { "rope.freq_base": 10_000 },
    config: { hidden_act: "silu", tie_word_embeddings: true },
    undoing: {},
    isTied: true,
    hasBiases: true,
  },
  {
    transformersName: "Qwen3ForCausalLM",
    ggufName: "qwen3",
    layers: 2,
    metadata: {
      "rope.freq_base": 1_000_000,
      "rope.scaling.type": "yarn",
      "rope.scaling.factor": 4,
      "rope.scaling.original_context_length": 16,
    },
    config: {
      rope_parameters: {
        rope_type: "yarn",
        rope_theta: 1_000_000,
        factor: 4,
        original_max_position_embeddings: 16,
      },
    },
    undoing: {},
    hasHeadNorms: true,
  },
  {
    transformersName: "GemmaForCausalLM",
    ggufName: "gemma",
    layers: 2,
    metadata: { "rope.freq_base": 10_000 },
    config: { hidden_act: "gelu" },
    isTied: true,
    undoing: { isGemma: true },
  },
  {
    ...GEMMA,
    transformersName: "Gemma2ForCausalLM",
    ggufName: "gemma2",
    layers: 2,
    metadata: {
      "rope.freq_base": 10_000,
      "attention.sliding_window": 8,
      "attn_logit_softcapping": 2,
      "final_logit_softcapping": 3,
    },
    config: {
      hidden_activation: "gelu_pytorch_tanh",
      sliding_window: 8,
      query_pre_attn_scalar: headDim,
      attn_logit_softcapping: 2,
      final_logit_softcapping: 3,
    },
  },
  {
    ...GEMMA,
    transformersName: "Gemma3ForCausalLM",
    ggufName: "gemma3",
    layers: 7,
    metadata: {
      "attention.sliding_window": 8,
      "rope.freq_base": 1_000_000,
      "rope.freq_base_swa": 20_000,
      "rope.scaling.type": "linear",
      "rope.scaling.factor": 8,
    },
    config: {
      rope_theta: 1_000_000,
      rope_local_base_freq: 20_000,
      rope_scaling: { rope_type: "linear", factor: 8 },
      sliding_window: 8,
      sliding_window_pattern: 6,
      query_pre_attn_scalar: headDim,
    },
    hasHeadNorms: true,
  },
];

/** Writes the GGUF file. @returns its path */
export async function writeSmallModel(model: SmallModel): Promise<string> {
  const { ggufName, layers } = model;
  const keys = {
    "block_count": layers,
    "context_length": 512,
    "embedding_length": WIDTH,
    "feed_forward_length": HIDDEN,
    "vocab_size": VOCABULARY,
    "attention.head_count": heads,
    "attention.head_count_kv": kvHeads,
    "attention.key_length": headDim,
    "attention.value_length": headDim,
    "attention.layer_norm_rms_epsilon": EPSILON,
    "rope.dimension_count": headDim,
    ...model.metadata,
  };
  const metadata = {
    "general.architecture": ggufName,
    ...Object.fromEntries(
      Object.entries(keys).map(([key, value]) => [`${ggufName}.${key}`, value]),
    ),
    ...tokenizerMetadata(VOCABULARY),
  };
  return await writeModelFile(metadata, [...tensorsOf(model)]);
}

/** What config.json says. */
export function configOf({ transformersName, layers, config, isTied }: SmallModel) {
  return {
    architectures: [transformersName],
    hidden_size: WIDTH,
    intermediate_size: HIDDEN,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    head_dim: headDim,
    rms_norm_eps: EPSILON,
    max_position_embeddings: 512,
    vocab_size: VOCABULARY,
    tie_word_embeddings: isTied ?? false,
    ...config,
  };
}

function* tensorsOf(model: SmallModel): Generator<WritableTensor> {
  const { layers, hasBiases, hasHeadNorms, isTied, undoing, factors } = model;
  let seed = 1;
  const random = (name: string, shape: number[], mean: number, deviation: number) => {
    const count = shape.reduce((product, length) => product * length);
    const own = seed++;
    const data = () => randomWeights("F32", count, { mean, deviation, seed: own });
    return { name, shape, type: "F32", data };
  };
  const matrix = (name: string, columns: number, rows: number) =>
    random(`${name}.weight`, [columns, rows], 0, 1 / Math.sqrt(columns));
  const norm = (name: string, length = WIDTH) => random(`${name}.weight`, [length], 1, 0.05);

  yield matrix("token_embd", WIDTH, VOCABULARY);
  for (let layer = 0; layer < layers; layer++) {
    const block = `blk.${layer}`;
    yield norm(`${block}.attn_norm`);
    for (const [part, count] of [["q", heads], ["k", kvHeads], ["v", kvHeads]] as const) {
      yield matrix(`${block}.attn_${part}`, WIDTH, count * headDim);
      if (hasBiases) yield random(`${block}.attn_${part}.bias`, [count * headDim], 0, 0.3);
      if (hasHeadNorms && part !== "v") yield norm(`${block}.attn_${part}_norm`, headDim);
    }
    yield matrix(`${block}.attn_output`, heads * headDim, WIDTH);
    yield norm(`${block}.ffn_norm`);
    yield matrix(`${block}.ffn_gate`, WIDTH, HIDDEN);
    yield matrix(`${block}.ffn_up`, WIDTH, HIDDEN);
    yield matrix(`${block}.ffn_down`, HIDDEN, WIDTH);
    if (undoing.hasPostNorms) yield norm(`${block}.post_attention_norm`);
    if (undoing.hasPostNorms) yield norm(`${block}.post_ffw_norm`);
  }
  yield norm("output_norm");
  if (!isTied) yield matrix("output", WIDTH, VOCABULARY);
  if (factors) {
    const bytes = new Uint8Array(factors.buffer as ArrayBuffer);
    yield { name: "rope_freqs.weight", shape: [factors.length], type: "F32", data: () => [bytes] };
  }
}

/** By the definition in the report on Llama 3, in wave lengths. */
function llama3Factors(
  factor: number,
  low: number,
  high: number,
  context: number,
  base: number,
): Float32Array {
  return Float32Array.from({ length: headDim / 2 }, (_, pair) => {
    const frequency = base ** (-2 * pair / headDim);
    const wave = 2 * Math.PI / frequency;
    if (wave < context / high) return 1;
    if (wave > context / low) return factor;
    const smooth = (context / wave - low) / (high - low);
    return frequency / ((1 - smooth) * frequency / factor + smooth * frequency);
  });
}
