// The encoders that are Whisper's (Radford et al. 2022): two convolutions, learned positions, pre-norm
// blocks with LayerNorm and the exact GELU. They differ in how they join rows into tokens, and in their
// projectors: Ultravox (Fixie 2024), Voxtral (Liu et al. 2025), Qwen2-Audio (Chu et al. 2024), Music
// Flamingo (Ghosh et al. 2025), GLM-ASR (Z.ai 2025), and MERaLiON (He et al. 2024).

import { type FloatRows, NO_ROW } from "../../../kernels/mod.ts";
import type { Input, Network } from "../../nn/mod.ts";
import type { Stack } from "../../weights/mod.ts";
import { whisperFeatures } from "../features.ts";
import { joinRows, meanOfPairs, outputsOf, perceptron } from "../network/blocks.ts";
import type { RowNetwork, SoundBuilder } from "../network/builder.ts";
import type { HearingFamily } from "../network/family.ts";

/** Frames that a convolution reads at once, and rows of a window. */
const [TAPS, ROWS] = [3, 1500];

/** What is common to all of them. */
const common = {
  features: (config) => whisperFeatures(config.bins),
  marks: ["", ""],
} satisfies Partial<HearingFamily>;

/** The frames before, at and after each one, as a convolution reads them: [frames, taps * bins]. */
export function frameTaps(sound: SoundBuilder, rows: RowNetwork): FloatRows {
  const { bins } = sound.config;
  return sound.input(rows, "frames", TAPS * bins, ({ values, frames }) => {
    const all = new Float32Array(frames * TAPS * bins);
    for (let frame = 0; frame < frames; frame++) {
      const [from, end] = [Math.max(0, frame - 1), Math.min(frames, frame + 2)];
      all.set(values.subarray(from * bins, end * bins), (TAPS * frame + from - frame + 1) * bins);
    }
    return all;
  });
}

/** The residual stream after the blocks, without the last norm: [1500, width]. Errors: GgufError. */
async function encode(
  sound: SoundBuilder,
  { isNormed }: { isNormed: boolean },
): Promise<{ rows: RowNetwork; x: FloatRows }> {
  const { config: { bins, width }, weights } = sound;
  const frames = sound.over(({ frames }) => frames);
  const rows = sound.over(({ frames }) => frames / 2);
  const heard = frameTaps(sound, frames);
  const [one, two] = ["a.conv1d.1.weight", "a.conv1d.2.weight"];
  const first = sound.convolution(one, { taps: TAPS, inputs: bins, outputs: width });
  const { network } = frames;
  const once = network.linear(network.input(heard, first), first, "convolved");
  const { floats } = network.activate(once, width, "gelu_erf", { readers: [] });
  const { stride } = floats!;
  const joined = sound.gather(
    rows,
    floats!,
    TAPS,
    ({ frames }) =>
      Uint32Array.from({ length: TAPS * frames / 2 }, (_, i) => {
        const frame = 2 * Math.floor(i / TAPS) - 1 + i % TAPS;
        return frame < 0 ? NO_ROW : frame;
      }),
  );
  const second = sound.convolution(two, { taps: TAPS, inputs: width, stride, outputs: width });
  const twice = rows.network.linear(rows.network.input(joined, second), second, "convolved twice");
  const x = rows.network.activate(twice, width, "gelu_erf", { readers: [] }).floats!;
  const table = weights.values("a.position_embd.weight", [width, ROWS]);
  const positions = sound.input(rows, "positions", width, () => table);
  rows.network.elementwise("add", { rows: x }, { x: { rows: positions } });
  await sound.transformer(rows, x, { activation: "gelu_erf" });
  if (isNormed) rows.network.normInto(x, x, sound.top(rows).layerNorm("a.post_ln"));
  return { rows, x };
}

/** Rows that one token stands for. */
const stackOf = (config: { countOr(key: string, fallback: number): number }, usual: number) =>
  config.countOr("projector.stack_factor", usual);

/** SwiGLU with norms: 8 rows side by side. */
export const ultravox: HearingFamily = {
  ...common,
  projector: "ultravox",
  tokens: (frames, config) => Math.floor(frames / 2 / stackOf(config, 8)),
  columns: outputsOf("mm.a.mlp.2.weight"),
  async build(sound) {
    const { rows, x } = await encode(sound, { isNormed: true });
    const joined = joinRows(sound, rows, x, stackOf(sound.config, 8));
    const { network } = joined.rows;
    const top = sound.top(joined.rows);
    const hidden = top.size(0, [["mm.a.mlp.1.weight", 1]]);
    const norm = (name: string, columns: number) => ({
      ...top.norm(name, "rms", { shape: [columns] }),
      epsilon: 1e-6,
    });
    const first = await top.matrix("mm.a.mlp.1.weight", hidden, joined.x.columns);
    const outputs = top.size(0, [["mm.a.mlp.2.weight", 1]]);
    const second = await top.matrix("mm.a.mlp.2.weight", outputs, hidden / 2);
    const normed = network.norm(joined.x, norm("mm.a.norm_pre", joined.x.columns), first);
    const both = network.linear(normed, first, "gate and up");
    const gated = gate(network, both, hidden / 2);
    const middle = network.norm(gated, norm("mm.a.norm_mid", hidden / 2), second);
    return { output: network.linear(middle, second, "embeddings") };
  },
};

/** silu(of the second half) * first half. */
function gate(network: Network, both: FloatRows, columns: number): FloatRows {
  const up = network.scratch("up", columns);
  network.elementwise("copy", { rows: up }, { x: { rows: both, first: 0, columns } });
  const second = network.scratch("gate", columns);
  network.elementwise("copy", { rows: second }, { x: { rows: both, first: columns, columns } });
  const activated = network.activate(second, columns, "silu", { readers: [] }).floats!;
  network.elementwise("multiply", { rows: activated }, { x: { rows: up } });
  return activated;
}

/** The mean of pairs, four of which are side by side. */
export const voxtral: HearingFamily = {
  ...common,
  projector: "voxtral",
  marks: ["[BEGIN_AUDIO]", ""],
  tokens: (frames, config) => Math.floor(frames / 4 / stackOf(config, 4)),
  columns: outputsOf("mm.a.mlp.2.weight"),
  async build(sound) {
    const { rows, x } = await encode(sound, { isNormed: false });
    const pooled = await normedPairs(sound, rows, x);
    const joined = joinRows(sound, pooled.rows, pooled.x, stackOf(sound.config, 4));
    return { output: await perceptron(sound, joined.rows, joined.x) };
  },
};

/** The mean of pairs of rows, normed. */
async function normedPairs(sound: SoundBuilder, rows: RowNetwork, x: FloatRows) {
  const pooled = await meanOfPairs(sound, rows, x);
  pooled.rows.network.normInto(pooled.x, pooled.x, sound.top(pooled.rows).layerNorm("a.post_ln"));
  return pooled;
}

/** The mean of pairs, and one matrix. */
export const qwen2Audio: HearingFamily = {
  ...common,
  projector: "qwen2a",
  marks: ["<|audio_bos|>", "<|audio_eos|>"],
  tokens: (frames) => frames / 4,
  columns: outputsOf("mm.a.fc.weight"),
  async build(sound) {
    const { rows, x } = await encode(sound, { isNormed: false });
    const pooled = await normedPairs(sound, rows, x);
    const { network } = pooled.rows;
    const top = sound.top(pooled.rows);
    const outputs = top.size(0, [["mm.a.fc.weight", 1]]);
    const stack = await top.matrix("mm.a.fc.weight", outputs, sound.config.width);
    return { output: network.linear(network.input(pooled.x, stack), stack, "embeddings") };
  },
};

/** The mean of pairs, and two matrices. */
export const musicFlamingo: HearingFamily = {
  ...common,
  projector: "musicflamingo",
  marks: ["<sound>", ""],
  tokens: (frames) => frames / 4,
  columns: outputsOf("mm.a.mlp.2.weight"),
  async build(sound) {
    const { rows, x } = await encode(sound, { isNormed: false });
    const pooled = await normedPairs(sound, rows, x);
    return { output: await perceptron(sound, pooled.rows, pooled.x) };
  },
};

/** Four rows side by side, between rows that mark the beginning and the end. */
export const glmAsr: HearingFamily = {
  ...common,
  projector: "glma",
  tokens: (frames, config) => Math.floor(frames / 2 / stackOf(config, 4)) + 2,
  columns: outputsOf("mm.a.mlp.2.weight"),
  async build(sound) {
    const { rows, x } = await encode(sound, { isNormed: true });
    rows.network.normInto(x, x, sound.top(rows).layerNorm("mm.a.norm_pre"));
    const joined = joinRows(sound, rows, x, stackOf(sound.config, 4));
    const output = await perceptron(sound, joined.rows, joined.x);
    const [begin, end] = ["v.boi", "v.eoi"]
      .map((name) => sound.weights.values(name, [output.columns]));
    const finish = (rows: Float32Array) => {
      const all = new Float32Array(rows.length + 2 * output.columns);
      all.set(begin);
      all.set(rows, output.columns);
      all.set(end, rows.length + output.columns);
      return all;
    };
    const inside = (frames: number) => Math.floor(frames / 2 / stackOf(sound.config, 4));
    return { output, rows: inside, finish };
  },
};

/** Fifteen rows side by side, and a gated block between two matrices. */
export const meralion: HearingFamily = {
  ...common,
  projector: "meralion",
  tokens: (frames, config) => Math.floor(frames / 2 / stackOf(config, 15)),
  columns: outputsOf("mm.a.mlp.3.weight"),
  async build(sound) {
    const { rows, x } = await encode(sound, { isNormed: true });
    const joined = joinRows(sound, rows, x, stackOf(sound.config, 15));
    const { network } = joined.rows;
    const top = sound.top(joined.rows);
    const matrix = async (part: number, columns: number) => {
      const name = `mm.a.mlp.${part}.weight`;
      return await top.matrix(name, top.size(0, [[name, 1]]), columns);
    };
    const first = await matrix(0, joined.x.columns);
    const [gates, up] = [await matrix(1, first.columns), await matrix(2, first.columns)];
    const last = await matrix(3, up.columns);
    const shape = { shape: [joined.x.columns], bias: "required" } as const;
    const normed = network.norm(joined.x, top.norm("mm.a.norm_pre", "layer", shape), first);
    const activated = (x: Input, stack: Stack, ...readers: Stack[]) =>
      network.activate(network.linear(x, stack, "hidden"), stack.columns, "silu", {
        readers: readers.flatMap(({ readers }) => readers),
      });
    const hidden = activated(normed, first, gates, up);
    const gated = activated(hidden, gates).floats!;
    network.elementwise("multiply", { rows: gated }, {
      x: { rows: network.linear(hidden, up, "up") },
    });
    return { output: network.linear(network.input(gated, last), last, "embeddings") };
  },
};
