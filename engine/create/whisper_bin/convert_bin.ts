// Converts a file of whisper.cpp, such as ggml-base.bin, to GGUF: the same weights in the same formats,
// quantized ones too, under GGUF's names.

import { fileSystem } from "../../../host/mod.ts";
import { nextTask } from "../../async.ts";
import type { Cancellation } from "../../cancellation.ts";
import { ConversionError } from "../../errors.ts";
import {
  fileTypeByName,
  type WritableMetadata,
  type WritableTensor,
  writeGguf,
} from "../../gguf/mod.ts";
import { alignmentHeads } from "./alignment_heads.ts";
import { type BinTensor, readBinHeader, readInto } from "./read_bin.ts";
import { binVocabulary } from "./vocabulary.ts";

/** The options of {@linkcode convertBin}. */
export interface ConvertBinOptions {
  /** Path of the file. */
  readonly from: string;
  /** Path of the GGUF file to write. An existing file is overwritten. */
  readonly to: string;
  /** Receives the number of bytes of tensors that are done, and of all. */
  onProgress?(done: number, total: number): void;
  /** Cancels the work. */
  readonly signal?: Cancellation;
}

const TOP: Readonly<Record<string, string>> = {
  "encoder.conv1": "enc.conv1d.1",
  "encoder.conv2": "enc.conv1d.2",
  "encoder.ln_post": "enc.output_norm",
  "decoder.token_embedding": "token_embd",
  "decoder.ln": "dec.output_norm",
};

const LAYER: Readonly<Record<string, string>> = {
  "attn_ln": "attn_norm",
  "attn.query": "attn_q",
  "attn.key": "attn_k",
  "attn.value": "attn_v",
  "attn.out": "attn_output",
  "cross_attn_ln": "cross_attn_norm",
  "cross_attn.query": "cross_attn_q",
  "cross_attn.key": "cross_attn_k",
  "cross_attn.value": "cross_attn_v",
  "cross_attn.out": "cross_attn_output",
  "mlp_ln": "ffn_norm",
  "mlp.0": "ffn_up",
  "mlp.2": "ffn_down",
};

/** Bytes of a tensor that are in memory at a time. */
const SLICE_BYTES = 1 << 22;

/**
 * Converts a file. A failed or aborted attempt leaves no file.
 *
 * @throws ConversionError if the file is damaged, or no Whisper; the signal's reason
 */
export async function convertBin(
  { from, to, onProgress, signal }: ConvertBinOptions,
): Promise<void> {
  using file = await fileSystem().open(from);
  const { size } = await file.stat();
  const { sizes, words, tensors } = readBinHeader(from, file, size);
  const { width, heads, decoderWidth, decoderHeads } = sizes;
  if (decoderWidth !== width || decoderHeads !== heads) {
    throw new ConversionError(from, "sizes", "encoder and decoder have different ones");
  }
  const total = tensors.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let done = 0;
  async function* dataOf({ name, offset, byteLength }: BinTensor) {
    const slice = new Uint8Array(Math.min(SLICE_BYTES, byteLength));
    for (let at = 0; at < byteLength; at += slice.length) {
      signal?.throwIfAborted();
      const part = slice.subarray(0, Math.min(slice.length, byteLength - at));
      readInto(
        file,
        offset + at,
        part,
        () => new ConversionError(from, `tensor "${name}"`, "the file has become shorter"),
      );
      onProgress?.(done += part.length, total);
      yield part;
      await nextTask();
    }
  }
  const written = tensors.flatMap((tensor): WritableTensor[] => {
    const name = ggufName(tensor.name);
    if (name === undefined) {
      const state = "no Whisper has it";
      throw new ConversionError(from, `tensor ${JSON.stringify(tensor.name)}`, state);
    }
    const { type, shape } = tensor;
    // A bias of a convolution is a column.
    const own = name.endsWith(".bias") ? [shape.reduce((a, b) => a * b, 1)] : shape;
    const one = { name, type, shape: own, data: () => dataOf(tensor) };
    return name.endsWith("attn_k.weight") ? [one, zeroBias(name, shape[1])] : [one];
  });
  const count = (value: number) => ({ uint32: value });
  const fileType = fileTypeByName(commonType(tensors));
  const alignment = alignmentHeads(sizes);
  const metadata: WritableMetadata = {
    "general.architecture": "whisper",
    "general.type": "model",
    ...(fileType !== undefined && { "general.file_type": count(fileType) }),
    "general.quantization_version": count(2),
    "whisper.block_count": count(sizes.encoderLayers),
    "whisper.decoder_block_count": count(sizes.decoderLayers),
    "whisper.context_length": count(sizes.context),
    "whisper.encoder.context_length": count(sizes.rows),
    "whisper.embedding_length": count(width),
    "whisper.feed_forward_length": count(4 * width),
    "whisper.attention.head_count": count(heads),
    "whisper.attention.layer_norm_epsilon": { float32: 1e-5 },
    "whisper.mel_bins": count(sizes.bins),
    "whisper.vocab_size": count(sizes.vocabulary),
    ...alignment && { "whisper.alignment_heads": alignment },
    ...binVocabulary(from, words, sizes.vocabulary),
  };
  try {
    await writeGguf(to, metadata, written);
  } catch (error) {
    await fileSystem().remove(to).catch(() => {});
    throw error;
  }
}

/** The name in GGUF; undefined if Whisper has no such tensor. */
function ggufName(name: string): string | undefined {
  const [, side, kind] = /^(en|de)coder\.positional_embedding()$/.exec(name) ?? [];
  if (kind !== undefined) return `${side}c.position_embd.weight`;
  const [, path, part] = /^(.+)\.(weight|bias)$/.exec(name) ?? [];
  if (path === undefined) return undefined;
  if (Object.hasOwn(TOP, path)) return `${TOP[path]}.${part}`;
  const [, of, layer, own] = /^(en|de)coder\.blocks\.(\d+)\.(.+)$/.exec(path) ?? [];
  return own !== undefined && Object.hasOwn(LAYER, own)
    ? `${of}c.blk.${Number(layer)}.${LAYER[own]}.${part}`
    : undefined;
}

/** A bias of zeros for keys, which have none; see zeroBiases() of folders. */
function zeroBias(weight: string, rows: number): WritableTensor {
  const name = weight.replace(/weight$/, "bias");
  return { name, type: "F32", shape: [rows], data: () => [new Uint8Array(4 * rows)] };
}

/** The type with the most bytes. */
function commonType(tensors: readonly BinTensor[]): string {
  const bytes = new Map<string, number>();
  for (const { type, byteLength } of tensors) bytes.set(type, (bytes.get(type) ?? 0) + byteLength);
  return [...bytes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "F32";
}
