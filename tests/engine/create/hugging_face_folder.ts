// Folders of Hugging Face's layout for tests: safetensors files, and model folders made of GGUF files
// by undoing what a conversion does. What is converted back has to be what it was.

import { join } from "node:path";
import { type GgufFile, readGguf, TensorReader } from "../../../engine/gguf/mod.ts";

/** A tensor for a safetensors file; the length of a row comes last. */
export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: Float32Array;
  /** Default "F32". */
  readonly type?: "F32" | "F16" | "BF16";
}

/** The bytes of a safetensors file. @param change for defects: gets the header, gives another */
export function safetensorsBytes(
  tensors: readonly NamedTensor[],
  change: (header: Record<string, unknown>) => unknown = (header) => header,
): Uint8Array<ArrayBuffer> {
  const header: Record<string, unknown> = { __metadata__: { format: "pt" } };
  const data: Uint8Array[] = [];
  let offset = 0;
  for (const { name, shape, values, type = "F32" } of tensors) {
    const bytes = encode(values, type);
    header[name] = { dtype: type, shape, data_offsets: [offset, offset + bytes.length] };
    offset += bytes.length;
    data.push(bytes);
  }
  const text = new TextEncoder().encode(JSON.stringify(change(header)));
  const length = new Uint8Array(BigUint64Array.of(BigInt(text.length)).buffer);
  return new Uint8Array([length, text, ...data].flatMap((part) => [...part]));
}

function encode(values: Float32Array, type: "F32" | "F16" | "BF16"): Uint8Array {
  if (type === "F16") return new Uint8Array(Float16Array.from(values).buffer);
  const words = new Uint32Array(values.slice().buffer);
  if (type === "F32") return new Uint8Array(words.buffer);
  // Values that tests store as BF16 have nothing in the lower half.
  return new Uint8Array(Uint16Array.from(words, (word) => word >>> 16).buffer);
}

/** Writes files into a new folder; all but bytes and text become JSON. */
export async function writeFolder(files: Readonly<Record<string, unknown>>): Promise<string> {
  const folder = await Deno.makeTempDir();
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    const bytes = content instanceof Uint8Array
      ? content
      : new TextEncoder().encode(typeof content === "string" ? content : JSON.stringify(content));
    await Deno.writeFile(join(folder, name), bytes);
  }
  return folder;
}

/** What is undone beside the names. */
export interface Undoing {
  /** Rows of a head of queries and keys that lie in pairs. */
  readonly pairedRows?: number;
  /** Norms have 1 too much, and there are some after blocks. */
  readonly isGemma?: boolean;
  readonly hasPostNorms?: boolean;
}

const NAMES: Readonly<Record<string, string>> = {
  token_embd: "model.embed_tokens",
  output_norm: "model.norm",
  output: "lm_head",
  attn_norm: "input_layernorm",
  attn_q: "self_attn.q_proj",
  attn_k: "self_attn.k_proj",
  attn_v: "self_attn.v_proj",
  attn_output: "self_attn.o_proj",
  attn_q_norm: "self_attn.q_norm",
  attn_k_norm: "self_attn.k_norm",
  ffn_gate: "mlp.gate_proj",
  ffn_up: "mlp.up_proj",
  ffn_down: "mlp.down_proj",
  post_attention_norm: "post_attention_layernorm",
  post_ffw_norm: "post_feedforward_layernorm",
};

/** The tensors of a GGUF file of F32 as Transformers has them; without rope_freqs. */
export async function transformersTensors(path: string, undoing: Undoing): Promise<NamedTensor[]> {
  const file = await readGguf(path);
  using reader = await TensorReader.open(file);
  return [...file.tensors.keys()].filter((name) => name !== "rope_freqs.weight").map((name) => {
    const values = readValues(file, reader, name);
    const shape = file.tensors.get(name)!.shape.toReversed();
    const parts = /^(?:blk\.(\d+)\.)?(\w+)\.(weight|bias)$/.exec(name)!;
    const [, layer, part, kind] = parts;
    const norm = undoing.hasPostNorms ? "pre_feedforward_layernorm" : "post_attention_layernorm";
    const own = part === "ffn_norm" ? norm : NAMES[part];
    const prefix = layer === undefined ? "" : `model.layers.${layer}.`;
    const isPaired = undoing.pairedRows !== undefined && /^attn_[qk]$/.test(part);
    if (undoing.isGemma && part.endsWith("norm")) {
      values.forEach((value, i) => values[i] = value - 1);
    }
    return {
      name: `${prefix}${own}.${kind}`,
      shape,
      values: isPaired ? separatePairs(values, shape, undoing.pairedRows!) : values,
    };
  });
}

function readValues(file: GgufFile, reader: TensorReader, name: string): Float32Array {
  const tensor = file.tensors.get(name)!;
  const bytes = new Uint8Array(tensor.byteLength);
  reader.read(tensor, 0, bytes);
  return new Float32Array(bytes.buffer);
}

/** Of each head the even rows first, then the odd ones. */
function separatePairs(values: Float32Array, shape: readonly number[], rows: number): Float32Array {
  const width = shape[1] ?? 1;
  const separated = new Float32Array(values.length);
  for (let row = 0; row < shape[0]; row++) {
    const inHead = row % rows;
    const target = row - inHead + (inHead >> 1) + (inHead & 1) * rows / 2;
    separated.set(values.subarray(row * width, (row + 1) * width), target * width);
  }
  return separated;
}
