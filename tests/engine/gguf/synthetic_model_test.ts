// Models with random weights: sound files of the right shape, with weights of the right size, a
// vocabulary and a template that work, and the same bytes in every run.

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type Distribution, randomWeights } from "../../../bench/random_weights.ts";
import { SMOLLM2_135M, writeSyntheticLlama } from "../../../bench/synthetic_model.ts";
import {
  fileTypeName,
  type GgufFile,
  MetadataReader,
  readGguf,
  tensorTypeByName,
} from "../../../engine/gguf/mod.ts";
import { quantFormats } from "../../../kernels/quants/mod.ts";
import { createChatTemplate, createTokenizer } from "../../../tokenizer/mod.ts";
import { BEGIN_TOKEN, END_TOKEN, type TinyOptions, writeTinyLlama } from "../../tiny_model.ts";

/** The bytes of a tiny model and its header. */
async function tinyModel(options: TinyOptions): Promise<{ bytes: Uint8Array; file: GgufFile }> {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await writeTinyLlama(path, options);
    return { bytes: await Deno.readFile(path), file: await readGguf(path) };
  } finally {
    await Deno.remove(path);
  }
}

function shapes(file: GgufFile): Record<string, string> {
  return Object.fromEntries(
    Array.from(file.tensors.values(), (tensor) => [
      tensor.name,
      `${tensor.typeName} ${tensor.shape.join("x")}`,
    ]),
  );
}

Deno.test("writeTinyLlama() writes the tensors of a Llama of any size", async () => {
  const { file } = await tinyModel({
    layers: 1,
    embedding: 96,
    heads: 3,
    keyValueHeads: 1,
    feedForward: 72,
    vocabulary: 259,
    type: "Q8_0",
  });
  assertEquals(shapes(file), {
    "token_embd.weight": "Q8_0 96x259",
    "blk.0.attn_norm.weight": "F32 96",
    "blk.0.attn_q.weight": "Q8_0 96x96",
    "blk.0.attn_k.weight": "Q8_0 96x32",
    "blk.0.attn_v.weight": "Q8_0 96x32",
    "blk.0.attn_output.weight": "Q8_0 96x96",
    "blk.0.ffn_norm.weight": "F32 96",
    "blk.0.ffn_gate.weight": "Q8_0 96x72",
    "blk.0.ffn_up.weight": "Q8_0 96x72",
    "blk.0.ffn_down.weight": "F16 72x96",
    "output_norm.weight": "F32 96",
    "output.weight": "Q8_0 96x259",
  });
  const metadata = new MetadataReader(file);
  assertEquals(metadata.string("general.architecture"), "llama");
  assertEquals(fileTypeName(metadata.count("general.file_type")), "Q8_0");
  assertEquals(metadata.count("llama.attention.head_count_kv"), 1);
  assertEquals(metadata.strings("tokenizer.ggml.tokens").length, 259);
});

Deno.test("writeTinyLlama() gives the same file for the same seed only", async () => {
  const options = { layers: 1, embedding: 32, heads: 1, keyValueHeads: 1, tiedEmbedding: true };
  const [first, again, other] = await Promise.all(
    [1, 1, 2].map((seed) => tinyModel({ ...options, seed })),
  );
  assertEquals(first.bytes, again.bytes);
  assertEquals(first.bytes.length, other.bytes.length);
  const { dataOffset } = first.file;
  const differing = first.bytes.subarray(dataOffset)
    .filter((byte, index) => byte !== other.bytes[dataOffset + index]);
  assertEquals(differing.length > 0.7 * (first.bytes.length - dataOffset), true);
});

Deno.test("writeTinyLlama() gives a vocabulary and a template that work", async () => {
  const { file } = await tinyModel({});
  const tokenizer = createTokenizer(file.metadata);
  const template = createChatTemplate(
    new MetadataReader(file).string("tokenizer.chat_template"),
    {},
  );
  const text = template.render({
    messages: [{ role: "user", content: "Grüße 🙂" }],
    addGenerationPrompt: true,
  });
  assertEquals(text, "<|im_start|>user\nGrüße 🙂<|im_end|>\n<|im_start|>assistant\n");
  const tokens = tokenizer.encode(text);
  assertEquals(tokens[0], BEGIN_TOKEN);
  assertEquals(tokens.filter((token) => token === END_TOKEN).length, 1);
  assertEquals(tokenizer.decode(tokens, { special: true }), text);
  assertEquals([...tokenizer.endOfGeneration], [END_TOKEN]);
  for (let byte = 0; byte < 256; byte++) assertEquals(tokenizer.tokenBytes(byte).length, 1);
});

Deno.test("writeSyntheticLlama() writes a layer of SmolLM2 135M at its size", async () => {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await writeSyntheticLlama(path, { ...SMOLLM2_135M, layers: 1 }, { type: "Q4_0" });
    const file = await readGguf(path);
    const weights = [...file.tensors.values()]
      .map(({ shape }) => shape.reduce((product, length) => product * length));
    const layer = 2 * 576 * (576 + 192) + 3 * 576 * 1536 + 2 * 576;
    assertEquals(weights.reduce((sum, count) => sum + count), 49_152 * 576 + 576 + layer);
    assertEquals(file.tensors.has("output.weight"), false);
    const tokens = new MetadataReader(file).strings("tokenizer.ggml.tokens");
    assertEquals(new Set(tokens).size, 49_152);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("writeTinyLlama() refuses a vocabulary below 258", async () => {
  await assertRejects(() => tinyModel({ vocabulary: 257 }), RangeError, "258");
});

function decodeAll(type: string, values: number, distribution: Distribution): Float32Array {
  const format = quantFormats.find(({ name }) => name === type)!;
  const decoded = Array.from(
    randomWeights(type, values, distribution),
    (piece) => format.dequantize(piece, piece.length / format.blockBytes),
  );
  return Float32Array.from(decoded.flatMap((floats) => [...floats]));
}

/** Their scales are no halves at a fixed place. */
const NOT_MADE = ["IQ1_M", "MXFP4", "NVFP4"];

for (const { name, ggmlType, blockSize, blockBytes } of quantFormats) {
  if (NOT_MADE.includes(name)) continue;
  Deno.test(`randomWeights() gives ${name} weights of the deviation asked for`, () => {
    assertEquals(tensorTypeByName(name), { id: ggmlType, name, blockSize, blockBytes });
    const floats = decodeAll(name, 1 << 16, { mean: 0, deviation: 0.02, seed: 3 });
    assertEquals(floats.length, 1 << 16);
    const mean = floats.reduce((sum, value) => sum + value, 0) / floats.length;
    const variance = floats.reduce((sum, value) => sum + (value - mean) ** 2, 0) / floats.length;
    const deviation = Math.sqrt(variance);
    assertEquals(Math.abs(mean) < 0.001, true, `mean ${mean}`);
    assertEquals(Math.abs(deviation / 0.02 - 1) < 0.05, true, `deviation ${deviation}`);
  });
}

Deno.test("randomWeights() gives large tensors in pieces of whole blocks", () => {
  const values = 9 << 20;
  let bytes = 0;
  let pieces = 0;
  for (const piece of randomWeights("Q8_0", values, { mean: 0, deviation: 1, seed: 1 })) {
    assertEquals(piece.length % 34, 0);
    bytes += piece.length;
    pieces++;
  }
  assertEquals([bytes, pieces], [values / 32 * 34, 3]);
});

Deno.test("randomWeights() refuses types that it cannot make", () => {
  for (const type of NOT_MADE) {
    const weights = randomWeights(type, 256, { mean: 0, deviation: 1, seed: 1 });
    assertThrows(() => weights.next(), RangeError, `${type} is not supported`);
  }
});
