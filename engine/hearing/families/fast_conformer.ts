// FastConformer (Rekesh et al. 2023), as LFM2-Audio (Liquid AI 2025) and Parakeet have it: convolutions that
// make one row of eight frames, and Conformer blocks in which positions are relative (Transformer-XL, Dai et
// al. 2019): ((q + u) k + (q + v) p(distance)) / sqrt(d).

import { distanceRow, type FloatRows } from "../../../kernels/mod.ts";
import type { Layer } from "../../nn/mod.ts";
import { sparse } from "../../audio/mod.ts";
import { nemoFeatures } from "../features.ts";
import { outputsOf, perceptron } from "../network/blocks.ts";
import type { RowNetwork, SoundBuilder } from "../network/builder.ts";
import {
  addAttended,
  type ConformerKind,
  convolve,
  halfFeedForward,
  projectHeads,
  withTerms,
} from "../network/conformer.ts";
import { Stem } from "../network/convolutions.ts";
import type { HearingFamily } from "../network/family.ts";

/** Rows that convolutions make at a time, and frames of a row. */
const [STEM_ROWS, FRAMES] = [32, 8];

/** What a model has that another one lacks. */
interface FastConformer {
  /** Width of the sinusoids of distances. */
  readonly positions: number;
  readonly taps: number;
  readonly statistics?: readonly [mean: string, variance: string];
  /** From more rows on, a row attends to so many before and behind it. */
  readonly window?: { readonly rows: number; readonly reach: number };
}

const tokens = (frames: number) => Math.ceil(frames / FRAMES);

/** The rows after the blocks. Errors: GgufError. */
async function encode(sound: SoundBuilder, options: FastConformer) {
  const rows = sound.over(({ frames }) => tokens(frames));
  const [, , channels] = sound.weights.inventory.find("a.conv1d.0.weight").shape;
  const layer = (number: number, kind: "full" | "depthwise" | "pointwise") =>
    ({ name: `a.conv1d.${number}.weight`, channels, kind }) as const;
  const stem = await Stem.build(sound, {
    first: "bands",
    rows: STEM_ROWS,
    layers: [
      { ...layer(0, "full"), activation: "relu" },
      layer(2, "depthwise"),
      { ...layer(3, "pointwise"), activation: "relu" },
      layer(5, "depthwise"),
      { ...layer(6, "pointwise"), activation: "relu" },
    ],
  });
  const x = stem.project(sound, rows, "a.pre_encode.out.weight", "bands");
  const kind: ConformerKind = { sound, rows, norm: "layer" };
  const attend = attention(kind, options);
  const { taps, statistics } = options;
  const back = (taps - 1) / 2;
  for (const layer of sound.layers(rows)) {
    await halfFeedForward(kind, layer, x);
    await attend(layer, x);
    await convolve(kind, layer, x, {
      before: "norm_conv",
      taps,
      back,
      ...statistics && { statistics },
    });
    await halfFeedForward(kind, layer, x, { suffix: "_1" });
    rows.network.normInto(x, x, layer.layerNorm("ln2"));
  }
  return { rows, x, stem };
}

/** The attention of the blocks, which share their spans and the sinusoids of distances. */
function attention(kind: ConformerKind, { positions, window }: FastConformer) {
  const { sound, rows } = kind;
  const distances = sound.over((extent) => 2 * rows.rowsOf(extent) - 1);
  const sinusoids = sound.input(
    distances,
    "distances",
    positions,
    (_, extent) => sinusoidsOf(rows.rowsOf(extent), positions),
  );
  const spans = sound.spans(rows, (row, extent) => {
    const all = rows.rowsOf(extent);
    if (!window || all <= window.rows) return [0, all];
    return [Math.max(0, row - window.reach), Math.min(all, row + window.reach + 1)];
  });
  const { heads, headDim } = sound.config.heads();
  return async (layer: Layer, x: FloatRows): Promise<void> => {
    const { network } = rows;
    const { width } = layer.config;
    const qkv = await projectHeads(kind, layer, x, "ln1");
    const matrix = await layer.matrix("linear_pos.weight", width, positions);
    const own = (network: RowNetwork["network"]) => network.input(sinusoids, matrix);
    const table = distances.network.linear(own(distances.network), matrix, "positions");
    const termsOf = (name: string) => layer.weights.values(layer.name(name), [headDim, heads]);
    const queries = { rows: qkv };
    const attended = network.scratch("attended", width);
    network.addRows(network.make.spanAttention(
      withTerms(kind, queries, termsOf("pos_bias_u")),
      { rows: qkv, first: width },
      { rows: qkv, first: 2 * width },
      spans,
      attended,
      { heads, headDim, valueDim: headDim, scale: 1 / Math.sqrt(headDim) },
      { queries: withTerms(kind, queries, termsOf("pos_bias_v")), table },
    ));
    await addAttended(kind, layer, attended, x);
  };
}

/** Sines and cosines of all distances between rows, alternately: [distances, width]. */
function sinusoidsOf(rows: number, width: number): Float32Array {
  const values = new Float32Array((2 * rows - 1) * width);
  for (let distance = 1 - rows; distance < rows; distance++) {
    const at = distanceRow(distance) * width;
    for (let i = 0; i < width; i += 2) {
      const angle = distance * 10_000 ** (-i / width);
      values[at + i] = Math.sin(angle);
      values[at + i + 1] = Math.cos(angle);
    }
  }
  return values;
}

/** LFM2-Audio. */
export const lfm2Audio: HearingFamily = {
  projector: "lfm2a",
  features: ({ bins }) =>
    nemoFeatures({
      bins,
      value: (power) => Math.log(Math.max(power, 2 ** -24)),
      scale: (value, variance) => value / Math.sqrt(variance + 1e-5),
      endsInZeros: true,
    }),
  marks: ["", ""],
  tokens,
  columns: outputsOf("mm.a.mlp.3.weight"),
  async build(sound) {
    const { rows, x, stem } = await encode(sound, { positions: 512, taps: 9 });
    const norm = sound.top(rows).norm("mm.a.mlp.0", "layer", { bias: "required" });
    rows.network.normInto(x, x, norm);
    const names = ["mm.a.mlp.1.weight", "mm.a.mlp.3.weight"] as const;
    return { output: await perceptron(sound, rows, x, { names }), stem };
  },
};

/** Parakeet, with the window and the filters of its file, as an encoder for a text model. */
export const parakeet: HearingFamily = {
  projector: "parakeet",
  features: ({ bins }, weights) =>
    nemoFeatures({
      bins,
      window: centred(weights.values("a.window", [400]), 512),
      filters: Array.from({ length: bins }, (_, bin) =>
        sparse(
          Float64Array.from(
            weights.values("a.mel_filters", [257, bins]).subarray(257 * bin, 257 * (bin + 1)),
          ),
        )),
      value: (power) => Math.log(power + 2 ** -24),
      scale: (value, variance) => value / (Math.sqrt(variance) + 1e-5),
      endsInZeros: false,
    }),
  marks: ["", ""],
  tokens,
  columns: outputsOf("mm.a.mlp.2.weight"),
  async build(sound) {
    const { width } = sound.config;
    const { rows, x, stem } = await encode(sound, {
      positions: width,
      taps: sound.config.size("conv_kernel_size"),
      statistics: ["conv_norm_mean", "conv_norm_var"],
      window: { rows: 8192, reach: 128 },
    });
    rows.network.normInto(x, x, sound.top(rows).norm("mm.a.norm_pre"));
    return { output: await perceptron(sound, rows, x, { activation: "relu_squared" }), stem };
  },
};

/** A window in the middle of zeros. */
function centred(window: Float32Array, size: number): Float64Array {
  const all = new Float64Array(size);
  all.set(window, (size - window.length) / 2);
  return all;
}
