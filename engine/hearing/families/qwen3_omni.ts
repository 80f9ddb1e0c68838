// The encoders of Qwen3-Omni (Qwen Team 2025) and of dots.note (rednote-hilab 2026): three convolutions over
// frames and bands, one matrix, and the blocks of a transformer. Qwen3-Omni's seconds are convolved each for
// itself, with the same learned positions; dots.note has rotary positions over half of each head, RMSNorm,
// and gated SiLU.

import { minuteFeatures, secondsFeatures } from "../features.ts";
import { outputsOf, perceptron } from "../network/blocks.ts";
import type { SoundBuilder } from "../network/builder.ts";
import { type ConvolutionLayer, Stem } from "../network/convolutions.ts";
import type { HearingFamily } from "../network/family.ts";

/** Frames of a second, and the rows that they become. */
const [SECOND, SECOND_ROWS] = [100, 13];

/** Rows of the encoder whose convolutions are computed at a time. */
const STEM_ROWS = 32;

/** The three convolutions. */
function layersOf(sound: SoundBuilder): ConvolutionLayer[] {
  return [1, 2, 3].map((number) => {
    const name = `a.conv2d.${number}.weight`;
    const [, , channels] = sound.weights.inventory.find(name).shape;
    return { name, channels, kind: "full", activation: "gelu_erf" };
  });
}

/** Qwen3-Omni, and Qwen3-ASR. */
export const qwen3Omni: HearingFamily = {
  projector: "qwen3a",
  features: (config) => secondsFeatures(config.bins),
  marks: ["<|audio_start|>", "<|audio_end|>"],
  tokens: (frames) => SECOND_ROWS * frames / SECOND,
  columns: outputsOf("mm.a.mlp.2.weight"),
  async build(sound) {
    const { config: { width } } = sound;
    const rows = sound.over(({ frames }) => SECOND_ROWS * Math.ceil(frames / SECOND));
    const { network } = rows;
    const layers = layersOf(sound);
    const options = { layers, first: "frames", rows: SECOND_ROWS, piece: SECOND } as const;
    const stem = await Stem.build(sound, options);
    const x = stem.project(sound, rows, "a.conv_out.weight", "bands");
    const places = sound.top(rows).size(0, [["a.position_embd.weight", 1]]);
    const table = sound.weights.values("a.position_embd.weight", [width, places]);
    const positions = sound.input(rows, "positions", width, (_, extent) => {
      const values = new Float32Array(rows.rowsOf(extent) * width);
      const second = table.subarray(0, SECOND_ROWS * width);
      for (let at = 0; at < values.length; at += second.length) values.set(second, at);
      return values;
    });
    network.elementwise("add", { rows: x }, { x: { rows: positions } });
    await sound.transformer(rows, x, { activation: "gelu_erf" });
    network.normInto(x, x, sound.top(rows).layerNorm("a.post_ln"));
    return { output: await perceptron(sound, rows, x), stem };
  },
};

/** dots.note. */
export const dotsNote: HearingFamily = {
  projector: "dots3note_a",
  features: (config) => minuteFeatures(config.bins),
  marks: ["<|audio_comp_start|>", "<|audio_comp_end|>"],
  tokens: (frames) => Math.ceil(frames / 8),
  columns: outputsOf("mm.a.mlp.3.weight"),
  async build(sound) {
    const { config: { width } } = sound;
    const rows = sound.over(({ frames }) => Math.ceil(frames / 8));
    const { network } = rows;
    const layers = layersOf(sound);
    const stem = await Stem.build(sound, { layers, first: "frames", rows: STEM_ROWS });
    const x = stem.project(sound, rows, "a.conv_out.weight", "bands");
    const { headDim } = sound.config.heads();
    const base = sound.config.numberOr("rope.freq_base", 10_000);
    // Pairs of the first half of a head turn, the others have the angle zero.
    const rotations = sound.rotations(rows, {
      headDim,
      distance: headDim / 4,
      frequencyOf: (pair) => pair < headDim / 4 ? base ** (-pair / (headDim / 4)) : 0,
    });
    await sound.transformer(rows, x, {
      activation: "silu",
      norm: "rms",
      gated: true,
      rotations,
    });
    const top = sound.top(rows);
    network.normInto(x, x, top.norm("a.post_ln"));
    const norm = { ...top.norm("mm.a.norm_pre", "layer", { shape: [width] }), epsilon: 1e-5 };
    network.normInto(x, x, norm);
    const names = ["mm.a.mlp.1.weight", "mm.a.mlp.3.weight"] as const;
    return { output: await perceptron(sound, rows, x, { names }), stem };
  },
};
