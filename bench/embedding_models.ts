// Writes encoders of texts with random weights, in the shapes of models that people use. Sizes, not
// values, decide the speed. Names of keys and tensors are those of llama.cpp's architectures; the
// vocabulary is WordPiece with a token for each letter, whatever a model's own is.

import {
  type WritableMetadata,
  type WritableTensor,
  type WritableValue,
  writeGguf,
} from "../engine/gguf/mod.ts";
import { randomWeights } from "./random_weights.ts";

/** The sizes of an encoder. All have heads of 32 or 64 columns. */
interface EncoderShape {
  readonly architecture: "bert" | "nomic-bert" | "jina-bert-v2" | "modern-bert";
  readonly layers: number;
  readonly width: number;
  readonly heads: number;
  readonly feedForward: number;
}

/** The shapes by name. */
export const EMBEDDING_SHAPES: Readonly<Record<string, EncoderShape>> = {
  "minilm": { architecture: "bert", layers: 6, width: 384, heads: 12, feedForward: 1536 },
  "bge-small": { architecture: "bert", layers: 12, width: 384, heads: 12, feedForward: 1536 },
  "bge-base": { architecture: "bert", layers: 12, width: 768, heads: 12, feedForward: 3072 },
  "nomic": { architecture: "nomic-bert", layers: 12, width: 768, heads: 12, feedForward: 3072 },
  "jina-small": {
    architecture: "jina-bert-v2",
    layers: 4,
    width: 512,
    heads: 8,
    feedForward: 2048,
  },
  "modern-bert": {
    architecture: "modern-bert",
    layers: 22,
    width: 768,
    heads: 12,
    feedForward: 1152,
  },
};

/** Window of all of them, in tokens. */
const CONTEXT = 512;
const VOCABULARY = 30_522;
const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
/** Pooling by the first token. */
const FIRST = 2;

/** Writes a model. @param type of its matrices, such as Q8_0 */
export async function writeEmbeddingModel(
  path: string,
  shape: EncoderShape,
  type: string,
): Promise<void> {
  await writeGguf(path, metadataOf(shape), tensorsOf(shape, type));
}

/** Tokens that WordPiece demands, then one-letter words, then fillers that no text has. */
function vocabulary(): string[] {
  const words = Array.from("abcdefghijklmnopqrstuvwxyz", (letter) => `▁${letter}`);
  const fillers = VOCABULARY - SPECIAL.length - words.length;
  return [...SPECIAL, ...words, ...Array.from({ length: fillers }, (_, i) => `▁filler${i}`)];
}

function metadataOf(shape: EncoderShape): WritableMetadata {
  const { architecture, layers, width, heads, feedForward } = shape;
  const own: Record<string, WritableValue> = {
    "block_count": { uint32: layers },
    "context_length": { uint32: CONTEXT },
    "embedding_length": { uint32: width },
    "feed_forward_length": { uint32: feedForward },
    "attention.head_count": { uint32: heads },
    "attention.layer_norm_epsilon": { float32: 1e-5 },
    "attention.causal": false,
    "pooling_type": { uint32: FIRST },
    ...(architecture === "nomic-bert" && { "rope.freq_base": { float32: 1000 } }),
    ...(architecture === "modern-bert" && {
      "rope.freq_base": { float32: 160_000 },
      "rope.freq_base_swa": { float32: 10_000 },
      "attention.sliding_window": { uint32: 128 },
      "attention.sliding_window_pattern": { uint32: 3 },
    }),
  };
  const named = Object.entries(own).map(([key, value]) => [`${architecture}.${key}`, value]);
  return {
    "general.architecture": architecture,
    "general.name": "Synthetic encoder",
    ...Object.fromEntries(named),
    "tokenizer.ggml.model": "bert",
    "tokenizer.ggml.pre": "jina-v2-en",
    "tokenizer.ggml.tokens": vocabulary(),
    "tokenizer.ggml.token_type": new Int32Array(VOCABULARY).fill(1).fill(3, 0, SPECIAL.length),
    ...(architecture !== "modern-bert" && {
      "tokenizer.ggml.token_type_count": { uint32: 2 },
    }),
    "tokenizer.ggml.padding_token_id": { uint32: 0 },
    "tokenizer.ggml.unknown_token_id": { uint32: 1 },
    "tokenizer.ggml.bos_token_id": { uint32: 2 },
    "tokenizer.ggml.cls_token_id": { uint32: 2 },
    "tokenizer.ggml.eos_token_id": { uint32: 3 },
    "tokenizer.ggml.seperator_token_id": { uint32: 3 },
    "tokenizer.ggml.mask_token_id": { uint32: 4 },
  };
}

function tensorsOf(shape: EncoderShape, type: string): WritableTensor[] {
  const { architecture, layers, width, feedForward } = shape;
  const all: WritableTensor[] = [];
  function add(name: string, shape: number[], kind: string, mean: number, deviation: number) {
    const seed = 1 + all.length * 0x9e3779b9;
    const values = shape.reduce((product, length) => product * length);
    const data = () => randomWeights(kind, values, { mean, deviation, seed });
    all.push({ name, shape, type: kind, data });
  }
  const matrix = (name: string, columns: number, rows: number, hasBias: boolean) => {
    add(`${name}.weight`, [columns, rows], type, 0, 0.04);
    if (hasBias) add(`${name}.bias`, [rows], "F32", 0, 0.02);
  };
  const isModern = architecture === "modern-bert";
  const norm = (name: string) => {
    add(`${name}.weight`, [width], "F32", 1, 0.05);
    if (!isModern) add(`${name}.bias`, [width], "F32", 0, 0.02);
  };
  add("token_embd.weight", [width, VOCABULARY], type, 0, 0.05);
  if (architecture === "bert") add("position_embd.weight", [width, CONTEXT], "F32", 0, 0.02);
  if (!isModern) add("token_types.weight", [width, 2], "F32", 0, 0.02);
  norm("token_embd_norm");
  const hasBiases = architecture === "bert" || architecture === "jina-bert-v2";
  const isTogether = isModern || architecture === "nomic-bert";
  for (let layer = 0; layer < layers; layer++) {
    const block = `blk.${layer}`;
    if (isModern && layer > 0) norm(`${block}.attn_norm`);
    const parts = isTogether ? [["attn_qkv", 3]] as const : ATTENTION_APART;
    for (const [part, widths] of parts) {
      matrix(`${block}.${part}`, width, widths * width, hasBiases);
    }
    matrix(`${block}.attn_output`, width, width, hasBiases);
    norm(`${block}.${isModern ? "ffn_norm" : "attn_output_norm"}`);
    if (!isModern && architecture !== "bert") {
      matrix(`${block}.ffn_gate`, width, feedForward, false);
    }
    const isJoined = isModern ? 2 : 1;
    matrix(`${block}.ffn_up`, width, isJoined * feedForward, architecture === "bert");
    matrix(`${block}.ffn_down`, feedForward, width, hasBiases);
    if (!isModern) norm(`${block}.layer_output_norm`);
  }
  if (isModern) norm("output_norm");
  return all;
}

const ATTENTION_APART = [["attn_q", 1], ["attn_k", 1], ["attn_v", 1]] as const;
