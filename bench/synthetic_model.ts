// Writes Llama models with random weights: the shape, speed and memory of a real model without its
// download. They speak gibberish, but through a whole byte-level vocabulary and a chat template.
// Tensor names and keys are those of llama.cpp's "llama" architecture.

import { getsMoreBits } from "../engine/create/quantize/mod.ts";
import {
  fileTypeByName,
  tensorTypeByName,
  type WritableMetadata,
  type WritableTensor,
  writeGguf,
} from "../engine/gguf/mod.ts";
import { randomWeights } from "./random_weights.ts";

/** The sizes of a Llama model. */
export interface LlamaShape {
  readonly layers: number;
  readonly embedding: number;
  readonly heads: number;
  readonly keyValueHeads: number;
  /** Length of one head's query. Default: embedding / heads. */
  readonly headLength?: number;
  readonly feedForward: number;
  /** Tokens; at least the 256 bytes and two special tokens. */
  readonly vocabulary: number;
  /** Window in tokens. */
  readonly context: number;
  readonly ropeBase: number;
  /** Whether the output shares the weights of the token embedding. */
  readonly tiedEmbedding: boolean;
}

/** Options of the weights. */
export interface WeightOptions {
  /**
   * GGML type of all matrices, such as "Q8_0", or the mix "Q4_K_M". Where rows are not whole blocks:
   * Q8_0, then F16.
   */
  readonly type: string;
  /** Type of the token embedding and the output. Default: `type`. */
  readonly embeddingType?: string;
  /** Default 0.02. */
  readonly standardDeviation?: number;
  /** Same seed, same file. Default 1. */
  readonly seed?: number;
  /** "llama", or "qwen3" for the same with norms of queries and keys. Default "llama". */
  readonly architecture?: string;
  /** Chat template, in Jinja. Default: ChatML, without tools and thinking. */
  readonly template?: string;
  /** Further members of the header, or others in place of those, also a vocabulary of another size. */
  readonly metadata?: WritableMetadata;
}

export const SMOLLM2_135M: LlamaShape = {
  layers: 30,
  embedding: 576,
  heads: 9,
  keyValueHeads: 3,
  feedForward: 1536,
  vocabulary: 49_152,
  context: 8192,
  ropeBase: 100_000,
  tiedEmbedding: true,
};

export const LLAMA_3_2_1B: LlamaShape = {
  layers: 16,
  embedding: 2048,
  heads: 32,
  keyValueHeads: 8,
  feedForward: 8192,
  vocabulary: 128_256,
  context: 131_072,
  ropeBase: 500_000,
  tiedEmbedding: true,
};

export const LLAMA_3_8B: LlamaShape = {
  layers: 32,
  embedding: 4096,
  heads: 32,
  keyValueHeads: 8,
  feedForward: 14_336,
  vocabulary: 128_256,
  context: 8192,
  ropeBase: 500_000,
  tiedEmbedding: false,
};

/** The shapes that benchmarks offer, by the names of their option. */
export const SHAPES: Record<string, LlamaShape> = {
  "135m": SMOLLM2_135M,
  "1b": LLAMA_3_2_1B,
  "8b": LLAMA_3_8B,
};

const BEGIN = "<|im_start|>";
const END = "<|im_end|>";
const CHAT_TEMPLATE = "{% for message in messages %}" +
  `{{ '${BEGIN}' + message.role + '\\n' + message.content + '${END}\\n' }}{% endfor %}` +
  `{% if add_generation_prompt %}{{ '${BEGIN}assistant\\n' }}{% endif %}`;
const NORMAL_TOKEN = 1;
const CONTROL_TOKEN = 3;

/**
 * Writes a Llama model with random weights: matrices around 0, norms around 1.
 * @throws RangeError if the vocabulary is too small, or no weights can be made of a type
 */
export async function writeSyntheticLlama(
  path: string | URL,
  shape: LlamaShape,
  options: WeightOptions,
): Promise<void> {
  const metadata = {
    ...modelMetadata(shape, options),
    ...("tokenizer.ggml.model" in (options.metadata ?? {})
      ? {}
      : tokenizerMetadata(shape.vocabulary)),
    ...(options.template !== undefined && { "tokenizer.chat_template": options.template }),
    ...options.metadata,
  };
  await writeGguf(path, metadata, modelTensors(shape, options));
}

function modelMetadata(
  shape: LlamaShape,
  { type, architecture = "llama" }: WeightOptions,
): WritableMetadata {
  const headLength = shape.headLength ?? shape.embedding / shape.heads;
  return {
    "general.architecture": architecture,
    "general.name": `Synthetic ${shape.layers}x${shape.embedding}`,
    // Mixes are named after the K-quant of most of their tensors; S is the one with the most.
    "general.file_type": { uint32: fileTypeByName(type) ?? fileTypeByName(`${type}_S`) ?? 0 },
    "general.quantization_version": { uint32: 2 },
    [`${architecture}.block_count`]: { uint32: shape.layers },
    [`${architecture}.context_length`]: { uint32: shape.context },
    [`${architecture}.embedding_length`]: { uint32: shape.embedding },
    [`${architecture}.feed_forward_length`]: { uint32: shape.feedForward },
    [`${architecture}.vocab_size`]: { uint32: shape.vocabulary },
    [`${architecture}.attention.head_count`]: { uint32: shape.heads },
    [`${architecture}.attention.head_count_kv`]: { uint32: shape.keyValueHeads },
    [`${architecture}.attention.key_length`]: { uint32: headLength },
    [`${architecture}.attention.value_length`]: { uint32: headLength },
    [`${architecture}.attention.layer_norm_rms_epsilon`]: { float32: 1e-5 },
    [`${architecture}.rope.dimension_count`]: { uint32: headLength },
    [`${architecture}.rope.freq_base`]: { float32: shape.ropeBase },
  };
}

/** A byte-level vocabulary with filler tokens and a chat template. Errors: RangeError below 258. */
export function tokenizerMetadata(vocabulary: number): WritableMetadata {
  const bytes = byteTokens();
  const fillers = vocabulary - bytes.length - 2;
  if (fillers < 0) throw new RangeError(`Cannot make a vocabulary of ${vocabulary}: 258 is least`);
  const filler = Array.from({ length: fillers }, (_, index) => `Ġ${index.toString(36)}`);
  const types = new Int32Array(vocabulary).fill(NORMAL_TOKEN);
  types.fill(CONTROL_TOKEN, bytes.length, bytes.length + 2);
  return {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": [...bytes, BEGIN, END, ...filler],
    "tokenizer.ggml.token_type": types,
    "tokenizer.ggml.merges": [],
    "tokenizer.ggml.bos_token_id": { uint32: bytes.length },
    "tokenizer.ggml.eos_token_id": { uint32: bytes.length + 1 },
    "tokenizer.ggml.add_bos_token": false,
    "tokenizer.chat_template": CHAT_TEMPLATE,
  };
}

/** One token per byte, in GPT-2's alphabet: unprintable bytes are moved to U+0100 and up. */
function byteTokens(): string[] {
  let moved = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    return String.fromCharCode(isPrintable ? byte : moved++);
  });
}

function modelTensors(shape: LlamaShape, options: WeightOptions): WritableTensor[] {
  const { embedding, heads, keyValueHeads, feedForward, vocabulary } = shape;
  const headLength = shape.headLength ?? embedding / heads;
  const { standardDeviation = 0.02, seed = 1 } = options;
  const isMix = options.type === "Q4_K_M";
  const type = isMix ? "Q4_K" : options.type;
  const { embeddingType = isMix ? "Q6_K" : type } = options;
  const hasHeadNorms = options.architecture === "qwen3";
  const tensors: WritableTensor[] = [];

  function add(name: string, shape: number[], type: string, mean: number, deviation: number): void {
    const values = shape.reduce((product, length) => product * length);
    const tensorSeed = seed + tensors.length * 0x9e3779b9;
    const data = () => randomWeights(type, values, { mean, deviation, seed: tensorSeed });
    tensors.push({ name, shape, type, data });
  }
  function matrix(name: string, columns: number, rows: number, wanted = type): void {
    add(`${name}.weight`, [columns, rows], fittingType(wanted, columns), 0, standardDeviation);
  }
  function norm(name: string, length = embedding): void {
    add(`${name}.weight`, [length], "F32", 1, 0.05);
  }

  matrix("token_embd", embedding, vocabulary, embeddingType);
  for (let layer = 0; layer < shape.layers; layer++) {
    const block = `blk.${layer}`;
    const better = isMix && getsMoreBits(layer, shape.layers) ? "Q6_K" : type;
    norm(`${block}.attn_norm`);
    matrix(`${block}.attn_q`, embedding, heads * headLength);
    matrix(`${block}.attn_k`, embedding, keyValueHeads * headLength);
    matrix(`${block}.attn_v`, embedding, keyValueHeads * headLength, better);
    matrix(`${block}.attn_output`, heads * headLength, embedding);
    if (hasHeadNorms) {
      norm(`${block}.attn_q_norm`, headLength);
      norm(`${block}.attn_k_norm`, headLength);
    }
    norm(`${block}.ffn_norm`);
    matrix(`${block}.ffn_gate`, embedding, feedForward);
    matrix(`${block}.ffn_up`, embedding, feedForward);
    matrix(`${block}.ffn_down`, feedForward, embedding, better);
  }
  norm("output_norm");
  if (!shape.tiedEmbedding) matrix("output", embedding, vocabulary, embeddingType);
  return tensors;
}

/** The type itself if rows are whole blocks of it; llama.cpp falls back in the same way. */
function fittingType(type: string, columns: number): string {
  const fits = (name: string) => columns % (tensorTypeByName(name)?.blockSize ?? 1) === 0;
  return [type, "Q8_0", "F16"].find(fits)!;
}
