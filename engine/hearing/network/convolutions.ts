// The convolutions with which many encoders begin, over frames and bands (two axes, 3 x 3, a stride of two
// on both): each is a product with the nine places that it reads, gathered side by side. They run for a few
// rows of the encoder at a time, since there are many places, and overlap by what these need.

import {
  type ActivationFunction,
  type FloatRows,
  floatRows,
  NO_ROW,
} from "../../../kernels/mod.ts";
import type { Network } from "../../nn/mod.ts";
import type { SoundWindow } from "../features.ts";
import type { Extent, RowNetwork, SoundBuilder } from "./builder.ts";

/** Places that a 3 x 3 convolution reads. */
const TAPS = 9;

/** One of the convolutions. */
export interface ConvolutionLayer {
  /** Name of the weight. */
  readonly name: string;
  /** Channels of its output. */
  readonly channels: number;
  /** All channels from all, with a stride; each from its own, with a stride; all from all of one place. */
  readonly kind: "full" | "depthwise" | "pointwise";
  /** What follows it. */
  readonly activation?: ActivationFunction;
  /** A LayerNorm of the channels before the activation: the name of its weight. */
  readonly norm?: string;
}

/** The options of a stem. */
export interface StemOptions {
  readonly layers: readonly ConvolutionLayer[];
  /** Whether the kernels in the file have frames as their first axis, or bands. */
  readonly first: "frames" | "bands";
  /** Rows of the encoder that are computed at a time. */
  readonly rows: number;
  /** Frames that are convolved for themselves, as if nothing were around them. Default: all of a window. */
  readonly piece?: number;
}

/** Frames and bands after each layer. */
interface Sizes {
  readonly bins: number;
  readonly channels: number;
  /** Layers with a stride so far. */
  readonly halvings: number;
}

/** A length after so many strides of two, of which each keeps the first place. */
function halved(length: number, times: number): number {
  return Math.ceil(length / 2 ** times);
}

/** The convolutions, which write the rows of an encoder's input. */
export class Stem {
  /** Columns of a row: [bands, channels], with the padding of channels. */
  readonly columns: number;
  /** Bands, channels and their padding. */
  readonly bins: number;
  readonly channels: number;
  readonly #builder: SoundBuilder;
  readonly #options: StemOptions;
  readonly #output: FloatRows;
  readonly #halvings: number;
  #target: FloatRows | undefined;

  private constructor(
    builder: SoundBuilder,
    options: StemOptions,
    output: FloatRows,
    { bins, channels, halvings }: Sizes,
  ) {
    this.#builder = builder;
    this.#options = options;
    this.#output = output;
    this.#halvings = halvings;
    this.bins = bins;
    this.channels = channels;
    this.columns = bins * output.stride;
  }

  /** Builds the convolutions, beside the network of an encoder. Errors: GgufError. */
  static async build(sound: SoundBuilder, options: StemOptions): Promise<Stem> {
    const builder = sound.beside(extentOf(options.rows));
    const halvings = options.layers.filter(({ kind }) => kind !== "pointwise").length;
    let sizes: Sizes = { bins: builder.config.bins, channels: 1, halvings: 0 };
    let x: FloatRows | undefined;
    for (const layer of options.layers) {
      const to: Sizes = layer.kind === "pointwise" ? { ...sizes, channels: layer.channels } : {
        bins: halved(sizes.bins, 1),
        channels: layer.channels,
        halvings: sizes.halvings + 1,
      };
      const step = new Step(builder, options, layer, { from: sizes, to, halvings });
      x = await step.build(x);
      sizes = to;
    }
    const output = builder.finish(x!);
    await builder.network.prepare();
    return new Stem(builder, options, output, sizes);
  }

  /** Rows of a window. */
  rowsOf(frames: number): number {
    const { piece = frames } = this.#options;
    const rest = frames % piece;
    return Math.floor(frames / piece) * halved(piece, this.#halvings) +
      halved(rest, this.#halvings);
  }

  /**
   * The product of the rows that it writes with a matrix [outputs, features], the input of the encoder.
   *
   * @param order how the file numbers features: bands of one channel after the other, or channels of one
   *   band
   */
  project(
    sound: SoundBuilder,
    rows: RowNetwork,
    name: string,
    order: "bands" | "channels",
  ): FloatRows {
    const { bins, channels, columns } = this;
    const { network } = rows;
    this.#target = floatRows(sound.device, "convolved", rows.most, columns);
    const outputs = sound.top(rows).size(0, [[name, 1]]);
    const { stride } = this.#output;
    const stack = sound.weights.derived(
      name,
      [bins * channels, outputs],
      { rows: outputs, columns },
      (values, row, column) => {
        const [band, channel] = [Math.floor(column / stride), column % stride];
        if (channel >= channels) return 0;
        const feature = order === "bands" ? band + bins * channel : channel + channels * band;
        return values[row * bins * channels + feature];
      },
    );
    return network.linear(network.input(this.#target, stack), stack, "residual");
  }

  /** Runs it for a window: submits its steps one after the other, with `between` them. */
  async run({ frames, values }: SoundWindow, between: () => Promise<void>): Promise<void> {
    const { piece = frames } = this.#options;
    const columns = values.length / frames;
    let at = 0;
    for (let from = 0; from < frames; from += piece) {
      const count = Math.min(piece, frames - from);
      const part = values.subarray(from * columns, (from + count) * columns);
      at = await this.#runPiece({ frames: count, values: part }, at, between);
    }
  }

  /** Runs it for a piece, whose rows go to those from `at` on. Gives the row behind the last one. */
  async #runPiece(piece: SoundWindow, at: number, between: () => Promise<void>): Promise<number> {
    const builder = this.#builder;
    const { device } = builder;
    const { frames } = piece;
    const all = halved(frames, this.#halvings);
    for (let first = 0; first < all; first += this.#options.rows) {
      const end = Math.min(all, first + this.#options.rows);
      builder.write(piece, { frames, first, end });
      const commands = device.record();
      for (const encode of builder.parts()) commands.pass(encode);
      const bytes = 4 * this.columns;
      const [to, count] = [(at + first) * bytes, (end - first) * bytes];
      commands.copy(this.#output.floats, 0, this.#target!.floats, to, count);
      device.submit(commands.finish());
      await between();
    }
    return at + all;
  }
}

/** The largest extent of so many rows: somewhere in a long sound, where all have neighbours. */
function extentOf(rows: number): Extent {
  const far = 2 ** 20;
  return { frames: 2 ** 30, first: far, end: far + rows };
}

/** One layer of a stem that is being built. */
class Step {
  readonly #from: Sizes;
  readonly #to: Sizes;
  readonly #halvings: number;
  readonly #rows: RowNetwork;

  constructor(
    readonly builder: SoundBuilder,
    readonly options: StemOptions,
    readonly layer: ConvolutionLayer,
    { from, to, halvings }: { from: Sizes; to: Sizes; halvings: number },
  ) {
    this.#from = from;
    this.#to = to;
    this.#halvings = halvings;
    this.#rows = builder.over((extent) => {
      const [first, end] = this.#range(extent, to.halvings);
      return (end - first) * to.bins;
    });
  }

  /** The rows after this layer, [frames, bands] of them, each of its channels. */
  async build(x: FloatRows | undefined): Promise<FloatRows> {
    const { kind, name, channels, activation, norm } = this.layer;
    const { network } = this.#rows;
    const top = this.builder.top(this.#rows);
    let y: FloatRows;
    if (kind === "pointwise") {
      const stack = await top.matrix(name, channels, this.#from.channels);
      y = network.linear(network.input(x!, stack), stack, "convolved");
    } else if (kind === "depthwise") {
      const gathered = this.#gather(x!);
      y = depthwise(this.builder, network, gathered, {
        name,
        channels,
        taps: TAPS,
        stride: x!.stride,
        placeOf: (tap) => this.#placeOf(tap),
        bias: this.#biases(channels),
      });
    } else {
      const input = x ? this.#gather(x) : this.#input();
      const stack = this.builder.convolution(name, {
        taps: TAPS,
        inputs: this.#from.channels,
        stride: x?.stride ?? 1,
        outputs: channels,
        tapOf: (place) => this.#tapOf(place),
      });
      y = network.linear(network.input(input, stack), stack, "convolved");
    }
    if (norm) network.normInto(y, y, top.norm(norm, "layer", { shape: [channels] }));
    if (!activation) return y;
    return network.activate(y, channels, activation, { readers: [] }).floats!;
  }

  #biases(channels: number): Float32Array {
    const { weights } = this.builder;
    const name = this.layer.name.replace(/weight$/, "bias");
    return weights.has(name) ? weights.values(name, [channels]) : new Float32Array(channels);
  }

  /** The tap of a weight by its index in the file; taps are ordered by frames, then by bands. */
  #tapOf(place: number): number {
    return this.options.first === "bands" ? place : place % 3 * 3 + Math.floor(place / 3);
  }

  /** The index in the file of a tap's weight. The order of a kernel's axes is its own inverse. */
  #placeOf(tap: number): number {
    return this.#tapOf(tap);
  }

  /** The frames after so many halvings that an extent needs, [first, end). */
  #range({ frames, first, end }: Extent, halvings: number): readonly [number, number] {
    let range: readonly [number, number] = [first, end];
    for (let at = this.#halvings; at > halvings; at--) {
      const there = halved(frames, at - 1);
      range = [Math.max(0, 2 * range[0] - 1), Math.min(there, 2 * range[1])];
    }
    return range;
  }

  /** For each row and tap of this layer's output, the frame and the band that it reads. */
  #forPlaces(
    extent: Extent,
    visit: (at: number, frame: number, band: number, isThere: boolean) => void,
  ): void {
    const [first, end] = this.#range(extent, this.#to.halvings);
    const frames = halved(extent.frames, this.#from.halvings);
    const { bins } = this.#from;
    let at = 0;
    for (let frame = first; frame < end; frame++) {
      for (let band = 0; band < this.#to.bins; band++) {
        for (let tap = 0; tap < TAPS; tap++, at++) {
          const t = 2 * frame - 1 + Math.floor(tap / 3);
          const f = 2 * band - 1 + tap % 3;
          visit(at, t, f, t >= 0 && t < frames && f >= 0 && f < bins);
        }
      }
    }
  }

  /** The nine values of each place of the first layer. */
  #input(): FloatRows {
    const { bins } = this.#from;
    return this.builder.input(this.#rows, "places", TAPS, (window, extent) => {
      const values = new Float32Array(TAPS * this.#rows.rowsOf(extent));
      this.#forPlaces(extent, (at, frame, band, isThere) => {
        if (isThere) values[at] = window.values[frame * bins + band];
      });
      return values;
    });
  }

  #gather(x: FloatRows): FloatRows {
    const { bins, halvings } = this.#from;
    return this.builder.gather(this.#rows, x, TAPS, (extent) => {
      const sources = new Uint32Array(TAPS * this.#rows.rowsOf(extent)).fill(NO_ROW);
      const [first] = this.#range(extent, halvings);
      this.#forPlaces(extent, (at, frame, band, isThere) => {
        if (isThere) sources[at] = (frame - first) * bins + band;
      });
      return sources;
    });
  }
}

/** A convolution of each channel for itself. */
export interface DepthwiseOptions {
  readonly name: string;
  readonly channels: number;
  readonly taps: number;
  /** Floats from one gathered row to the next. */
  readonly stride: number;
  /** The index in the file of a tap's weight. Default: the same. */
  readonly placeOf?: (tap: number) => number;
  /** What is added to each channel. */
  readonly bias: Float32Array;
  /** Factors of the channels' weights. Default 1. */
  readonly gains?: Float32Array;
}

/** The sum of each channel's gathered values times its weights, [taps, channels] in the file's order. */
export function depthwise(
  builder: SoundBuilder,
  network: Network,
  gathered: FloatRows,
  { name, channels, taps, stride, placeOf = (tap) => tap, bias, gains }: DepthwiseOptions,
): FloatRows {
  const weights = builder.weights.values(name, [taps, channels]);
  const factors = new Float32Array(taps * stride);
  for (let tap = 0; tap < taps; tap++) {
    for (let channel = 0; channel < channels; channel++) {
      const weight = weights[channel * taps + placeOf(tap)];
      factors[tap * stride + channel] = weight * (gains?.[channel] ?? 1);
    }
  }
  const rows = (label: string, values: Float32Array) => ({
    x: { rows: builder.constant(label, values) },
    broadcast: true,
  });
  network.elementwise("multiply", { rows: gathered }, rows(name, factors));
  const y = network.scratch("convolved", channels);
  network.elementwise("copy", { rows: y }, rows("bias", bias));
  const ones = { ...builder.constant("ones", new Float32Array(taps).fill(1)), stride: 0 };
  const from = { rows: gathered, columns: channels, step: stride };
  network.addRows(network.make.mix(ones, from, { rows: y }, { inputs: taps, outputs: 1 }));
  return y;
}
