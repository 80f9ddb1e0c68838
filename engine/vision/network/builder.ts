// The interface in which families of encoders are written: a network over patches with its layers
// and inputs, and a network over tokens, each of which is a square of patches. A network is built
// for a number of patches. What depends on the shape of an image is computed on the CPU, and
// written when the shape changes.

import {
  type Device,
  type FloatRows,
  type Norm,
  type Pass,
  typesOf,
} from "../../../kernels/mod.ts";
import { Layer, Network, type NetworkOptions, type StepShape } from "../../nn/mod.ts";
import { layerOf, OF_TILES, type Placement, type Stack, wholeOn } from "../../weights/mod.ts";
import {
  DividedNetwork,
  type EncoderBlockConfig,
  encoderNorm,
  type EncoderWeights,
  padColumns,
  type Rotations,
  transform,
  Windows,
  type WindowSizes,
} from "../../encoder/mod.ts";
import type { VisionConfig } from "./config.ts";
import { CHANNELS, type GridRope, gridRotations, type PatchGrid } from "./patch_grid.ts";

/** The options of a network. */
export interface ImageBuilderOptions {
  /** Whether activations, keys and values are f32. */
  exact: boolean;
  /** Most patches of an image. */
  patches: number;
  /** Patches along each side of a token. */
  merge: number;
  /** Number of rows after those of the patches: 1 for a class token. */
  extraRows: number;
}

/** The differences between layers of vision transformers. */
export type VisionLayerConfig = Partial<EncoderBlockConfig>;

/** Computes values for all rows from the shape of an image: [rows, columns]. */
export type RowValues = (grid: PatchGrid, rows: number) => Float32Array;

/** An encoder that is being built. */
export class ImageBuilder {
  /** The network over patches. Each layer is a part of it. */
  readonly network: DividedNetwork;
  /** Tensors that belong to no layer, by their full names. */
  readonly top: Layer;
  /** The pixels of the patches: [rows, 3 * patchSize^2]. */
  readonly pixels: FloatRows;
  onlyPatches: number | undefined;
  readonly #whole: Windows;
  readonly #rows: number;
  #layers = 0;
  /** The device that runs it. */
  readonly device: Device;
  readonly #inputs: ((grid: PatchGrid, rows: number) => void)[] = [];

  constructor(
    placement: Placement,
    readonly weights: EncoderWeights,
    readonly config: VisionConfig,
    readonly options: ImageBuilderOptions,
  ) {
    this.device = placement.top;
    this.#rows = options.patches + options.extraRows;
    const sizes = { largest: this.#rows, smallest: this.#rows };
    this.#whole = this.windows(sizes, () => 0);
    this.network = new DividedNetwork(
      placement,
      this.#whole.state,
      this.#optionsFor(this.#rows),
    );
    this.top = new Layer(this.network, weights, config, -1, "");
    this.pixels = this.network.memory.floats("pixels", 3 * config.patchSize ** 2);
  }

  get mostTokens(): number {
    return Math.ceil(this.options.patches / this.options.merge ** 2);
  }

  /** The layers in order, or the first `count`. */
  *layers(count = this.config.layers): Generator<Layer> {
    this.#layers = count;
    for (let i = 0; i < count; i++) {
      this.network.divide();
      this.network.beginLayer(i);
      yield new Layer(this.network, this.weights, this.config, i, `v.blk.${i}.`);
    }
    this.network.beginLayer();
  }

  /**
   * Windows of the image. Patches attend to each other if `windowOf` gives the same number for
   * them.
   */
  windows(sizes: WindowSizes, windowOf: (grid: PatchGrid, row: number) => number): Windows {
    const { device, config, options } = this;
    const windows = new Windows(device, this.#rows, sizes, config.heads(), !options.exact);
    this.#inputs.push((grid, rows) => {
      windows.write(Uint32Array.from({ length: rows }, (_, row) => windowOf(grid, row)));
    });
    return windows;
  }

  /** The rotations of a rotary embedding, for {@linkcode ImageBuilder.transform}. */
  rotations(rope: GridRope): Rotations {
    const buffer = this.device.buffer("rotations", this.#rows * rope.headDim * 4, "scratch");
    this.#inputs.push((grid, rows) =>
      this.device.write(buffer, 0, gridRotations(rope, grid, rows))
    );
    return { buffer, distance: rope.distance };
  }

  /**
   * The residual stream: the product of the patches with v.patch_embd, plus `positions`. Errors:
   * GgufError.
   */
  async patches(
    positions?: RowValues,
    embedding: PatchEmbeddingConfig = {},
  ): Promise<FloatRows> {
    const { network, top, config: { width } } = this;
    const x = network.scratch("residual", width);
    if (positions) {
      const rows = network.memory.floats("positions", width);
      this.#inputs.push((grid, count) => {
        this.device.write(rows.floats, 0, padColumns(positions(grid, count), width));
      });
      network.elementwise("copy", { rows: x }, { x: { rows } });
    }
    const stacks = await loadPatchEmbedding(top, this.weights, this.pixels.columns, embedding);
    for (const [i, stack] of stacks.entries()) {
      const accumulate = i > 0 || positions !== undefined;
      network.project(network.input(this.pixels, stack), stack, x, { accumulate });
    }
    return x;
  }

  /** A block: ln1, attn_*, ln2, ffn_*; see transform() of engine/encoder. Errors: GgufError. */
  async transform(layer: Layer, x: FloatRows, options: VisionLayerConfig = {}): Promise<void> {
    const { config: { activation }, config } = this;
    await transform(layer, x, { windows: this.#whole, ...config.heads(), activation, ...options });
  }

  /** x = norm(x). Errors: GgufError. */
  normalize(x: FloatRows, name: string, kind: Norm["kind"] = "layer"): void {
    this.network.normInto(x, x, encoderNorm(this.top, name, kind));
  }

  /** x = norm(x) if the file has this norm. Errors: GgufError. */
  normalizeIfThere(x: FloatRows, name: string, kind: Norm["kind"] = "layer"): void {
    const parts = kind === "layer" ? ["weight", "bias"] : ["weight"];
    if (this.top.hasAll(parts.map((part) => `${name}.${part}`))) this.normalize(x, name, kind);
  }

  /** A network over tokens, and its input: [tokens, merge^2 patches side by side]. */
  tokens(x: FloatRows): { network: Network; x: FloatRows } {
    const size = this.options.merge ** 2;
    const options = this.#optionsFor(this.mostTokens);
    const network = new Network(wholeOn(this.device), this.#whole.state, options, {
      network: this.network,
      shapeOf: (step) => ({ ...step, rows: step.outputs / size }),
    });
    const joined = { columns: size * x.stride, stride: size * x.stride, floats: x.floats };
    if (x.stride === x.columns) return { network, x: joined };
    const packed = network.scratch("joined", size * x.columns);
    const to = { rows: packed, columns: x.columns, step: x.columns };
    network.elementwise("copy", to, { count: size, x: { rows: joined, step: x.stride } });
    return { network, x: packed };
  }

  /**
   * Checks at the end of a load that every tensor was used, or is known to be unused. Errors:
   * GgufError.
   *
   * @param someLayers whether layers after the last one that was loaded are ignored
   */
  checkAllTaken(someLayers: boolean): void {
    this.weights.inventory.checkAllTaken((name) =>
      (someLayers && layerOf(name, "v.blk.") >= this.#layers) ||
      OF_TILES.some((names) => names.test(name))
    );
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

  /** Writes what depends on the shape of an image. */
  prepare(grid: PatchGrid): void {
    for (const write of this.#inputs) write(grid, grid.patches + this.options.extraRows);
  }

  /** The shape of an image's step. The image has to be prepared. */
  stepOf(grid: PatchGrid): StepShape {
    return {
      rows: grid.patches + this.options.extraRows,
      mediaRows: 0,
      sequences: 1,
      outputs: grid.patches,
      decodeRows: 0,
      decodeContext: 0,
      prefillTiles: this.#whole.tiles,
      prefillContext: this.#whole.longest,
      adapters: 0,
    };
  }

  /** Records the network, part by part. The image has to be prepared, and its pixels written. */
  parts(grid: PatchGrid): Iterable<(pass: Pass) => void> {
    return this.network.parts(this.stepOf(grid));
  }

  #optionsFor(rows: number): NetworkOptions {
    const { exact } = this.options;
    return {
      limits: { rows, outputs: 1, slots: 1, context: rows },
      integer: !exact && this.device.profile.capabilities.packedDot,
      cacheTypes: typesOf(exact ? "f32" : "f16"),
      cacheBlocks: 0,
    };
  }
}

const WEIGHT = "v.patch_embd.weight";

/** The options of a patch embedding. */
interface PatchEmbeddingConfig {
  /** Frames of a video in a patch. Default 1. */
  frames?: 1 | 2;
  /** Whether there always is a bias. Default "optional". */
  bias?: "required" | "optional";
}

/**
 * The matrices [width, columns] whose products add up to a patch's embedding. Errors: GgufError.
 */
async function loadPatchEmbedding(
  top: Layer,
  weights: EncoderWeights,
  columns: number,
  { frames = 1, bias = "optional" }: PatchEmbeddingConfig,
): Promise<Stack[]> {
  const { width } = top.config;
  if (weights.inventory.find(WEIGHT).shape.length === 4) {
    return [sumFrames(weights, frames, { rows: width, columns })];
  }
  const first = await top.matrix(WEIGHT, width, columns, { bias });
  // The first matrix has the bias of both.
  const second = { name: `${WEIGHT}.1`, rows: width };
  return frames === 1 ? [first] : [first, await top.stack([second], columns)];
}

/** The sum of a convolution's matrices for each frame. Frames lie between channels and pixels. */
function sumFrames(
  weights: EncoderWeights,
  frames: number,
  { rows, columns }: { rows: number; columns: number },
): Stack {
  const pixels = columns / CHANNELS;
  const side = Math.sqrt(pixels);
  const shape = [side, side, frames, CHANNELS * rows];
  return weights.derived(WEIGHT, shape, { rows, columns }, (values, row, column) => {
    const channel = row * CHANNELS + Math.floor(column / pixels);
    let sum = 0;
    for (let frame = 0; frame < frames; frame++) {
      sum += values[(channel * frames + frame) * pixels + column % pixels];
    }
    return sum;
  });
}
