// A GGUF file of a sentence-transformers folder with a BERT: its weights in F32 under GGUF's names, its
// WordPiece vocabulary in GGUF's spelling, in which a piece that begins a word has U+2581 before it.

import { readSafetensors } from "../../engine/create/safetensors/stored_model.ts";
import { fileTypeByName, type WritableTensor, writeGguf } from "../../engine/gguf/mod.ts";

const TOP: Record<string, string> = {
  "embeddings.word_embeddings": "token_embd",
  "embeddings.position_embeddings": "position_embd",
  "embeddings.token_type_embeddings": "token_types",
  "embeddings.LayerNorm": "token_embd_norm",
};
const LAYER: Record<string, string> = {
  "attention.self.query": "attn_q",
  "attention.self.key": "attn_k",
  "attention.self.value": "attn_v",
  "attention.output.dense": "attn_output",
  "attention.output.LayerNorm": "attn_output_norm",
  "intermediate.dense": "ffn_up",
  "output.dense": "ffn_down",
  "output.LayerNorm": "layer_output_norm",
};
/** The pooling layer of BERT's own training, and numbers of positions: no part of the embeddings. */
const UNUSED = /^(pooler\.|embeddings\.position_ids$)/;
const CONTROL = 3;
const NORMAL = 1;
const MEAN = 1;

/** Writes the file. @param folder with config.json, model.safetensors and tokenizer.json */
export async function widenFolder(folder: string, to: string): Promise<void> {
  const read = async (name: string) => JSON.parse(await Deno.readTextFile(`${folder}/${name}`));
  const [config, { model: { vocab } }] = [await read("config.json"), await read("tokenizer.json")];
  const bytes = await Deno.readFile(`${folder}/model.safetensors`);
  const tensors = (await readSafetensors(`${folder}/model.safetensors`))
    .filter(({ name }) => !UNUSED.test(name))
    .map(({ name, shape, offset, byteLength }): WritableTensor => ({
      name: ggufName(name),
      shape: shape.toReversed(),
      type: "F32",
      data: () => [bytes.subarray(offset, offset + byteLength)],
    }));
  const pieces = Object.entries<number>(vocab).sort(([, a], [, b]) => a - b).map(([piece]) =>
    piece
  );
  const isControl = (piece: string) => /^\[(PAD|UNK|CLS|SEP|MASK|unused\d+)\]$/.test(piece);
  const uint32 = (value: number) => ({ uint32: value });
  await writeGguf(to, {
    "general.architecture": "bert",
    "general.file_type": uint32(fileTypeByName("F32")!),
    "bert.block_count": uint32(config.num_hidden_layers),
    "bert.context_length": uint32(config.max_position_embeddings),
    "bert.embedding_length": uint32(config.hidden_size),
    "bert.feed_forward_length": uint32(config.intermediate_size),
    "bert.attention.head_count": uint32(config.num_attention_heads),
    "bert.attention.layer_norm_epsilon": { float32: config.layer_norm_eps },
    "bert.attention.causal": false,
    "bert.pooling_type": uint32(MEAN),
    "tokenizer.ggml.model": "bert",
    "tokenizer.ggml.tokens": pieces.map(spelled),
    "tokenizer.ggml.token_type": Int32Array.from(pieces, (p) => isControl(p) ? CONTROL : NORMAL),
    "tokenizer.ggml.token_type_count": uint32(config.type_vocab_size),
    "tokenizer.ggml.bos_token_id": uint32(vocab["[CLS]"]),
    "tokenizer.ggml.cls_token_id": uint32(vocab["[CLS]"]),
    "tokenizer.ggml.eos_token_id": uint32(vocab["[SEP]"]),
    "tokenizer.ggml.seperator_token_id": uint32(vocab["[SEP]"]),
    "tokenizer.ggml.unknown_token_id": uint32(vocab["[UNK]"]),
    "tokenizer.ggml.padding_token_id": uint32(vocab["[PAD]"]),
    "tokenizer.ggml.mask_token_id": uint32(vocab["[MASK]"]),
    "tokenizer.ggml.add_bos_token": true,
    "tokenizer.ggml.add_eos_token": true,
  }, tensors);

  function spelled(piece: string): string {
    if (isControl(piece)) return piece;
    return piece.startsWith("##") ? piece.slice(2) : `\u2581${piece}`;
  }
}

function ggufName(name: string): string {
  const [, layer, path, kind] = /^(?:encoder\.layer\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(name) ??
    [];
  const own = (layer === undefined ? TOP : LAYER)[path!];
  if (own === undefined) throw new Error(`Cannot convert "${name}": it is no tensor of BERT's`);
  return `${layer === undefined ? "" : `blk.${layer}.`}${own}.${kind}`;
}
