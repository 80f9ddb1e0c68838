// Granite Speech (Saon et al. 2025): Conformer blocks that attend within blocks of rows, with learned
// relative positions (Shaw et al. 2018), a head for characters (CTC) in the middle whose probabilities are
// projected back, and a window query transformer (Q-Former, Li et al. 2023), in which a few queries attend to
// a window of rows.

import { distanceRow, type FloatRows, NO_ROW, type Norm } from "../../../kernels/mod.ts";
import type { Layer } from "../../nn/mod.ts";
import { pairedFeatures } from "../features.ts";
import { outputsOf } from "../network/blocks.ts";
import type { RowNetwork, SoundBuilder } from "../network/builder.ts";
import type { HearingConfig } from "../network/config.ts";
import {
  addAttended,
  type ConformerKind,
  convolve,
  halfFeedForward,
  projectHeads,
} from "../network/conformer.ts";
import type { HearingFamily } from "../network/family.ts";

/** Epsilon of the norms of the projector. */
const EPSILON = 1e-12;

/** Rows of a window, and queries to each. */
function windowOf(config: HearingConfig): { rows: number; queries: number } {
  const rows = config.countOr("projector.window_size", 15);
  return { rows, queries: Math.floor(rows / config.countOr("projector.downsample_rate", 5)) };
}

/** Granite Speech. */
export const graniteSpeech: HearingFamily = {
  projector: "granite_speech",
  features: ({ bins }) => pairedFeatures(bins),
  marks: ["", ""],
  tokens(frames, config) {
    const { rows, queries } = windowOf(config);
    return Math.ceil(frames / rows) * queries;
  },
  columns: outputsOf("a.proj_linear.weight"),
  async build(sound) {
    const { config } = sound;
    const { width, bins, layers: count } = config;
    const rows = sound.over(({ frames }) => frames);
    const { network } = rows;
    const top = sound.top(rows);
    const heard = sound.input(rows, "features", bins, ({ values }) => values);
    const input = await top.matrix("a.input_projection.weight", width, bins);
    const x = network.linear(network.input(heard, input), input, "residual");
    const kind: ConformerKind = { sound, rows, norm: "layer" };
    const attend = attention(kind);
    const taps = config.countOr("conv_kernel_size", 15);
    const back = (taps - 1) / 2;
    // The outputs of some blocks, by their number, stand beside the last one. 0 is the input.
    const wanted = config.numbers("feature_layer");
    const columns = (wanted.length + 1) * width;
    const encoded = wanted.length > 0 ? network.scratch("encoded", columns) : x;
    const keep = (block: number) =>
      wanted.forEach((number, i) => {
        const to = { rows: encoded, first: i * width, columns: width };
        if (number === block) network.elementwise("copy", to, { x: { rows: x } });
      });
    keep(0);
    for (const layer of sound.layers(rows)) {
      await halfFeedForward(kind, layer, x);
      await attend(layer, x);
      await convolve(kind, layer, x, { before: "norm_conv", taps, back });
      await halfFeedForward(kind, layer, x, { suffix: "_1" });
      network.normInto(x, x, layer.layerNorm("ln2"));
      keep(layer.index + 1);
      if (layer.index + 1 === Math.floor(count / 2)) await addCharacters(kind, x);
    }
    if (encoded !== x) {
      const to = { rows: encoded, first: wanted.length * width, columns: width };
      network.elementwise("copy", to, { x: { rows: x } });
    }
    return { output: await query(sound, rows, encoded) };
  },
};

/** The attention of the blocks: rows of a block of rows attend to each other. */
function attention(kind: ConformerKind) {
  const { sound, rows } = kind;
  const { network } = rows;
  const { heads, headDim } = sound.config.heads();
  const size = sound.config.size("chunk_size");
  const farthest = sound.config.size("max_pos_emb");
  const spans = sound.spans(rows, (row, extent) => {
    const first = row - row % size;
    return [first, Math.min(first + size, rows.rowsOf(extent))];
  });
  return async (layer: Layer, x: FloatRows): Promise<void> => {
    const { width } = layer.config;
    const qkv = await projectHeads(kind, layer, x, "ln1");
    const known = 2 * farthest + 1;
    const name = layer.name("attn_rel_pos_emb");
    const learned = layer.weights.values(name, [headDim, known]);
    const table = new Float32Array((2 * size - 1) * width);
    for (let distance = 1 - size; distance < size; distance++) {
      const from = Math.max(0, Math.min(known - 1, distance + farthest)) * headDim;
      for (let head = 0; head < heads; head++) {
        const at = distanceRow(distance) * width + head * headDim;
        table.set(learned.subarray(from, from + headDim), at);
      }
    }
    const attended = network.scratch("attended", width);
    network.addRows(network.make.spanAttention(
      { rows: qkv },
      { rows: qkv, first: width },
      { rows: qkv, first: 2 * width },
      spans,
      attended,
      { heads, headDim, valueDim: headDim, scale: 1 / Math.sqrt(headDim) },
      { queries: { rows: qkv }, table: sound.constant("distance keys", table, width) },
    ));
    await addAttended(kind, layer, attended, x);
  };
}

/**
 * x += the probabilities of characters times a matrix. A softmax times a matrix is attention whose scores
 * are the logits: its keys are unit vectors, its values the columns of the matrix.
 */
async function addCharacters({ sound, rows }: ConformerKind, x: FloatRows): Promise<void> {
  const { network } = rows;
  const { width } = sound.config;
  const top = sound.top(rows);
  const count = top.size(0, [["a.enc_ctc_out.weight", 1]]);
  const head = await top.matrix("a.enc_ctc_out.weight", count, width);
  const logits = network.linear(network.input(x, head), head, "characters");
  const units = new Float32Array(count * count);
  for (let i = 0; i < count; i++) units[i * count + i] = 1;
  const matrix = sound.weights.values("a.enc_ctc_out_mid.weight", [count, width]);
  const values = Float32Array.from(
    matrix,
    (_, i) => matrix[i % width * count + Math.floor(i / width)],
  );
  const y = network.scratch("of characters", width);
  network.addRows(network.make.spanAttention(
    { rows: logits },
    { rows: sound.constant("units", units, count) },
    { rows: sound.constant("a.enc_ctc_out_mid.weight", values, width) },
    sound.spans(rows, () => [0, count]),
    y,
    { heads: 1, headDim: count, valueDim: width, scale: 1 },
  ));
  network.elementwise("add", { rows: x }, { x: { rows: y } });
  const bias = sound.constant("bias", sound.weights.values("a.enc_ctc_out_mid.bias", [width]));
  network.elementwise("add", { rows: x }, { x: { rows: bias }, broadcast: true });
}

/** The projector: queries that attend to each other, and to the rows of their window. */
async function query(
  sound: SoundBuilder,
  encoded: RowNetwork,
  x: FloatRows,
): Promise<FloatRows> {
  const { config } = sound;
  const window = windowOf(config);
  const windows = (frames: number) => Math.ceil(frames / window.rows);
  const padded = sound.over((extent) => windows(encoded.rowsOf(extent)) * window.rows);
  const asked = sound.over((extent) => windows(encoded.rowsOf(extent)) * window.queries);
  // Windows are filled with zeros, which are attended to like other rows.
  const gathered = sound.gather(padded, x, 1, (extent) => {
    const count = encoded.rowsOf(extent);
    return Uint32Array.from({ length: padded.rowsOf(extent) }, (_, i) => i < count ? i : NO_ROW);
  });
  const seen = { ...gathered, columns: x.columns };
  const { network } = asked;
  const top = sound.top(asked);
  const [width] = sound.weights.inventory.find("a.proj_query").shape;
  const heads = config.countOr("projector.head_count", 1);
  const headDim = width / heads;
  const norm = (of: Layer, name: string): Norm => ({
    ...of.norm(name, "layer", { shape: [width], bias: "required" }),
    epsilon: EPSILON,
  });
  const learned = sound.weights.values("a.proj_query", [width, window.queries]);
  const y = sound.input(asked, "queries", width, (_, extent) => {
    const values = new Float32Array(asked.rowsOf(extent) * width);
    for (let at = 0; at < values.length; at += learned.length) values.set(learned, at);
    return values;
  });
  const state = network.scratch("state", width);
  network.normInto(y, state, norm(top, "a.proj_norm"));
  const spansOf = (size: number) =>
    sound.spans(asked, (row) => {
      const first = Math.floor(row / window.queries) * size;
      return [first, first + size];
    });
  const [own, others] = [spansOf(window.queries), spansOf(window.rows)];
  const blocks = sound.weights.inventory.names(/^a\.proj_blk\.\d+\.ffn_norm\.weight$/).length;
  const options = { heads, headDim, valueDim: headDim, scale: 1 / Math.sqrt(headDim) };
  for (const layer of sound.layers(asked, { prefix: "a.proj_blk", count: blocks })) {
    const keysOf = async (rows: RowNetwork, x: FloatRows, kind: string, part: string) => {
      const stack = await layer.matrix(`${kind}_attn_${part}.weight`, width, x.columns);
      return { rows: rows.network.linear(rows.network.input(x, stack), stack, part) };
    };
    const attend = async (kind: "self" | "cross", rows: RowNetwork, x: FloatRows) => {
      const queries = await keysOf(asked, state, kind, "q");
      const [keys, values] = [await keysOf(rows, x, kind, "k"), await keysOf(rows, x, kind, "v")];
      const attended = network.scratch("attended", width);
      const spans = kind === "self" ? own : others;
      network.addRows(
        network.make.spanAttention(queries, keys, values, spans, attended, options),
      );
      const out = await layer.matrix(`${kind}_attn_out.weight`, width, width);
      network.addLinear(network.input(attended, out), out, state);
      network.normInto(state, state, norm(layer, `${kind}_attn_norm`));
    };
    await attend("self", asked, state);
    await attend("cross", padded, seen);
    const hidden = layer.size(0, [["ffn_up.weight", 1]]);
    const up = await layer.matrix("ffn_up.weight", hidden, width);
    const down = await layer.matrix("ffn_down.weight", width, hidden);
    const middle = network.linear(network.input(state, up), up, "up");
    network.addLinear(network.activate(middle, hidden, "gelu", down), down, state);
    network.normInto(state, state, norm(layer, "ffn_norm"));
  }
  const outputs = top.size(0, [["a.proj_linear.weight", 1]]);
  const linear = await top.matrix("a.proj_linear.weight", outputs, width);
  return network.linear(network.input(state, linear), linear, "embeddings");
}
