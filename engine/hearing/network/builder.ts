// The interface in which families of audio encoders are written: networks over rows of several numbers
// (frames, rows of the encoder, tokens), with the inputs that the host writes for each window of a sound,
// and tables that follow from its length.

import {
  type Buffer,
  type Device,
  type FloatRows,
  floatRows,
  type Pass,
  typesOf,
} from "../../../kernels/mod.ts";
import {
  DividedNetwork,
  type EncoderBlockConfig,
  type EncoderWeights,
  padColumns,
  type Rotations,
  transform,
  Windows,
} from "../../encoder/mod.ts";
import {
  allocateStep,
  Layer,
  Network,
  type NetworkOptions,
  RowReadback,
  type StepShape,
  type StepState,
} from "../../nn/mod.ts";
import { type Placement, type Stack, wholeOn } from "../../weights/mod.ts";
import type { SoundWindow } from "../features.ts";
import type { HearingConfig } from "./config.ts";

/** What a network runs over: a window of a sound, of which a stem computes a few rows at a time. */
export interface Extent {
  /** Frames of the window. */
  readonly frames: number;
  /** The rows that a stem computes: from `first` up to `end`. */
  readonly first: number;
  readonly end: number;
}

/** A number of rows that follows from an extent, and does not fall where that grows. */
export type RowsOf = (extent: Extent) => number;

/** A network over a number of rows, which follows from the extent. */
export interface RowNetwork {
  readonly network: Network;
  readonly rowsOf: RowsOf;
  /** Most rows. */
  readonly most: number;
}

/** An encoder that is being built. */
export class SoundBuilder {
  /** The network that contains the others. */
  readonly network: DividedNetwork;
  /** The device that runs it. */
  readonly device: Device;
  readonly #state: StepState;
  readonly #written: ((window: SoundWindow, extent: Extent) => void)[] = [];
  readonly #prepared: ((extent: Extent) => void)[] = [];
  #extent: Extent;
  #preparedFor = "";

  /** @param most the largest extent; @param exact whether activations, keys and values are f32 */
  constructor(
    readonly placement: Placement,
    readonly weights: EncoderWeights,
    readonly config: HearingConfig,
    readonly most: Extent,
    readonly exact: boolean,
  ) {
    this.device = placement.top;
    this.#extent = most;
    this.#state = allocateStep(this.device, { rows: 1, outputs: 1, slots: 1, context: 1 });
    this.network = new DividedNetwork(placement, this.#state, this.#optionsFor(1));
  }

  /** A builder of another network on the same device, with the same weights. */
  beside(most: Extent): SoundBuilder {
    return new SoundBuilder(this.placement, this.weights, this.config, most, this.exact);
  }

  /** A network over rows, inside of the whole. */
  over(rowsOf: RowsOf): RowNetwork {
    const most = Math.max(1, rowsOf(this.most));
    const network = new Network(wholeOn(this.device), this.#state, this.#optionsFor(most), {
      network: this.network,
      shapeOf: (step) => ({ ...step, rows: rowsOf(this.#extent) }),
    });
    return { network, rowsOf, most };
  }

  /** Tensors that belong to no layer, by their full names, for a network. */
  top({ network }: RowNetwork): Layer {
    return new Layer(network, this.weights, this.config, -1, "");
  }

  /** The layers in order, for a network, each a part of the whole. */
  *layers(
    { network }: RowNetwork,
    { prefix = "a.blk", count = this.config.layers } = {},
  ): Generator<Layer> {
    for (let i = 0; i < count; i++) {
      this.network.divide();
      yield new Layer(network, this.weights, this.config, i, `${prefix}.${i}.`);
    }
  }

  /** Rows that the host writes for each window: [rows, columns]. */
  input(
    { most }: RowNetwork,
    label: string,
    columns: number,
    valuesOf: (window: SoundWindow, extent: Extent) => Float32Array,
  ): FloatRows {
    const rows = floatRows(this.device, label, most, columns);
    this.#written.push((window, extent) => {
      this.device.write(rows.floats, 0, padColumns(valuesOf(window, extent), columns));
    });
    return rows;
  }

  /** Numbers that follow from the extent, at most `most` of them. */
  table(
    label: string,
    most: number,
    valuesOf: (extent: Extent) => Uint32Array | Float32Array,
  ): Buffer {
    const buffer = this.device.buffer(label, 4 * most, "scratch");
    this.#prepared.push((extent) => this.device.write(buffer, 0, valuesOf(extent)));
    return buffer;
  }

  /** The rows of x with these numbers, side by side: [rows, taps * x.stride]. */
  gather(
    { network, most }: RowNetwork,
    x: FloatRows,
    taps: number,
    sourcesOf: (extent: Extent) => Uint32Array,
  ): FloatRows {
    const sources = this.table("sources", taps * most, sourcesOf);
    const y = network.scratch("gathered", taps * x.stride);
    network.addRows(network.make.gatherRows(x, sources, y, { taps }));
    return y;
  }

  /** The span of rows to which each row attends: [rows] of (first, end). */
  spans(
    { most, rowsOf }: RowNetwork,
    spanOf: (row: number, extent: Extent) => readonly [first: number, end: number],
  ): Buffer {
    return this.table("spans", 2 * most, (extent) => {
      const spans = new Uint32Array(2 * rowsOf(extent));
      for (let row = 0; 2 * row < spans.length; row++) spans.set(spanOf(row, extent), 2 * row);
      return spans;
    });
  }

  /** Rotations by the number of each row, for attention. @param frequencyOf radians for each row */
  rotations(
    { most, rowsOf }: RowNetwork,
    { headDim, distance, frequencyOf }: {
      headDim: number;
      distance: number;
      frequencyOf: (pair: number) => number;
    },
  ): Rotations {
    const frequencies = Float64Array.from({ length: headDim / 2 }, (_, pair) => frequencyOf(pair));
    const buffer = this.table(
      "rotations",
      most * headDim,
      (extent) =>
        Float32Array.from({ length: rowsOf(extent) * headDim }, (_, i) => {
          const angle = Math.floor(i / headDim) * frequencies[i % headDim >> 1];
          return i % 2 === 0 ? Math.cos(angle) : Math.sin(angle);
        }),
    );
    return { buffer, distance };
  }

  /** A single window, of all rows of a network. */
  whole(rows: RowNetwork): Windows {
    return this.windows(rows, rows.most, () => 0);
  }

  /** Windows of `size` rows at most, which attend to each other. @param windowOf the window of a row */
  windows(
    { most, rowsOf }: RowNetwork,
    size: number,
    windowOf: (row: number) => number,
  ): Windows {
    const sizes = { largest: size, smallest: size };
    const windows = new Windows(this.device, most, sizes, this.config.heads(), !this.exact);
    this.#prepared.push((extent) =>
      windows.write(Uint32Array.from({ length: rowsOf(extent) }, (_, row) => windowOf(row)))
    );
    return windows;
  }

  /** The layers of a transformer: see transform() of engine/encoder. Errors: GgufError. */
  async transformer(
    rows: RowNetwork,
    x: FloatRows,
    options: Omit<EncoderBlockConfig, "windows" | "heads" | "kvHeads" | "headDim" | "valueDim">,
  ): Promise<void> {
    const windows = this.whole(rows);
    for (const layer of this.layers(rows)) {
      await transform(layer, x, { windows, ...this.config.heads(), ...options });
    }
  }

  /** Rows of values that never change: [rows, columns]; by default one. */
  constant(label: string, values: Float32Array, columns = values.length): FloatRows {
    const rows = floatRows(this.device, label, values.length / columns, columns);
    this.device.write(rows.floats, 0, padColumns(values, columns));
    return rows;
  }

  /**
   * The matrix of a convolution over rows that are gathered side by side: [outputs, taps, stride], where
   * `stride` is at least the number of inputs. Errors: GgufError.
   *
   * @param tapOf the tap of a weight, from its index in the file's kernel; default: the same
   */
  convolution(
    name: string,
    { taps, inputs, stride = inputs, outputs, tapOf = (tap) => tap }: {
      taps: number;
      inputs: number;
      stride?: number;
      outputs: number;
      tapOf?: (tap: number) => number;
    },
  ): Stack {
    const places = Array.from({ length: taps }, (_, tap) => tapOf(tap));
    const shape = { rows: outputs, columns: taps * stride };
    return this.weights.derived(name, [taps, inputs, outputs], shape, (values, row, column) => {
      const [tap, input] = [Math.floor(column / stride), column % stride];
      return input < inputs ? values[(row * inputs + input) * taps + places.indexOf(tap)] : 0;
    });
  }

  /**
   * Ends the network. Gives its output with its memory, so that the host can read it. Errors: those
   * of Network.allocate().
   */
  finish(output: FloatRows): FloatRows {
    this.network.keep(output);
    this.network.allocate();
    return this.network.allocated(output);
  }

  /** Writes what a window needs, and what depends on the extent. */
  write(window: SoundWindow, extent: Extent): void {
    this.#extent = extent;
    const shape = JSON.stringify(extent);
    if (shape !== this.#preparedFor) { for (const prepare of this.#prepared) prepare(extent); }
    this.#preparedFor = shape;
    for (const write of this.#written) write(window, extent);
  }

  /**
   * Ends a network that runs behind another one. Gives the function that runs it for a window, and reads
   * the first rows of its output. @param most most rows
   */
  runner(
    rows: FloatRows,
    most: number,
  ): (window: SoundWindow, count: number) => Promise<Float32Array> {
    const output = this.finish(rows);
    const readback = new RowReadback(this.device, "embeddings", output, most);
    return async (window, count) => {
      this.write(window, { frames: window.frames, first: 0, end: window.frames });
      const commands = this.device.record();
      for (const encode of this.parts()) commands.pass(encode);
      readback.copy(commands, 0, count);
      this.device.submit(commands.finish());
      return await readback.read(count);
    };
  }

  /** The shape of a step. The networks inside have their rows by the extent. */
  get step(): StepShape {
    return {
      rows: 1,
      mediaRows: 0,
      sequences: 1,
      outputs: 1,
      decodeRows: 0,
      decodeContext: 0,
      prefillTiles: 0,
      prefillContext: 0,
      adapters: 0,
    };
  }

  /** Records the network, part by part. The window has to be written. */
  parts(): Iterable<(pass: Pass) => void> {
    return this.network.parts(this.step);
  }

  #optionsFor(rows: number): NetworkOptions {
    return {
      limits: { rows, outputs: 1, slots: 1, context: rows },
      integer: !this.exact && this.device.profile.capabilities.packedDot,
      cacheTypes: typesOf(this.exact ? "f32" : "f16"),
      cacheBlocks: 0,
    };
  }
}
