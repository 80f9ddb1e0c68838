// Folders of Whisper as Hugging Face has them: what becomes of their names, shapes and numbers in GGUF.

import { assertEquals, assertRejects } from "@std/assert";
import { convertSafetensors } from "../../../engine/create/safetensors/mod.ts";
import { readGguf, TensorReader } from "../../../engine/gguf/mod.ts";
import { ConversionError } from "../../../engine/errors.ts";
import { type NamedTensor, safetensorsBytes, writeFolder } from "./hugging_face_folder.ts";
import { tokenizerFiles } from "./tokenizer_files.ts";

const WIDTH = 8;
const VOCABULARY = 300;
const CONFIG = {
  architectures: ["WhisperForConditionalGeneration"],
  activation_function: "gelu",
  d_model: WIDTH,
  encoder_attention_heads: 2,
  decoder_attention_heads: 2,
  encoder_ffn_dim: 12,
  encoder_layers: 1,
  decoder_layers: 2,
  max_source_positions: 6,
  max_target_positions: 10,
  num_mel_bins: 4,
  vocab_size: VOCABULARY,
  suppress_tokens: [1, 2],
  begin_suppress_tokens: [3],
  tie_word_embeddings: true,
};
const GENERATION = {
  suppress_tokens: [7, 8, 9],
  alignment_heads: [[0, 1], [1, 0]],
  is_multilingual: true,
};

function tensor(name: string, ...shape: number[]): NamedTensor {
  const count = shape.reduce((product, length) => product * length);
  return {
    name,
    shape,
    type: "F16",
    values: Float32Array.from({ length: count }, (_, i) => i % 128),
  };
}

const TENSORS = [
  tensor("model.encoder.conv1.weight", WIDTH, 4, 3),
  tensor("model.encoder.embed_positions.weight", 6, WIDTH),
  tensor("model.encoder.layers.0.self_attn.k_proj.weight", WIDTH, WIDTH),
  tensor("model.encoder.layers.0.self_attn.q_proj.bias", WIDTH),
  tensor("model.encoder.layers.0.final_layer_norm.weight", WIDTH),
  tensor("model.decoder.embed_tokens.weight", VOCABULARY, WIDTH),
  tensor("model.decoder.layers.1.encoder_attn.k_proj.weight", WIDTH, WIDTH),
  tensor("model.decoder.layers.1.encoder_attn.out_proj.weight", WIDTH, WIDTH),
  tensor("model.decoder.layers.1.encoder_attn_layer_norm.bias", WIDTH),
  tensor("model.decoder.layer_norm.weight", WIDTH),
  tensor("proj_out.weight", VOCABULARY, WIDTH),
];

async function convert(
  { config = CONFIG, tensors = TENSORS }: { config?: object; tensors?: NamedTensor[] } = {},
): Promise<string> {
  const folder = await writeFolder({
    "config.json": config,
    "model.safetensors": safetensorsBytes(tensors),
    ...tokenizerFiles(),
    "generation_config.json": GENERATION,
  });
  await convertSafetensors({ folder, to: `${folder}/whisper.gguf` });
  return `${folder}/whisper.gguf`;
}

Deno.test("a folder of Whisper becomes GGUF: names, shapes, and zeros for the keys' biases", async () => {
  const { metadata, tensors, ...file } = await readGguf(await convert());
  assertEquals(
    [...tensors.values()].map(({ name, shape, typeName }) => `${name} ${shape} ${typeName}`).sort(),
    [
      "dec.blk.1.cross_attn_k.bias 8 F32",
      "dec.blk.1.cross_attn_k.weight 8,8 F16",
      "dec.blk.1.cross_attn_norm.bias 8 F32",
      "dec.blk.1.cross_attn_output.weight 8,8 F16",
      "dec.output_norm.weight 8 F32",
      "enc.blk.0.attn_k.bias 8 F32",
      "enc.blk.0.attn_k.weight 8,8 F16",
      "enc.blk.0.attn_q.bias 8 F32",
      "enc.blk.0.ffn_norm.weight 8 F32",
      "enc.conv1d.1.weight 3,4,8 F16",
      "enc.position_embd.weight 8,6 F16",
      "token_embd.weight 8,300 F16",
    ],
  );
  const numbers = Object.entries(metadata).filter(([key]) => key.startsWith("whisper."));
  assertEquals(
    Object.fromEntries(
      numbers.map(([key, value]) => [key.slice(8), typeof value === "object" ? [...value] : value]),
    ),
    {
      block_count: 1,
      decoder_block_count: 2,
      context_length: 10,
      "encoder.context_length": 6,
      embedding_length: WIDTH,
      feed_forward_length: 12,
      "attention.head_count": 2,
      "attention.layer_norm_epsilon": Math.fround(1e-5),
      mel_bins: 4,
      multilingual: true,
      suppress_tokens: [7, 8, 9],
      begin_suppress_tokens: [3],
      alignment_heads: [0, 1, 1, 0],
      vocab_size: VOCABULARY,
    },
  );
  using reader = await TensorReader.open({ metadata, tensors, ...file });
  const bytes = new Uint8Array(4 * WIDTH);
  reader.read(tensors.get("enc.blk.0.attn_k.bias")!, 0, bytes);
  assertEquals(bytes, new Uint8Array(4 * WIDTH));
});

Deno.test("a folder of Whisper that lacks numbers or tensors is refused", async () => {
  const { num_mel_bins: _, ...config } = CONFIG;
  await assertRejects(() => convert({ config }), ConversionError, "num_mel_bins");
  const relu = { ...CONFIG, activation_function: "relu" };
  await assertRejects(() => convert({ config: relu }), ConversionError, "activation_function");
  const tensors = TENSORS.filter(({ name }) => !name.includes("embed_tokens"));
  await assertRejects(() => convert({ tensors }), ConversionError, "embed_tokens");
  const odd = [...TENSORS, tensor("model.encoder.odd.weight", 2, 2)];
  await assertRejects(() => convert({ tensors: odd }), ConversionError, "model.encoder.odd.weight");
});
