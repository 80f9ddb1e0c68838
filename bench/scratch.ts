// `deno run -A bench/scratch.ts [NAME...]`: the scratch memory of models of real sizes, in steps of 256
// rows, by the memory estimate: on the CPU, and on a GPU of usual limits. Headers alone are made up.

import { type GgufFile, tensorTypeByName } from "../engine/gguf/mod.ts";
import { estimateMemory } from "../engine/memory/mod.ts";
import { type DeviceProfile, readDeviceProfile } from "../kernels/mod.ts";

/** Slots, and with these the rows of a step. */
const [SEQUENCES, ROWS] = [8, 256];

const CONTEXT = 4096;

interface Shape {
  readonly layers: number;
  readonly width: number;
  readonly vocabulary: number;
  /** Keys of the architecture. */
  readonly numbers: Record<string, number | Int32Array>;
  /** Tensors of a layer by name, without ".weight": their shapes, as GGUF has them. */
  readonly layer: (index: number) => Record<string, number[]>;
}

interface Heads {
  readonly heads: number;
  readonly kvHeads: number;
  readonly size: number;
}

const attention = (width: number, { heads, kvHeads, size }: Heads, gated = false) => ({
  attn_norm: [width],
  attn_q: [width, heads * size * (gated ? 2 : 1)],
  attn_k: [width, kvHeads * size],
  attn_v: [width, kvHeads * size],
  attn_output: [heads * size, width],
});

const feedForward = (width: number, inner: number, suffix = "") => ({
  [`ffn_gate${suffix}`]: [width, inner],
  [`ffn_up${suffix}`]: [width, inner],
  [`ffn_down${suffix}`]: [inner, width],
});

const experts = (width: number, inner: number, count: number) => ({
  ffn_norm: [width],
  ffn_gate_inp: [width, count],
  ffn_gate_exps: [width, inner, count],
  ffn_up_exps: [width, inner, count],
  ffn_down_exps: [inner, width, count],
});

const keysOf = ({ heads, kvHeads, size }: Heads) => ({
  "attention.head_count": heads,
  "attention.head_count_kv": kvHeads,
  "attention.key_length": size,
  "attention.value_length": size,
  "rope.dimension_count": size,
});

const SHAPES: Record<string, Shape> = {
  // SmolLM2 135M
  llama: {
    layers: 30,
    width: 576,
    vocabulary: 49_152,
    numbers: { feed_forward_length: 1536, ...keysOf({ heads: 9, kvHeads: 3, size: 64 }) },
    layer: () => ({
      ...attention(576, { heads: 9, kvHeads: 3, size: 64 }),
      ffn_norm: [576],
      ...feedForward(576, 1536),
    }),
  },
  // Qwen3 30B-A3B
  qwen3moe: {
    layers: 48,
    width: 2048,
    vocabulary: 151_936,
    numbers: {
      feed_forward_length: 6144,
      expert_feed_forward_length: 768,
      expert_count: 128,
      expert_used_count: 8,
      ...keysOf({ heads: 32, kvHeads: 4, size: 128 }),
    },
    layer: () => ({
      ...attention(2048, { heads: 32, kvHeads: 4, size: 128 }),
      attn_q_norm: [128],
      attn_k_norm: [128],
      ...experts(2048, 768, 128),
    }),
  },
  // Gemma 3 4B
  gemma3: {
    layers: 34,
    width: 2560,
    vocabulary: 262_144,
    numbers: {
      feed_forward_length: 10_240,
      "attention.sliding_window": 1024,
      ...keysOf({ heads: 8, kvHeads: 4, size: 256 }),
    },
    layer: () => ({
      ...attention(2560, { heads: 8, kvHeads: 4, size: 256 }),
      attn_q_norm: [256],
      attn_k_norm: [256],
      post_attention_norm: [2560],
      ffn_norm: [2560],
      ...feedForward(2560, 10_240),
      post_ffw_norm: [2560],
    }),
  },
  // Qwen3.5 0.8B
  qwen35: {
    layers: 24,
    width: 1024,
    vocabulary: 151_936,
    numbers: {
      feed_forward_length: 3072,
      full_attention_interval: 4,
      ...keysOf({ heads: 8, kvHeads: 2, size: 256 }),
      "rope.dimension_count": 64,
      "rope.dimension_sections": Int32Array.of(11, 11, 10, 0),
      "ssm.inner_size": 2048,
      "ssm.conv_kernel": 4,
      "ssm.state_size": 128,
      "ssm.time_step_rank": 16,
      "ssm.group_count": 16,
    },
    layer: (index) => ({
      ...index % 4 === 3
        ? {
          ...attention(1024, { heads: 8, kvHeads: 2, size: 256 }, true),
          attn_q_norm: [256],
          attn_k_norm: [256],
        }
        : {
          attn_norm: [1024],
          attn_qkv: [1024, 3 * 2048],
          attn_gate: [1024, 2048],
          ssm_conv1d: [4, 3 * 2048],
          "ssm_dt.bias": [16],
          ssm_a: [16],
          ssm_alpha: [1024, 16],
          ssm_beta: [1024, 16],
          ssm_norm: [128],
          ssm_out: [2048, 1024],
        },
      post_attention_norm: [1024],
      ...feedForward(1024, 3072),
    }),
  },
  // DeepSeek-V2-Lite
  deepseek2: {
    layers: 27,
    width: 2048,
    vocabulary: 102_400,
    numbers: {
      feed_forward_length: 10_944,
      leading_dense_block_count: 1,
      expert_feed_forward_length: 1408,
      expert_count: 64,
      expert_used_count: 6,
      expert_shared_count: 2,
      "attention.head_count": 16,
      "attention.head_count_kv": 1,
      "attention.kv_lora_rank": 512,
      "attention.key_length": 576,
      "attention.value_length": 512,
      "attention.key_length_mla": 192,
      "attention.value_length_mla": 128,
      "rope.dimension_count": 64,
    },
    layer: (index) => ({
      attn_norm: [2048],
      attn_q: [2048, 16 * 192],
      attn_kv_a_mqa: [2048, 576],
      attn_kv_a_norm: [512],
      attn_k_b: [128, 512, 16],
      attn_v_b: [512, 128, 16],
      attn_output: [16 * 128, 2048],
      ...index === 0 ? { ffn_norm: [2048], ...feedForward(2048, 10_944) } : {
        ...experts(2048, 1408, 64),
        ...feedForward(2048, 2816, "_shexp"),
      },
    }),
  },
};

/** A GPU with its own memory and the most common limits. */
const GPU = {
  platform: { name: "standard", subgroupsDirective: true, sleepyMap: false },
  capabilities: {
    subgroups: true,
    timestamps: false,
    packedDot: true,
    subgroupSize: 32,
    leastSubgroup: 32,
    software: false,
  },
  description: "a GPU",
  vendor: 0,
  device: 0,
  maxBindingSize: 2 ** 31 - 4,
  maxBufferSize: 2 ** 31,
  limits: {
    maxBufferSize: 2 ** 31,
    maxStorageBufferBindingSize: 2 ** 31 - 4,
    maxComputeWorkgroupStorageSize: 32_768,
    maxComputeInvocationsPerWorkgroup: 1024,
    maxComputeWorkgroupSizeX: 1024,
  },
} as DeviceProfile;

/** The header of a file with these weights, in Q4_0 where they are matrices. */
function header(architecture: string, shape: Shape): GgufFile {
  const { layers, width, vocabulary, numbers } = shape;
  const all: Record<string, number[]> = {
    token_embd: [width, vocabulary],
    output_norm: [width],
    output: [width, vocabulary],
  };
  for (let layer = 0; layer < layers; layer++) {
    const tensors = Object.entries(shape.layer(layer));
    for (const [name, sizes] of tensors) all[`blk.${layer}.${name}`] = sizes;
  }
  let fileSize = 0;
  const tensors = Object.entries(all).map(([base, sizes]) => {
    const isSmall = sizes.length === 1 || /ssm_conv1d$|gate_inp$/.test(base);
    const type = tensorTypeByName(isSmall ? "F32" : "Q4_0")!;
    const values = sizes.reduce((product, size) => product * size);
    const byteLength = values / type.blockSize * type.blockBytes;
    const name = /bias$|ssm_a$/.test(base) ? base : `${base}.weight`;
    const place = { shard: 0, offset: fileSize, byteLength };
    fileSize += byteLength;
    return [name, { name, shape: sizes, type: type.id, typeName: type.name, ...place }] as const;
  });
  const keys = Object.entries({
    block_count: layers,
    context_length: 32_768,
    embedding_length: width,
    "attention.layer_norm_rms_epsilon": 1e-5,
    ...numbers,
  }).map(([key, value]) => [`${architecture}.${key}`, value]);
  return {
    path: `${architecture}.gguf`,
    shards: [`${architecture}.gguf`],
    files: { open: () => Promise.reject(new Error("there is no file")) } as never,
    version: 3,
    metadata: {
      "general.architecture": architecture,
      ...Object.fromEntries(keys),
      "tokenizer.ggml.model": "gpt2",
      "tokenizer.ggml.tokens": Array.from({ length: vocabulary }, (_, i) => `t${i}`),
    },
    tensors: new Map(tensors),
    dataOffset: 0,
    fileSize,
    alignment: 1,
  };
}

const print = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text + "\n"));
const profiles = { CPU: await readDeviceProfile({ kind: "cpu" }), GPU };
for (const [architecture, shape] of Object.entries(SHAPES)) {
  if (Deno.args.length > 0 && !Deno.args.includes(architecture)) continue;
  const gguf = header(architecture, shape);
  for (const [name, profile] of Object.entries(profiles)) {
    const options = {
      contextLength: CONTEXT,
      maxSequences: SEQUENCES,
      prefillChunk: ROWS - SEQUENCES,
    };
    const { memory } = await estimateMemory(gguf, options, { gpu: profile });
    print(`${architecture.padEnd(12)} ${name}  ${String(memory.scratch).padStart(12)} bytes`);
  }
}
