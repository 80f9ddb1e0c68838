// The way back of export.ts: the vocabulary and the weights of its GGUF file, in a folder where make.ts
// keeps the one and train.py goes on from the other. deno run -A bench/box/import.ts FILE.gguf FOLDER

import { existsSync } from "node:fs";
import { quantFormat } from "../../kernels/mod.ts";
import { PieceKind, storedName } from "../../engine/create/safetensors/mod.ts";
import { type GgufFile, readGguf, type TensorInfo, TensorReader } from "../../engine/gguf/mod.ts";

/** Where GGUF says how many heads the rows of a matrix are; these it has interleaved. */
const HEADS: Readonly<Record<string, string>> = {
  attn_q: "llama.attention.head_count",
  attn_k: "llama.attention.head_count_kv",
};

/**
 * Writes model.safetensors, and of tokenizer.json what a vocabulary is made of.
 *
 * @throws Error if the folder has a training already, which would go on from its own weights
 */
export async function importModel(path: string, folder: string): Promise<void> {
  if (existsSync(`${folder}/checkpoint.pt`)) {
    throw new Error(`Cannot import the model: ${folder} has a training already, name a new folder`);
  }
  const file = await readGguf(path);
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/tokenizer.json`, JSON.stringify(vocabularyOf(file)));

  using reader = await TensorReader.open(file);
  const header: Record<string, unknown> = {};
  const parts: Float32Array<ArrayBuffer>[] = [];
  let end = 0;
  for (const tensor of file.tensors.values()) {
    const values = valuesOf(reader, tensor);
    const heads = Number(file.metadata[HEADS[tensor.name.split(".").at(-2)!] ?? ""] ?? 0);
    header[storedName(tensor.name)!] = {
      dtype: "F32",
      shape: tensor.shape.toReversed(),
      data_offsets: [end, end += values.byteLength],
    };
    parts.push(heads > 0 ? inHalves(values, heads, tensor.shape[0]!) : values);
  }
  const text = JSON.stringify(header);
  const padded = text.padEnd(Math.ceil(text.length / 8) * 8);
  const length = BigUint64Array.of(BigInt(padded.length));
  const bytes = await new Blob([length, padded, ...parts]).bytes();
  await Deno.writeFile(`${folder}/model.safetensors`, bytes);
}

function vocabularyOf({ metadata }: GgufFile): unknown {
  const tokens = metadata["tokenizer.ggml.tokens"] as string[];
  const types = metadata["tokenizer.ggml.token_type"] as ArrayLike<number>;
  const normal = tokens.flatMap((token, id) => types[id] === PieceKind.normal ? [[token, id]] : []);
  const merges = metadata["tokenizer.ggml.merges"];
  return { model: { type: "BPE", vocab: Object.fromEntries(normal), merges } };
}

function valuesOf(reader: TensorReader, tensor: TensorInfo): Float32Array<ArrayBuffer> {
  const format = quantFormat(tensor.type)!;
  const bytes = new Uint8Array(tensor.byteLength);
  reader.read(tensor, 0, bytes);
  return new Float32Array(format.dequantize(bytes, bytes.length / format.blockBytes));
}

/** Undoes GGUF's order of a head's rows, where those of its two halves take turns. */
function inHalves(
  values: Float32Array<ArrayBuffer>, // [heads, half, 2, width]
  heads: number,
  width: number,
): Float32Array<ArrayBuffer> { // [heads, 2, half, width]
  const result = new Float32Array(values.length);
  const rows = values.length / width / heads;
  for (let row = 0; row < heads * rows; row++) {
    const place = row % rows;
    const to = row - place + (place >> 1) + (place & 1) * rows / 2;
    result.set(values.subarray(row * width, (row + 1) * width), to * width);
  }
  return result;
}

if (import.meta.main) {
  const [file, folder] = Deno.args;
  if (!file || !folder) throw new Error("Cannot import the model: name a file and a folder");
  await importModel(file, folder);
}
