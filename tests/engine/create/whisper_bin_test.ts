// Files of whisper.cpp: their names, formats, numbers and vocabulary in GGUF, and files that are damaged.

import { assertEquals, assertRejects } from "@std/assert";
import { alignmentHeads } from "../../../engine/create/whisper_bin/alignment_heads.ts";
import { convertBin } from "../../../engine/create/whisper_bin/mod.ts";
import { ConversionError } from "../../../engine/errors.ts";
import { readGguf, TensorReader } from "../../../engine/gguf/mod.ts";

const folder = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));

/** Ids of GGML's types. */
const [F32, F16, Q8_0] = [0, 1, 8];
const MULTILINGUAL = 51_865;

interface Tensor {
  name: string;
  shape: number[];
  type: number;
}

const TENSORS: Tensor[] = [
  { name: "encoder.conv1.weight", shape: [3, 4, 32], type: F16 },
  { name: "encoder.conv1.bias", shape: [1, 32], type: F32 },
  { name: "encoder.positional_embedding", shape: [32, 6], type: F32 },
  { name: "encoder.ln_post.bias", shape: [32], type: F32 },
  { name: "encoder.blocks.0.attn.key.weight", shape: [32, 32], type: Q8_0 },
  { name: "encoder.blocks.0.mlp.2.bias", shape: [32], type: F32 },
  { name: "decoder.token_embedding.weight", shape: [32, 2], type: F16 },
  { name: "decoder.blocks.3.cross_attn.out.weight", shape: [32, 32], type: F16 },
  { name: "decoder.blocks.3.cross_attn_ln.weight", shape: [32], type: F32 },
  { name: "decoder.ln.weight", shape: [32], type: F32 },
];

/** GPT-2's order of bytes: those that are shown first. */
const BYTES = (() => {
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  const isShown = (byte: number) =>
    byte >= 33 && byte <= 126 || byte >= 161 && byte <= 172 || byte >= 174;
  return [...all.filter(isShown), ...all.filter((byte) => !isShown(byte))];
})();

/** Bytes, then words of two bytes, then three of what came before. */
function words(count: number): Uint8Array[] {
  const list = BYTES.map((byte) => Uint8Array.of(byte));
  const text = (text: string) => new TextEncoder().encode(text);
  list.push(text(" t"), text("he"), text(" the"));
  for (let i = 0; list.length < count; i++) {
    list.push(Uint8Array.of(128 + i % 128, 128 + Math.floor(i / 128) % 128, i >> 14));
  }
  return list;
}

function binFile({ size = MULTILINGUAL, tensors = TENSORS, decoderWidth = 32 } = {}): Uint8Array {
  const parts: Uint8Array[] = [];
  const numbers = (...values: number[]) => {
    parts.push(new Uint8Array(Int32Array.from(values).buffer));
  };
  numbers(0x67676d6c, size, 6, 32, 2, 1, 10, decoderWidth, 2, 4, 4, 1);
  numbers(4, 3);
  parts.push(new Uint8Array(4 * 3 * 4));
  const list = words(size >= MULTILINGUAL ? 50_257 : 50_256);
  numbers(list.length);
  for (const word of list) {
    numbers(word.length);
    parts.push(word);
  }
  for (const { name, shape, type } of tensors) {
    numbers(shape.length, name.length, type, ...shape);
    parts.push(new TextEncoder().encode(name));
    const values = shape.reduce((a, b) => a * b);
    const bytes = type === F32 ? 4 * values : type === F16 ? 2 * values : values / 32 * 34;
    parts.push(Uint8Array.from({ length: bytes }, (_, i) => i % 50));
  }
  const file = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}

async function convert(bytes: Uint8Array): Promise<string> {
  const [from, to] = [`${folder}/model.bin`, `${folder}/model.gguf`];
  await Deno.writeFile(from, bytes);
  await convertBin({ from, to });
  return to;
}

const FILE = binFile();

Deno.test("a file of whisper.cpp becomes GGUF: names, formats and bytes", async () => {
  const file = await readGguf(await convert(FILE));
  assertEquals(
    [...file.tensors.values()].map(({ name, shape, typeName }) => `${name} ${shape} ${typeName}`),
    [
      "enc.conv1d.1.weight 3,4,32 F16",
      "enc.conv1d.1.bias 32 F32",
      "enc.position_embd.weight 32,6 F32",
      "enc.output_norm.bias 32 F32",
      "enc.blk.0.attn_k.weight 32,32 Q8_0",
      "enc.blk.0.attn_k.bias 32 F32",
      "enc.blk.0.ffn_down.bias 32 F32",
      "token_embd.weight 32,2 F16",
      "dec.blk.3.cross_attn_output.weight 32,32 F16",
      "dec.blk.3.cross_attn_norm.weight 32 F32",
      "dec.output_norm.weight 32 F32",
    ],
  );
  using reader = await TensorReader.open(file);
  const bytes = new Uint8Array(2 * 32 * 32);
  reader.read(file.tensors.get("dec.blk.3.cross_attn_output.weight")!, 0, bytes);
  assertEquals(bytes, bytes.map((_, i) => i % 50));
  const { metadata } = file;
  const numbers = ["block_count", "decoder_block_count", "context_length", "mel_bins"];
  assertEquals(numbers.map((key) => metadata[`whisper.${key}`]), [1, 4, 10, 4]);
});

Deno.test("its vocabulary gets merges, special tokens, times, and tokens that are no speech", async () => {
  const { metadata } = await readGguf(await convert(FILE));
  const tokens = metadata["tokenizer.ggml.tokens"] as string[];
  const at = (id: number) => tokens[id];
  assertEquals(
    [256, 50_257, 50_258, 50_259, 50_357, 50_358, 50_363, 50_364, 51_864].map(at),
    ["Ġt", "<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|su|>"].concat(
      ["<|translate|>", "<|notimestamps|>", "<|0.00|>", "<|30.00|>"],
    ),
  );
  assertEquals((metadata["tokenizer.ggml.merges"] as string[]).slice(0, 3), [
    "Ġ t",
    "h e",
    "Ġt he",
  ]);
  const idOf = (letter: string) => tokens.indexOf(letter);
  const suppressed = [...metadata["whisper.suppress_tokens"] as unknown as Uint32Array];
  assertEquals(["#", "[", "~", "a", "."].map((sign) => suppressed.includes(idOf(sign))), [
    true,
    true,
    true,
    false,
    false,
  ]);
  assertEquals(suppressed.slice(-6), [50_258, 50_358, 50_359, 50_360, 50_361, 50_362]);
  assertEquals([...metadata["whisper.begin_suppress_tokens"] as unknown as Uint32Array], [
    idOf("Ġ"),
    50_257,
  ]);
});

Deno.test("a model of English alone has one token less", async () => {
  const { metadata } = await readGguf(await convert(binFile({ size: MULTILINGUAL - 1 })));
  const tokens = metadata["tokenizer.ggml.tokens"] as string[];
  assertEquals(metadata["whisper.multilingual"], false);
  assertEquals([tokens[50_256], tokens[50_363]], ["<|endoftext|>", "<|0.00|>"]);
});

Deno.test("OpenAI's models get the heads by which words are found, others none", () => {
  const headsOf = (
    encoderLayers: number,
    decoderLayers: number,
    size = MULTILINGUAL,
    bins = 80,
  ) => {
    const sizes = { encoderLayers, decoderLayers, bins, vocabulary: size };
    return [...alignmentHeads(sizes as Parameters<typeof alignmentHeads>[0]) ?? []];
  };
  assertEquals(headsOf(4, 4), [2, 2, 3, 0, 3, 2, 3, 3, 3, 4, 3, 5]);
  assertEquals(headsOf(4, 4, MULTILINGUAL - 1).slice(0, 4), [1, 0, 2, 0]);
  assertEquals(headsOf(6, 6).slice(-2), [5, 6]);
  assertEquals(headsOf(32, 4, MULTILINGUAL + 1, 128).slice(0, 2), [2, 4]);
  assertEquals(headsOf(32, 32), [], "the first two large models");
  assertEquals(headsOf(32, 2), [], "a distilled one");
});

Deno.test("damaged files are refused, wherever they end", async () => {
  const cut = [0, 3, 20, 60, 70, 400, 900, FILE.length - 20_000, FILE.length - 9, FILE.length - 1];
  for (const length of cut) {
    await assertRejects(() => convert(FILE.subarray(0, length)), ConversionError);
  }
  const odd = { name: "encoder.odd.weight", shape: [32], type: F32 };
  const refused: [Uint8Array, string][] = [
    [binFile({ tensors: [...TENSORS, odd] }), "encoder.odd.weight"],
    [binFile({ tensors: [{ ...odd, type: 777 }] }), "its type 777 is not known"],
    [binFile({ decoderWidth: 64 }), "different ones"],
    [binFile({ size: 40_000 }), "words"],
  ];
  for (const [bytes, words] of refused) {
    await assertRejects(() => convert(bytes), ConversionError, words);
  }
});
