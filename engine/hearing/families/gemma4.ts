// The audio encoders of Gemma 4 (Gemma Team 2026). That of E2B and E4B: two convolutions, and Conformer
// blocks in which a row attends to itself and eleven rows before it, with relative positions and capped
// scores; matrices may have bounds. That of the others is one matrix over the samples.

import { distanceRow, type FloatRows } from "../../../kernels/mod.ts";
import { loadProjection } from "../../encoder/mod.ts";
import type { Layer } from "../../nn/mod.ts";
import { gemmaFeatures, sampleFeatures } from "../features.ts";
import { outputsOf } from "../network/blocks.ts";
import {
  addAttended,
  type ConformerKind,
  convolve,
  halfFeedForward,
  projectHeads,
} from "../network/conformer.ts";
import type { RowNetwork, SoundBuilder } from "../network/builder.ts";
import { type ConvolutionLayer, Stem } from "../network/convolutions.ts";
import type { HearingFamily } from "../network/family.ts";

/** Rows to which a row attends, with itself, and the cap of scores. */
const [REACH, CAP] = [12, 50];

/** Places that the convolution over rows reads, none of them behind the row. */
const TAPS = 5;

/** Rows that convolutions make at a time. */
const STEM_ROWS = 128;

/** The marks around a sound. */
const marks = ["<|audio>", "<audio|>"] as const;

/** norm(x) W^T, without weights of the norm. Errors: GgufError. */
async function project(sound: SoundBuilder, rows: RowNetwork, x: FloatRows): Promise<FloatRows> {
  const { network } = rows;
  const top = sound.top(rows);
  const name = "mm.a.input_projection.weight";
  const matrix = top.all(name, top.size(0, [[name, 1]]));
  const projection = await loadProjection(top, [matrix], x.columns);
  const output = network.scratch("embeddings", projection.columns);
  projection.run(network.norm(x, { kind: "rms", epsilon: 1e-6 }, projection), output);
  return output;
}

/** E2B and E4B. */
export const gemma4Audio: HearingFamily = {
  projector: "gemma4a",
  features: ({ bins }) => gemmaFeatures(bins),
  marks,
  tokens: (frames) => Math.ceil(Math.ceil(frames / 2) / 2),
  columns: outputsOf("mm.a.input_projection.weight"),
  async build(sound) {
    const rows = sound.over(({ frames }) => Math.ceil(frames / 4));
    const { network } = rows;
    const layers = [0, 1].map((number): ConvolutionLayer => {
      const name = `a.conv1d.${number}.weight`;
      const [, , channels] = sound.weights.inventory.find(name).shape;
      const norm = `a.conv1d.${number}.norm`;
      return { name, channels, kind: "full", norm, activation: "relu" };
    });
    const stem = await Stem.build(sound, { layers, first: "bands", rows: STEM_ROWS });
    const x = stem.project(sound, rows, "a.input_projection.weight", "channels");
    const kind: ConformerKind = { sound, rows, norm: "rms" };
    const attend = attention(kind);
    for (const layer of sound.layers(rows)) {
      await halfFeedForward(kind, layer, x, { postNorm: "ffn_post_norm" });
      await attend(layer, x);
      const module = { before: "conv_norm", behind: "norm_conv", taps: TAPS, back: TAPS - 1 };
      await convolve(kind, layer, x, module);
      await halfFeedForward(kind, layer, x, { suffix: "_1", postNorm: "ffn_post_norm_1" });
      network.normInto(x, x, layer.norm("ln2"));
    }
    const top = sound.top(rows);
    const name = "a.pre_encode.out.weight";
    const out = await top.matrix(name, top.size(0, [[name, 1]]), sound.config.width);
    const hidden = network.linear(network.input(x, out), out, "hidden");
    return { output: await project(sound, rows, hidden), stem };
  },
};

/** The attention of the blocks: 50 tanh((q k + q p(distance)) / 50). */
function attention(kind: ConformerKind) {
  const { sound, rows } = kind;
  const { network } = rows;
  const { heads, headDim } = sound.config.heads();
  const spans = sound.spans(rows, (row) => [Math.max(0, row - REACH + 1), row + 1]);
  const queryFactor = 1 / (Math.sqrt(headDim) * Math.LN2);
  const keyFactor = Math.log(1 + Math.E) / Math.LN2;
  return async (layer: Layer, x: FloatRows): Promise<void> => {
    const { width } = layer.config;
    const qkv = await projectHeads(kind, layer, x, "attn_pre_norm");
    const scales = layer.weights.values(layer.name("per_dim_scale.weight"), [headDim]);
    const factors = Float32Array.from(
      { length: width },
      (_, i) => scales[i % headDim] * queryFactor,
    );
    const scale = { x: { rows: sound.constant("query scales", factors) }, broadcast: true };
    network.elementwise("multiply", { rows: qkv, columns: width }, scale);
    const keys = { rows: qkv, first: width, columns: width };
    network.elementwise("scale", keys, { factor: keyFactor });
    const attended = network.scratch("attended", width);
    network.addRows(network.make.spanAttention(
      { rows: qkv },
      keys,
      { rows: qkv, first: 2 * width },
      spans,
      attended,
      { heads, headDim, valueDim: headDim, scale: 1, softcap: CAP },
      { queries: { rows: qkv }, table: distanceKeys(sound, layer) },
    ));
    await addAttended(kind, layer, attended, x, "attn_post_norm");
  };
}

/** A key for each distance: attn_k_rel times sines, then cosines, of the distance. */
function distanceKeys(sound: SoundBuilder, layer: Layer): FloatRows {
  const { width } = layer.config;
  const matrix = layer.weights.values(layer.name("attn_k_rel.weight"), [width, width]);
  const half = width / 2;
  const table = new Float32Array((distanceRow(REACH - 1) + 1) * width);
  for (let distance = 0; distance < REACH; distance++) {
    const sinusoids = Float64Array.from({ length: width }, (_, i) => {
      const angle = distance * 10_000 ** (-(i % half) / (half - 1));
      return i < half ? Math.sin(angle) : Math.cos(angle);
    });
    for (let row = 0; row < width; row++) {
      let sum = 0;
      for (let i = 0; i < width; i++) sum += matrix[row * width + i] * sinusoids[i];
      table[distanceRow(distance) * width + row] = sum;
    }
  }
  return sound.constant("distance keys", table, width);
}

/** The models without an encoder: 640 samples are a token. */
export const gemma4Unified: HearingFamily = {
  projector: "gemma4ua",
  features: ({ width }) => sampleFeatures(width),
  marks,
  tokens: (frames) => frames,
  columns: outputsOf("mm.a.input_projection.weight"),
  async build(sound) {
    const { width } = sound.config;
    const rows = sound.over(({ frames }) => frames);
    const x = sound.input(rows, "samples", width, ({ values }) => values);
    return { output: await project(sound, rows, x) };
  },
};
