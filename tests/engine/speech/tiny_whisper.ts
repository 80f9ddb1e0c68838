// A Whisper with random weights: its GGUF file, and what it computes, plainly, in doubles.

import { activateReference } from "../../../kernels/mod.ts";
import { type WritableMetadata, writeGguf } from "../../../engine/gguf/mod.ts";
import { randomFloats } from "../../numbers.ts";

/** The sizes of the model. The encoder has fewer layers than the decoder. */
export const SIZES = {
  bins: 5,
  rows: 37,
  context: 64,
  width: 64,
  heads: 2,
  hidden: 96,
  encoderLayers: 1,
  decoderLayers: 2,
} as const;

/** Number of tokens of words; the special ones and those of times follow. */
const WORDS = 256;
const SPECIAL = [
  ...["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|haw|>", "<|translate|>"],
  ...["<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"],
];
const TIMES = 1501;

/** Ids of the tokens by their names. */
export const TOKENS = Object.fromEntries(SPECIAL.map((name, i) => [name, WORDS + i]));
export const FIRST_TIME = WORDS + SPECIAL.length;
export const VOCABULARY = FIRST_TIME + TIMES;

/** The tensors by name: shapes with the length of a row first. */
export interface TinyTensor {
  readonly shape: readonly number[];
  readonly values: Float32Array<ArrayBuffer>;
}

/** The weights. */
export function tinyWeights(seed = 1): Map<string, TinyTensor> {
  const { bins, rows, context, width, hidden, encoderLayers, decoderLayers } = SIZES;
  const tensors = new Map<string, TinyTensor>();
  const add = (name: string, ...shape: number[]) => {
    const count = shape.reduce((product, size) => product * size, 1);
    const isNorm = /norm\.weight$/.test(name);
    const scale = shape.length > 1 ? 1.5 / Math.sqrt(count / shape.at(-1)!) : 0.3;
    const values = randomFloats(count, seed + tensors.size)
      .map((value) => isNorm ? 1 + 0.2 * value : scale * value);
    tensors.set(name, { shape, values: Float32Array.from(values) });
  };
  const matrix = (name: string, columns: number, outputs: number) => {
    add(`${name}.weight`, columns, outputs);
    add(`${name}.bias`, outputs);
  };
  const norm = (name: string) => {
    add(`${name}.weight`, width);
    add(`${name}.bias`, width);
  };
  add("enc.conv1d.1.weight", 3, bins, width);
  add("enc.conv1d.1.bias", width);
  add("enc.conv1d.2.weight", 3, width, width);
  add("enc.conv1d.2.bias", width);
  add("enc.position_embd.weight", width, rows);
  add("dec.position_embd.weight", width, context);
  add("token_embd.weight", width, VOCABULARY);
  for (const [side, layers] of [["enc", encoderLayers], ["dec", decoderLayers]] as const) {
    for (let i = 0; i < layers; i++) {
      const kinds = side === "enc" ? ["attn"] : ["attn", "cross_attn"];
      for (const kind of kinds) {
        norm(`${side}.blk.${i}.${kind}_norm`);
        for (const part of ["q", "k", "v", "output"]) {
          matrix(`${side}.blk.${i}.${kind}_${part}`, width, width);
        }
      }
      norm(`${side}.blk.${i}.ffn_norm`);
      matrix(`${side}.blk.${i}.ffn_up`, width, hidden);
      matrix(`${side}.blk.${i}.ffn_down`, hidden, width);
    }
    norm(`${side}.output_norm`);
  }
  return tensors;
}

/** Writes the file. */
export async function writeTinyWhisper(
  path: string,
  tensors = tinyWeights(),
  more: WritableMetadata = {},
): Promise<void> {
  const { bins, rows, context, width, heads, hidden, encoderLayers, decoderLayers } = SIZES;
  const keys = {
    block_count: encoderLayers,
    decoder_block_count: decoderLayers,
    context_length: context,
    "encoder.context_length": rows,
    embedding_length: width,
    feed_forward_length: hidden,
    "attention.head_count": heads,
    mel_bins: bins,
    vocab_size: VOCABULARY,
  };
  const words = Array.from({ length: WORDS }, (_, byte) => byteLetter(byte));
  const times = Array.from({ length: TIMES }, (_, i) => `<|${(i * 0.02).toFixed(2)}|>`);
  await writeGguf(
    path,
    {
      "general.architecture": "whisper",
      "general.name": "tiny whisper",
      ...Object.fromEntries(
        Object.entries(keys).map(([key, value]) => [`whisper.${key}`, { uint32: value }]),
      ),
      "whisper.attention.layer_norm_epsilon": { float32: 1e-5 },
      "whisper.suppress_tokens": Uint32Array.of(
        ...SPECIAL.slice(1).map((name) => TOKENS[name]),
      ),
      "tokenizer.ggml.model": "gpt2",
      "tokenizer.ggml.pre": "gpt-2",
      "tokenizer.ggml.tokens": [...words, ...SPECIAL, ...times],
      "tokenizer.ggml.token_type": Int32Array.from(
        { length: VOCABULARY },
        (_, id) => id < WORDS ? 1 : 3,
      ),
      "tokenizer.ggml.merges": [],
      "tokenizer.ggml.eos_token_id": { uint32: TOKENS["<|endoftext|>"] },
      ...more,
    },
    Array.from(tensors, ([name, { shape, values }]) => ({
      name,
      shape,
      type: "F32",
      data: () => [new Uint8Array(values.buffer)],
    })),
  );
}

/** The letter by which GPT-2's vocabulary writes a byte. */
function byteLetter(byte: number): string {
  const isShown = (byte: number) =>
    byte >= 33 && byte <= 126 || byte >= 161 && byte <= 172 || byte >= 174;
  if (isShown(byte)) return String.fromCodePoint(byte);
  const before = Array.from({ length: byte }, (_, i) => i).filter((i) => !isShown(i)).length;
  return String.fromCodePoint(256 + before);
}

type Rows = number[][];

/** What the networks compute, plainly. */
export class PlainWhisper {
  constructor(readonly tensors: Map<string, TinyTensor>) {}

  /** The encoder's rows. @param features [frames, bins] */
  encode(features: Float32Array, rows: number = SIZES.rows): Rows {
    const { bins } = SIZES;
    const frames: Rows = Array.from(
      { length: 2 * rows },
      (_, i) => [...features.subarray(i * bins, (i + 1) * bins)],
    );
    const once = this.#convolve(frames, "enc.conv1d.1", 1);
    let x = this.#convolve(once, "enc.conv1d.2", 2);
    x = x.map((row, i) => sum(row, this.#row("enc.position_embd.weight", i)));
    for (let layer = 0; layer < SIZES.encoderLayers; layer++) {
      const name = `enc.blk.${layer}`;
      const normed = this.#norm(x, `${name}.attn_norm`);
      x = add(x, this.#attend(normed, normed, `${name}.attn`, false));
      x = add(x, this.#feedForward(this.#norm(x, `${name}.ffn_norm`), name));
    }
    return this.#norm(x, "enc.output_norm");
  }

  /** The logits of every token. @param onCross receives what a layer's attention to the encoder reads */
  decode(
    encoded: Rows,
    tokens: readonly number[],
    onCross?: (layer: number, queries: Rows, keys: Rows) => void,
  ): Rows {
    let x = tokens.map((token, i) =>
      sum(this.#row("token_embd.weight", token), this.#row("dec.position_embd.weight", i))
    );
    for (let layer = 0; layer < SIZES.decoderLayers; layer++) {
      const name = `dec.blk.${layer}`;
      const normed = this.#norm(x, `${name}.attn_norm`);
      x = add(x, this.#attend(normed, normed, `${name}.attn`, true));
      const queries = this.#norm(x, `${name}.cross_attn_norm`);
      x = add(x, this.#attend(queries, encoded, `${name}.cross_attn`, false));
      onCross?.(
        layer,
        this.#linear(queries, `${name}.cross_attn_q`),
        this.#linear(encoded, `${name}.cross_attn_k`),
      );
      x = add(x, this.#feedForward(this.#norm(x, `${name}.ffn_norm`), name));
    }
    const normed = this.#norm(x, "dec.output_norm");
    return normed.map((row) =>
      Array.from(
        { length: VOCABULARY },
        (_, token) => dot(row, this.#row("token_embd.weight", token)),
      )
    );
  }

  #row(name: string, index: number): number[] {
    const { shape: [length], values } = this.tensors.get(name)!;
    return [...values.subarray(index * length, (index + 1) * length)];
  }

  #linear(x: Rows, name: string): Rows {
    const outputs = this.tensors.get(`${name}.weight`)!.shape[1];
    const bias = this.tensors.get(`${name}.bias`)!.values;
    const rows = Array.from({ length: outputs }, (_, i) => this.#row(`${name}.weight`, i));
    return x.map((row) => rows.map((weights, i) => dot(row, weights) + bias[i]));
  }

  #convolve(x: Rows, name: string, stride: number): Rows {
    const { shape: [, inputs, outputs], values } = this.tensors.get(`${name}.weight`)!;
    const bias = this.tensors.get(`${name}.bias`)!.values;
    return Array.from(
      { length: x.length / stride },
      (_, t) =>
        Array.from({ length: outputs }, (_, output) => {
          let sum = bias[output];
          for (let k = 0; k < 3; k++) {
            const frame = x[t * stride + k - 1];
            if (!frame) continue;
            for (let i = 0; i < inputs; i++) {
              sum += frame[i] * values[(output * inputs + i) * 3 + k];
            }
          }
          return activateReference("gelu_erf", sum);
        }),
    );
  }

  #norm(x: Rows, name: string): Rows {
    const [weight, bias] = ["weight", "bias"].map((part) =>
      this.tensors.get(`${name}.${part}`)!.values
    );
    return x.map((row) => {
      const mean = row.reduce((a, b) => a + b, 0) / row.length;
      const variance = row.reduce((a, b) => a + (b - mean) ** 2, 0) / row.length;
      return row.map((value, i) =>
        (value - mean) / Math.sqrt(variance + 1e-5) * weight[i] + bias[i]
      );
    });
  }

  #attend(x: Rows, source: Rows, name: string, causal: boolean): Rows {
    const size = SIZES.width / SIZES.heads;
    const q = this.#linear(x, `${name}_q`);
    const k = this.#linear(source, `${name}_k`);
    const v = this.#linear(source, `${name}_v`);
    const attended = q.map((query, t) =>
      query.map((_, column) => {
        const first = Math.floor(column / size) * size;
        const seen = causal ? t + 1 : source.length;
        const scores = k.slice(0, seen).map((key) =>
          dot(query.slice(first, first + size), key.slice(first, first + size)) / Math.sqrt(size)
        );
        const most = Math.max(...scores);
        const weights = scores.map((score) => Math.exp(score - most));
        const total = weights.reduce((a, b) => a + b, 0);
        return weights.reduce((sum, weight, p) => sum + weight / total * v[p][column], 0);
      })
    );
    return this.#linear(attended, `${name}_output`);
  }

  #feedForward(x: Rows, name: string): Rows {
    const hidden = this.#linear(x, `${name}.ffn_up`);
    const activated = hidden.map((row) => row.map((value) => activateReference("gelu_erf", value)));
    return this.#linear(activated, `${name}.ffn_down`);
  }
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * b[i], 0);
}

function sum(a: readonly number[], b: readonly number[]): number[] {
  return a.map((value, i) => value + b[i]);
}

function add(a: Rows, b: Rows): Rows {
  return a.map((row, i) => sum(row, b[i]));
}
