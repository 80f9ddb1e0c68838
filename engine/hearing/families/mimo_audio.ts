// MiMo-Audio (Xiaomi 2025): a causal encoder with a skip connection, whose rows become codes of residual
// vector quantization (Zeghidour et al. 2021). Sums of the codes' embeddings attend to each other in small
// groups, each of which is a token.

import { type FloatRows, NO_ROW } from "../../../kernels/mod.ts";
import { encoderNorm, loadEncoderFeedForward, transform } from "../../encoder/mod.ts";
import { wideFeatures } from "../features.ts";
import { joinRows, outputsOf, perceptron } from "../network/blocks.ts";
import type { RowNetwork, SoundBuilder } from "../network/builder.ts";
import type { HearingConfig } from "../network/config.ts";
import { addAttended, type ConformerKind, projectHeads } from "../network/conformer.ts";
import type { HearingFamily } from "../network/family.ts";
import { frameTaps } from "./whisper.ts";

/** The block whose attention is added to the encoder's output, if there are so many. */
const SKIPPED_TO_END = 2;

/** Base of the rotary positions within groups. */
const LOCAL_BASE = 640_000;

/** Rows of the encoder, and rows of codes. */
const rowsOf = (frames: number) => Math.ceil(frames / 2);
const codesOf = (frames: number) => Math.max(1, Math.floor(rowsOf(frames) / 2));

const groupOf = (config: HearingConfig) => config.countOr("local_group_size", 4);

/** MiMo-Audio. */
export const mimoAudio: HearingFamily = {
  projector: "mimo_audio",
  features: ({ bins }) => wideFeatures(bins),
  marks: ["<|mimo_audio_start|>", "<|mimo_audio_end|>"],
  tokens: (frames, config) => Math.ceil(codesOf(frames) / groupOf(config)),
  columns: outputsOf("mm.a.mlp.2.weight"),
  async build(sound) {
    const output = await encode(sound);
    const group = groupOf(sound.config);
    const most = Math.ceil(codesOf(sound.most.frames) / group) * group;
    const local = sound.beside({ frames: most, first: 0, end: most });
    const attended = local.runner(await attendInGroups(local, group), most / group);
    const codes = new Codes(sound);
    return {
      output,
      rows: codesOf,
      finish(rows) {
        const count = rows.length / output.columns;
        const frames = Math.ceil(count / group) * group;
        const values = new Float32Array(frames * output.columns);
        values.set(codes.embed(rows));
        return attended({ frames, values }, frames / group);
      },
    };
  },
};

/** The rows that become codes. Errors: GgufError. */
async function encode(sound: SoundBuilder): Promise<FloatRows> {
  const { config, config: { width, bins } } = sound;
  const frames = sound.over(({ frames }) => frames);
  const rows = sound.over(({ frames }) => rowsOf(frames));
  const heard = frameTaps(sound, frames);
  const [one, two] = ["a.conv1d.1.weight", "a.conv1d.2.weight"];
  const first = sound.convolution(one, { taps: 3, inputs: bins, outputs: width });
  const once = frames.network.linear(frames.network.input(heard, first), first, "convolved");
  const { floats } = frames.network.activate(once, width, "gelu_erf", { readers: [] });
  const joined = sound.gather(
    rows,
    floats!,
    3,
    ({ frames }) => sources(rowsOf(frames), 3, (row, tap) => 2 * row - 1 + tap, frames),
  );
  const { stride } = floats!;
  const second = sound.convolution(two, { taps: 3, inputs: width, stride, outputs: width });
  const { network } = rows;
  const twice = network.linear(network.input(joined, second), second, "convolved twice");
  const x = network.activate(twice, width, "gelu_erf", { readers: [] }).floats!;
  const skipped = network.scratch("skipped", width);
  const kind: ConformerKind = { sound, rows, norm: "layer" };
  const { heads, headDim } = config.heads();
  const base = config.numberOr("rope.freq_base", 10_000);
  const { buffer, distance } = sound.rotations(rows, halves(headDim, base));
  const size = config.countOr("window_size", 0);
  const spans = new Map([true, false].map((isLimited) => {
    const reach = isLimited ? size : Infinity;
    return [isLimited, sound.spans(rows, (row) => [Math.max(0, row - reach), row + 1])];
  }));
  const modes = config.numbers("wa_pattern_mode");
  for (const layer of sound.layers(rows)) {
    const qkv = await projectHeads(kind, layer, x, "ln1");
    network.addRows(network.make.rotateRows(qkv, buffer, { heads: 2 * heads, headDim, distance }));
    const attended = network.scratch("attended", width);
    network.addRows(network.make.spanAttention(
      { rows: qkv },
      { rows: qkv, first: width },
      { rows: qkv, first: 2 * width },
      spans.get(modes[layer.index] === 0 && size > 0)!,
      attended,
      { heads, headDim, valueDim: headDim, scale: 1 / Math.sqrt(headDim) },
    ));
    await addAttended(kind, layer, attended, x);
    if (layer.index === SKIPPED_TO_END) {
      network.elementwise("copy", { rows: skipped }, { x: { rows: x } });
    }
    const feedForward = await loadEncoderFeedForward(layer, "gelu_erf", false);
    feedForward.add(network.norm(x, layer.layerNorm("ln2"), feedForward), x);
  }
  if (config.layers > SKIPPED_TO_END) {
    network.elementwise("add", { rows: x }, { x: { rows: skipped } });
  }
  network.normInto(x, x, sound.top(rows).layerNorm("a.post_ln"));
  return halve(sound, rows, x);
}

/** norm(gelu(convolution(x))), with a stride of two rows. Errors: GgufError. */
function halve(sound: SoundBuilder, rows: RowNetwork, x: FloatRows): FloatRows {
  const { width } = sound.config;
  const half = sound.over(({ frames }) => codesOf(frames));
  const { network } = half;
  const pairs = sound.gather(
    half,
    x,
    2,
    (extent) => sources(half.rowsOf(extent), 2, (row, tap) => 2 * row + tap, rows.rowsOf(extent)),
  );
  const shape = { taps: 2, inputs: width, stride: x.stride, outputs: width };
  const stack = sound.convolution("a.downsample.conv.weight", shape);
  const convolved = network.linear(network.input(pairs, stack), stack, "halved");
  const y = network.activate(convolved, width, "gelu_erf", { readers: [] }).floats!;
  network.normInto(y, y, sound.top(half).layerNorm("a.downsample.norm"));
  return y;
}

/** The rows that taps of a convolution read, those beyond the ends as zeros. */
function sources(
  rows: number,
  taps: number,
  sourceOf: (row: number, tap: number) => number,
  count: number,
): Uint32Array {
  return Uint32Array.from({ length: rows * taps }, (_, i) => {
    const source = sourceOf(Math.floor(i / taps), i % taps);
    return source >= 0 && source < count ? source : NO_ROW;
  });
}

/** Rotary positions whose pairs are half a head apart. */
function halves(headDim: number, base: number) {
  const frequencyOf = (pair: number) => base ** (-2 * pair / headDim);
  return { headDim, distance: headDim / 2, frequencyOf };
}

/** The tokens of groups of codes. Errors: GgufError. */
async function attendInGroups(local: SoundBuilder, group: number): Promise<FloatRows> {
  const { config } = local;
  const [width] = local.weights.inventory.find("mm.a.local_norm.weight").shape;
  const rows = local.over(({ frames }) => frames);
  const { network } = rows;
  const embedded = local.input(rows, "codes", width, ({ values }) => values);
  const x = network.scratch("residual", width);
  network.elementwise("copy", { rows: x }, { x: { rows: embedded } });
  const windows = local.windows(rows, group, (row) => Math.floor(row / group));
  const rotations = local.rotations(rows, halves(config.heads().headDim, LOCAL_BASE));
  const layers = { prefix: "mm.a.local_blk", count: config.size("local_block_count") };
  for (const layer of local.layers(rows, layers)) {
    const options = { norm: "rms", gated: true, activation: "silu", rotations, windows } as const;
    await transform(layer, x, { ...config.heads(), ...options });
  }
  network.normInto(x, x, encoderNorm(local.top(rows), "mm.a.local_norm", "rms"));
  const joined = joinRows(local, rows, x, group);
  return await perceptron(local, joined.rows, joined.x);
}

/** The codebooks of residual vector quantization, on the host: rows become sums of embeddings. */
class Codes {
  readonly #width: number;
  readonly #sizes: readonly number[];
  readonly #codebook: Float32Array;
  readonly #embeddings: Float32Array;
  readonly #most: number;
  readonly #mostEmbeddings: number;

  /** Errors: GgufError. */
  constructor({ weights, config }: SoundBuilder) {
    const [width, most, count] = weights.inventory.find("a.rvq.codebook.weight").shape;
    const [, mostEmbeddings] = weights.inventory.find("mm.a.code_embd.weight").shape;
    this.#width = width;
    this.#most = most;
    this.#mostEmbeddings = mostEmbeddings;
    this.#sizes = config.numbers("rvq.codebook_size");
    if (this.#sizes.length !== count || this.#sizes.some((size) => !(size >= 1 && size <= most))) {
      throw config.error(
        "rvq.codebook_size",
        `there are ${count} codebooks of up to ${most} codes`,
      );
    }
    this.#codebook = weights.values("a.rvq.codebook.weight", [width, most, count]);
    this.#embeddings = weights.values("mm.a.code_embd.weight", [width, mostEmbeddings, count]);
  }

  /** For each row, the sum of the embeddings of its codes: [rows, width]. */
  embed(rows: Float32Array): Float32Array {
    const width = this.#width;
    const sums = new Float32Array(rows.length);
    for (let at = 0; at < rows.length; at += width) {
      const rest = rows.slice(at, at + width);
      for (const [quantizer, size] of this.#sizes.entries()) {
        const code = this.#nearest(rest, quantizer, size);
        const own = (quantizer * this.#most + code) * width;
        const embedding = (quantizer * this.#mostEmbeddings + code) * width;
        for (let i = 0; i < width; i++) {
          rest[i] -= this.#codebook[own + i];
          sums[at + i] += this.#embeddings[embedding + i];
        }
      }
    }
    return sums;
  }

  /** The code c that is nearest to x: the greatest 2 x c - c c. */
  #nearest(x: Float32Array, quantizer: number, size: number): number {
    let [best, most] = [0, -Infinity];
    for (let code = 0; code < size; code++) {
      const from = (quantizer * this.#most + code) * x.length;
      let sum = 0;
      for (let i = 0; i < x.length; i++) {
        const value = this.#codebook[from + i];
        sum += (2 * x[i] - value) * value;
      }
      if (sum > most) [best, most] = [code, sum];
    }
    return best;
  }
}
