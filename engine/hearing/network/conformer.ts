// The blocks of a Conformer (Gulati et al. 2020), of which all streaming and most transcribing encoders are
// made: two feed-forward blocks of half a step, attention with relative positions between them, and a
// convolution over the rows.

import { type Columns, type FloatRows, NO_ROW, type Norm } from "../../../kernels/mod.ts";
import { encoderNorm, loadProjection } from "../../encoder/mod.ts";
import type { Layer } from "../../nn/mod.ts";
import type { RowNetwork, SoundBuilder } from "./builder.ts";
import { depthwise } from "./convolutions.ts";

/** What the blocks of a model have in common. */
export interface ConformerKind {
  readonly sound: SoundBuilder;
  readonly rows: RowNetwork;
  /** The kind of its norms. */
  readonly norm: Norm["kind"];
}

/** x += 0.5 * down(silu(up(norm(x)))), normed where there is a norm behind. Errors: GgufError. */
export async function halfFeedForward(
  { norm }: ConformerKind,
  layer: Layer,
  x: FloatRows,
  { suffix = "", postNorm }: { suffix?: string; postNorm?: string } = {},
): Promise<void> {
  const { network } = layer;
  const { width } = layer.config;
  const [upName, downName] = [`ffn_up${suffix}.weight`, `ffn_down${suffix}.weight`];
  const hidden = layer.size(0, [[upName, 1]]);
  const up = await loadProjection(layer, [layer.all(upName, hidden)], width);
  const down = await loadProjection(layer, [layer.all(downName, width)], hidden);
  const rows = network.scratch("up", hidden);
  up.run(network.norm(x, encoderNorm(layer, `ffn_norm${suffix}`, norm), up), rows);
  const y = network.scratch("down", width);
  down.run(network.activate(rows, hidden, "silu", down), y);
  if (postNorm) network.normInto(y, y, encoderNorm(layer, postNorm, norm));
  network.elementwise("add", { rows: x }, { x: { rows: y }, factor: 0.5 });
}

/** The convolution module. */
export interface ConvolutionModule {
  /** The norm before it. */
  readonly before: string;
  /** The RMSNorm behind the convolution. Default: a factor and a term of each channel. */
  readonly behind?: string;
  readonly taps: number;
  /** Rows before the row itself that the convolution reads. */
  readonly back: number;
  /** Mean and variance of each channel, as a batch norm has them, by their names. */
  readonly statistics?: readonly [mean: string, variance: string];
}

/** x += pw2(silu(norm(convolution(glu(pw1(norm(x))))))). Errors: GgufError. */
export async function convolve(
  { sound, rows, norm }: ConformerKind,
  layer: Layer,
  x: FloatRows,
  { before, behind, taps, back, statistics }: ConvolutionModule,
): Promise<void> {
  const { network } = layer;
  const { width } = layer.config;
  const first = await loadProjection(layer, [layer.all("conv_pw1.weight", 2 * width)], width);
  const second = await loadProjection(layer, [layer.all("conv_pw2.weight", width)], width);
  const both = network.scratch("gates", 2 * width);
  first.run(network.norm(x, encoderNorm(layer, before, norm), first), both);
  const gated = network.scratch("gated", width);
  network.elementwise("copy", { rows: gated }, { x: { rows: both, columns: width } });
  network.elementwise("sigmoid_gate", { rows: gated }, {
    x: { rows: both, first: width, columns: width },
  });
  const gathered = sound.gather(rows, gated, taps, (extent) => {
    const count = rows.rowsOf(extent);
    return Uint32Array.from({ length: taps * count }, (_, i) => {
      const from = Math.floor(i / taps) + i % taps - back;
      return from >= 0 && from < count ? from : NO_ROW;
    });
  });
  const own = behind ? {} : channelNorm(layer, statistics);
  const bias = layer.has("conv_dw.bias")
    ? layer.weights.values(layer.name("conv_dw.bias"), [width])
    : new Float32Array(width);
  const y = depthwise(sound, network, gathered, {
    name: layer.name("conv_dw.weight"),
    channels: width,
    taps,
    stride: gated.stride,
    ...own,
    bias: bias.map((value, i) => value * (own.gains?.[i] ?? 1) + (own.terms?.[i] ?? 0)),
  });
  if (behind) network.normInto(y, y, encoderNorm(layer, behind, norm));
  const projected = network.scratch("projected", width);
  second.run(network.activate(y, width, "silu", second), projected);
  network.elementwise("add", { rows: x }, { x: { rows: projected } });
}

/** A batch norm of known statistics as a factor and a term of each channel (Ioffe and Szegedy 2015). */
function channelNorm(
  layer: Layer,
  statistics: ConvolutionModule["statistics"],
): { gains?: Float32Array; terms?: Float32Array } {
  const { width } = layer.config;
  const valuesOf = (name: string) => layer.weights.values(layer.name(name), [width]);
  const [weight, bias] = [valuesOf("conv_norm.weight"), valuesOf("conv_norm.bias")];
  if (!statistics) return { gains: weight, terms: bias };
  const [mean, variance] = statistics.map(valuesOf);
  const gains = weight.map((value, i) => value / Math.sqrt(variance[i]));
  return { gains, terms: bias.map((value, i) => value - mean[i] * gains[i]) };
}

/** Queries, keys and values side by side: [rows, q, k and v]. Errors: GgufError. */
export async function projectHeads(
  { norm }: ConformerKind,
  layer: Layer,
  x: FloatRows,
  before: string,
): Promise<FloatRows> {
  const { network } = layer;
  const { width } = layer.config;
  const inputs = ["attn_q.weight", "attn_k.weight", "attn_v.weight"];
  const stacks = inputs.map((name) => layer.all(name, width));
  const projection = await loadProjection(layer, stacks, width);
  const qkv = network.scratch("qkv", 3 * width);
  projection.run(network.norm(x, encoderNorm(layer, before, norm), projection), qkv);
  return qkv;
}

/** x += the output matrix of what was attended to, normed where there is a norm behind. */
export async function addAttended(
  { norm }: ConformerKind,
  layer: Layer,
  attended: FloatRows,
  x: FloatRows,
  postNorm?: string,
): Promise<void> {
  const { network } = layer;
  const { width } = layer.config;
  const output = await loadProjection(layer, [layer.all("attn_out.weight", width)], width);
  const behind = postNorm ? encoderNorm(layer, postNorm, norm) : undefined;
  output.add(network.input(attended, output), x, behind);
}

/** Queries plus a term for each element of a head. */
export function withTerms(
  { sound, rows: { network } }: ConformerKind,
  queries: Columns,
  terms: Float32Array,
): Columns {
  const rows = network.scratch("queries", terms.length);
  network.elementwise("copy", { rows }, { x: { ...queries, columns: terms.length } });
  const x = { rows: sound.constant("query terms", terms) };
  network.elementwise("add", { rows }, { x, broadcast: true });
  return { rows };
}
