// Whisper (Radford et al. 2022): an encoder over log-mel frames, with two convolutions before its
// layers, and a decoder that attends to it; pre-norm blocks with LayerNorm, biases and the exact GELU on
// both sides, and learned or tabled positions. speech_network.ts gives them memory and runs them.

import type { FloatRows } from "../../kernels/mod.ts";
import { UnsupportedModelError } from "../errors.ts";
import {
  type Config,
  type EncodedRows,
  type Heads,
  Layer,
  loadCrossAttention,
  type Network,
} from "../nn/mod.ts";
import type { Stack, WeightLoader } from "../weights/mod.ts";
import type { AlignmentHead, CrossLayer } from "./alignment_heads.ts";

/** Frames that a convolution reads at once, and frames that become one row of the encoder. */
export const CONVOLUTION_FRAMES = 3;
export const FRAMES_PER_ROW = 2;

/** The sizes of a model, from its metadata. */
export interface WhisperSizes {
  /** Bands of the mel scale. */
  readonly bins: number;
  /** Rows of the encoder: half as many as frames. */
  readonly rows: number;
  /** Most tokens of the decoder. */
  readonly context: number;
  readonly width: number;
  readonly heads: Heads;
  readonly encoderLayers: number;
  readonly decoderLayers: number;
  /** Tokens of the vocabulary. */
  readonly vocabulary: number;
  /** The heads of the decoder by which words are found in the sound. */
  readonly alignment: readonly AlignmentHead[];
}

/** The networks that a model is built in. */
export interface WhisperBuilder {
  readonly sizes: WhisperSizes;
  readonly config: Config;
  readonly weights: WeightLoader;
  /** The frames as the first convolution reads them: [3 * rows, columns]; see {@linkcode stemColumns}. */
  readonly frames: FloatRows;
  /** Over three frames for each row of the encoder; a part of `encoder`. */
  readonly stem: Network;
  readonly encoder: Network;
  readonly decoder: Network;
  /** The encoder's rows, as the decoder attends to them. */
  readonly encoded: EncodedRows;
  /** Type of the keys and values that the decoder reads of them. */
  readonly encodedType: "f32" | "f16";
}

/** Reads the sizes. Errors: GgufError, UnsupportedModelError. */
export function readSizes(config: Config): WhisperSizes {
  const { width } = config;
  // The frames of a row lie side by side only in rows without padding.
  if (width % 32 !== 0) {
    throw new UnsupportedModelError(
      `Cannot load "${config.path}": rows of ${width} values are not supported, only multiples of 32`,
    );
  }
  const [heads, decoderLayers] = [config.heads(), config.size("decoder_block_count")];
  return {
    bins: config.size("mel_bins"),
    rows: config.size("encoder.context_length"),
    context: config.size("context_length"),
    width,
    heads,
    encoderLayers: config.size("block_count"),
    decoderLayers,
    vocabulary: config.size("vocab_size"),
    alignment: readAlignment(config, decoderLayers, heads.heads),
  };
}

/** The alignment heads: those that the file names, or all of the upper half of the layers. */
function readAlignment(config: Config, layers: number, heads: number): AlignmentHead[] {
  const numbers = config.metadata.optionalNumbers("whisper.alignment_heads", undefined);
  if (!numbers) {
    const first = Math.floor(layers / 2) * heads;
    return Array.from({ length: layers * heads - first }, (_, i) => ({
      layer: Math.floor((first + i) / heads),
      head: (first + i) % heads,
    }));
  }
  return Array.from({ length: Math.ceil(numbers.length / 2) }, (_, i) => {
    const [layer, head] = numbers.slice(2 * i);
    if (layer < layers && head < heads) return { layer, head };
    throw config.error("alignment_heads", `there is no head ${head} in layer ${layer}`);
  });
}

/**
 * Columns of what the first convolution reads: three frames, and a one, which the bias multiplies. So
 * rows of zeros, which stand for the padding of the second convolution, stay zero.
 */
export function stemColumns({ bins }: WhisperSizes): number {
  return CONVOLUTION_FRAMES * bins + 1;
}

/** What the host reads of the networks. */
export interface WhisperRows {
  /** The encoder's output: [rows, width]. */
  readonly x: FloatRows;
  /** The layers of the alignment heads, by their number. */
  readonly crossings: ReadonlyMap<number, CrossLayer>;
}

/** Loads both networks. Errors: GgufError. */
export async function loadWhisper(model: WhisperBuilder): Promise<WhisperRows> {
  const x = await loadEncoder(model);
  return { x, crossings: await loadDecoder(model, x) };
}

/** The encoder's rows: [rows, width]. */
async function loadEncoder(model: WhisperBuilder): Promise<FloatRows> {
  const { sizes: { rows, width, heads, encoderLayers }, encoder, weights } = model;
  const top = new Layer(encoder, weights, model.config, -1, "enc.");
  const x = convolve(model);
  const positions = encoder.memory.floats("positions", width);
  encoder.device.write(
    positions.floats,
    0,
    weights.values("enc.position_embd.weight", [width, rows]),
  );
  encoder.elementwise("add", { rows: x }, { x: { rows: positions } });
  for (let i = 0; i < encoderLayers; i++) {
    const layer = new Layer(encoder, weights, model.config, i, `enc.blk.${i}.`);
    const attend = await layer.attention({ ...heads, causal: false, biases: "all" });
    const feedForward = await layer.feedForward(FEED_FORWARD);
    attend.add(encoder.norm(x, layer.layerNorm("attn_norm"), attend), x);
    feedForward.add(encoder.norm(x, layer.layerNorm("ffn_norm"), feedForward), x);
  }
  encoder.normInto(x, x, top.layerNorm("output_norm"));
  return x;
}

/** The decoder, whose output is logits. The encoder ends with the keys and values that it reads. */
async function loadDecoder(
  model: WhisperBuilder,
  encoded: FloatRows,
): Promise<Map<number, CrossLayer>> {
  const { sizes: { context, width, heads, decoderLayers, vocabulary, alignment } } = model;
  const { encoder, decoder, weights, config } = model;
  const top = new Layer(decoder, weights, config, -1, "dec.");
  const table = await weights.table({ name: "token_embd.weight", rows: vocabulary }, width);
  const positions = await weights.table(top.all("position_embd.weight", context), width);
  const x = decoder.scratch("residual", width);
  decoder.embed(table, x);
  decoder.embed(positions, x, { by: "position", accumulate: true });
  const crossings = [];
  const read = new Map<number, CrossLayer>();
  for (let i = 0; i < decoderLayers; i++) {
    const layer = new Layer(decoder, weights, config, i, `dec.blk.${i}.`);
    const attend = await layer.attention({ ...heads, biases: "all" });
    const cross = await loadCrossAttention(layer, model.encoded, {
      heads,
      type: model.encodedType,
    });
    const feedForward = await layer.feedForward(FEED_FORWARD);
    attend.add(decoder.norm(x, layer.layerNorm("attn_norm"), attend), x);
    const queries = cross.add(decoder.norm(x, layer.layerNorm("cross_attn_norm"), cross), x);
    if (alignment.some(({ layer }) => layer === i)) {
      decoder.keep(queries);
      read.set(i, { queries, cache: cross.cache });
    }
    feedForward.add(decoder.norm(x, layer.layerNorm("ffn_norm"), feedForward), x);
    crossings.push(cross);
  }
  const readers = crossings.map(({ encoderReaders }) => ({ readers: encoderReaders }));
  const input = encoder.input(encoded, readers, "encoded");
  for (const cross of crossings) cross.store(encoder, input);
  const head: Stack = {
    parts: [{ matrix: table, first: 0 }],
    columns: table.rows,
    readers: [table],
  };
  decoder.output(x, top.layerNorm("output_norm"), { head });
  return read;
}

const FEED_FORWARD = { activation: "gelu_erf", gate: "none", bias: "required" } as const;

/** gelu(convolution(gelu(convolution(frames)))), the second one with a stride of two frames. */
function convolve(model: WhisperBuilder): FloatRows {
  const { sizes: { width }, stem, encoder, frames } = model;
  const first = firstConvolution(model);
  const once = stem.linear(stem.input(frames, first), first, "convolved");
  const { floats } = stem.activate(once, width, "gelu_erf", { readers: [] }).floats!;
  // The three frames of a row become one row of the second convolution.
  const columns = CONVOLUTION_FRAMES * width;
  const joined: FloatRows = { columns, stride: columns, floats };
  const second = secondConvolution(model);
  const twice = encoder.linear(encoder.input(joined, second), second, "convolved twice");
  return encoder.activate(twice, width, "gelu_erf", { readers: [] }).floats!;
}

/** The matrix [width, stemColumns] of the first convolution, with its biases as the last column. */
function firstConvolution({ sizes, weights }: WhisperBuilder): Stack {
  const { bins, width } = sizes;
  const name = "enc.conv1d.1.weight";
  const values = frameByFrame(weights, name, bins, width);
  const biases = weights.values("enc.conv1d.1.bias", [width]);
  const columns = stemColumns(sizes);
  const matrix = new Float32Array(width * columns);
  for (let row = 0; row < width; row++) {
    matrix.set(values.subarray(row * (columns - 1), (row + 1) * (columns - 1)), row * columns);
    matrix[(row + 1) * columns - 1] = biases[row];
  }
  return weights.computed(name, matrix, columns, { bias: "none" });
}

/** The matrix [width, 3 * width] of the second convolution. */
function secondConvolution({ sizes: { width }, weights }: WhisperBuilder): Stack {
  const name = "enc.conv1d.2.weight";
  const values = frameByFrame(weights, name, width, width);
  return weights.computed(name, values, CONVOLUTION_FRAMES * width, { bias: "required" });
}

/** The weights of a convolution, [outputs, frames, inputs], from a file's [outputs, inputs, frames]. */
function frameByFrame(
  weights: WeightLoader,
  name: string,
  inputs: number,
  outputs: number,
): Float32Array<ArrayBuffer> {
  const values = weights.values(name, [CONVOLUTION_FRAMES, inputs, outputs]);
  const turned = new Float32Array(values.length);
  for (let at = 0; at < values.length; at++) {
    const frame = at % CONVOLUTION_FRAMES;
    const input = Math.floor(at / CONVOLUTION_FRAMES) % inputs;
    const output = Math.floor(at / CONVOLUTION_FRAMES / inputs);
    turned[(output * CONVOLUTION_FRAMES + frame) * inputs + input] = values[at];
  }
  return turned;
}
