// Writes vision models with random weights: a projector that is cut from a real one, and a decoder of
// one layer, which llama.cpp needs beside it and which says nothing. Sizes, not values, decide the
// speed. Names of keys and tensors are those of llama.cpp's "clip" architecture.

import { type WritableMetadata, type WritableTensor, writeGguf } from "../engine/gguf/mod.ts";
import { randomWeights } from "./random_weights.ts";
import { type LlamaShape, writeSyntheticLlama } from "./synthetic_model.ts";

/** The sizes of an encoder; the rest is as in the models of its family. */
export interface EncoderShape {
  readonly family: "gemma3" | "qwen2.5vl";
  readonly layers: number;
  readonly width: number;
  /** Side of the square that gemma3 makes of a picture, in pixels. */
  readonly imageSize: number;
}

/** The files of a vision model. */
export interface VisionFiles {
  readonly projector: string;
  readonly decoder: string;
}

const PATCH_SIZE = 14;
/** Patches of a token of qwen2.5vl, per side. */
const MERGE = 2;

const DECODER: LlamaShape = {
  layers: 1,
  embedding: 256,
  heads: 2,
  keyValueHeads: 2,
  feedForward: 256,
  vocabulary: 300,
  context: 32_768,
  ropeBase: 1_000_000,
  tiedEmbedding: true,
};

/** Lengths of a head, those of SigLIP so400m and base, or that of Qwen2.5-VL. */
const HEAD_LENGTHS = { "gemma3": [72, 64], "qwen2.5vl": [80, 64] };
/** The width of the feed-forward layers over that of the encoder. */
const FEED_FORWARD = { "gemma3": 4, "qwen2.5vl": 8 / 3 };

/** Reads `gemma3:12x768@448` or `qwen2.5vl:8x1280`: layers, width, side of the picture. */
export function parseShape(text: string): EncoderShape {
  const match = /^(gemma3|qwen2\.5vl):(\d+)x(\d+)(?:@(\d+))?$/.exec(text);
  if (!match) {
    throw new RangeError(
      `Cannot make the encoder "${text}": name it like gemma3:12x768@448 or qwen2.5vl:8x1280`,
    );
  }
  const [, family, layers, width, imageSize = 560] = match;
  const shape = {
    family: family as EncoderShape["family"],
    layers: Number(layers),
    width: Number(width),
    imageSize: Number(imageSize),
  };
  headsOf(shape);
  return shape;
}

/** Writes the files of a vision model into a directory. */
export async function writeVisionModel(
  directory: string,
  shape: EncoderShape,
): Promise<VisionFiles> {
  const projector = `${directory}/projector.gguf`;
  const decoder = `${directory}/decoder.gguf`;
  await writeGguf(projector, encoderMetadata(shape), encoderTensors(shape));
  await writeSyntheticLlama(decoder, DECODER, {
    type: "F16",
    metadata: shape.family === "qwen2.5vl" ? gridDecoderMetadata() : {},
  });
  return { projector, decoder };
}

function headsOf({ family, width }: EncoderShape): number {
  const length = HEAD_LENGTHS[family].find((length) => width % length === 0);
  if (length !== undefined) return width / length;
  throw new RangeError(
    `Cannot make an encoder of width ${width}: ${family} takes multiples of ` +
      HEAD_LENGTHS[family].join(" and "),
  );
}

/** The width of the feed-forward layers, rounded to whole blocks of 32. */
function feedForwardOf({ family, width }: EncoderShape): number {
  return 32 * Math.round(width * FEED_FORWARD[family] / 32);
}

function encoderMetadata(shape: EncoderShape): WritableMetadata {
  const isGemma = shape.family === "gemma3";
  return {
    "general.architecture": "clip",
    "general.type": "mmproj",
    "general.file_type": { uint32: 1 },
    "clip.has_vision_encoder": true,
    "clip.projector_type": isGemma ? "gemma3" : "qwen2.5vl_merger",
    "clip.vision.projection_dim": { uint32: DECODER.embedding },
    "clip.vision.image_size": { uint32: shape.imageSize },
    "clip.vision.patch_size": { uint32: PATCH_SIZE },
    "clip.vision.embedding_length": { uint32: shape.width },
    "clip.vision.feed_forward_length": { uint32: feedForwardOf(shape) },
    "clip.vision.block_count": { uint32: shape.layers },
    "clip.vision.attention.head_count": { uint32: headsOf(shape) },
    "clip.vision.attention.layer_norm_epsilon": { float32: 1e-6 },
    "clip.vision.image_mean": new Float32Array(3).fill(0.5),
    "clip.vision.image_std": new Float32Array(3).fill(0.5),
    ...(isGemma ? { "clip.use_gelu": true } : {
      "clip.use_silu": true,
      // Of 32 layers, every eighth sees the whole picture. llama.cpp wants some that do not.
      "clip.vision.n_wa_pattern": { uint32: Math.max(2, Math.min(8, shape.layers)) },
    }),
  };
}

function encoderTensors(shape: EncoderShape): WritableTensor[] {
  const { family, layers, width, imageSize } = shape;
  const isGemma = family === "gemma3";
  const tensors: WritableTensor[] = [];

  function add(name: string, shape: number[], type: string, mean: number, deviation: number): void {
    const values = shape.reduce((product, length) => product * length);
    const seed = 1 + tensors.length * 0x9e3779b9;
    const data = () => randomWeights(type, values, { mean, deviation, seed });
    tensors.push({ name, shape, type, data });
  }
  function linear(name: string, columns: number, rows: number, hasBias = true): void {
    add(`${name}.weight`, [columns, rows], "F16", 0, 0.02);
    if (hasBias) add(`${name}.bias`, [rows], "F32", 0, 0.02);
  }
  function norm(name: string): void {
    add(`${name}.weight`, [width], "F32", 1, 0.05);
    if (isGemma) add(`${name}.bias`, [width], "F32", 0, 0.02);
  }

  // Qwen's models embed two frames of a video; a picture stands for both.
  for (const end of isGemma ? [""] : ["", ".1"]) {
    const kernel = [PATCH_SIZE, PATCH_SIZE, 3, width];
    add(`v.patch_embd.weight${end}`, kernel, isGemma ? "F32" : "F16", 0, 0.02);
  }
  if (isGemma) {
    add("v.patch_embd.bias", [width], "F32", 0, 0.02);
    const patches = Math.floor(imageSize / PATCH_SIZE) ** 2;
    add("v.position_embd.weight", [width, patches], "F32", 0, 0.02);
  }
  const feedForward = feedForwardOf(shape);
  for (let layer = 0; layer < layers; layer++) {
    const block = `v.blk.${layer}`;
    norm(`${block}.ln1`);
    for (const part of ["q", "k", "v", "out"]) linear(`${block}.attn_${part}`, width, width);
    norm(`${block}.ln2`);
    if (!isGemma) linear(`${block}.ffn_gate`, width, feedForward);
    linear(`${block}.ffn_up`, width, feedForward);
    linear(`${block}.ffn_down`, feedForward, width);
  }
  norm("v.post_ln");
  if (isGemma) {
    linear("mm.input_projection", DECODER.embedding, width, false);
    add("mm.soft_emb_norm.weight", [width], "F32", 1, 0.05);
  } else {
    const joined = MERGE ** 2 * width;
    linear("mm.0", joined, joined);
    linear("mm.2", joined, DECODER.embedding);
  }
  return tensors;
}

/**
 * The key that makes a decoder give the rows of a picture positions in a grid, as in Qwen2.5-VL.
 */
function gridDecoderMetadata(): WritableMetadata {
  const { layers, embedding, heads, keyValueHeads, feedForward, context, ropeBase } = DECODER;
  const pairs = embedding / heads / 2;
  return {
    "general.architecture": "qwen2vl",
    "qwen2vl.block_count": { uint32: layers },
    "qwen2vl.context_length": { uint32: context },
    "qwen2vl.embedding_length": { uint32: embedding },
    "qwen2vl.feed_forward_length": { uint32: feedForward },
    "qwen2vl.attention.head_count": { uint32: heads },
    "qwen2vl.attention.head_count_kv": { uint32: keyValueHeads },
    "qwen2vl.attention.layer_norm_rms_epsilon": { float32: 1e-6 },
    "qwen2vl.rope.freq_base": { float32: ropeBase },
    "qwen2vl.rope.dimension_sections": Int32Array.of(pairs / 4, pairs * 3 / 8, pairs * 3 / 8, 0),
  };
}
