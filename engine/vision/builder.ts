// What an encoder family's file is written with: the network over patches, its layers and inputs, and
// networks over tokens, which are some patches joined. A network is built for a number of patches;
// what depends on the shape of an image is an input, computed on the CPU and written when it changes.

import { type Device, type FloatRows, GROUP, type Norm, padTo } from "../../kernels/mod.ts";
import { Layer, Network, type StepShape } from "../nn/mod.ts";
import { type ImageAttentionConfig, loadImageAttention } from "./attention.ts";
import { loadFeedForward } from "./feed_forward.ts";
import { PatchGrid } from "./patch_grid.ts";
import { type GridRope, gridTurns } from "./rotary.ts";
import type { VisionConfig } from "./vision_config.ts";
import type { VisionWeights } from "./vision_weights.ts";
import { type WindowSizes, Windows } from "./windows.ts";

/** What is written for each shape of image. */
type SizedInput = (grid: PatchGrid, rows: number) => void;

/** How the layers of a vision transformer differ. */
export interface VisionLayerConfig extends Partial<ImageAttentionConfig> {
  /** Default "layer". */
  norm?: Norm["kind"];
}

/** How a network is built. */
export interface ImageBuilderOptions {
  /** f32 activations, keys and values. */
  exact: boolean;
  /** Most patches of an image. */
  patches: number;
  /** Rows after those of the patches. */
  extraRows: number;
}

/** An encoder while it is built. */
export class ImageBuilder {
  readonly network: Network;
  /** All patches see each other. */
  readonly whole: Windows;
  /** Pixels of the patches: [rows, 3 * patchSize^2]. */
  readonly pixels: FloatRows;
  readonly #inputs: SizedInput[] = [];
  readonly #windows: Windows[] = [];

  constructor(
    readonly device: Device,
    readonly weights: VisionWeights,
    readonly config: VisionConfig,
    readonly options: ImageBuilderOptions,
  ) {
    const rows = options.patches + options.extraRows;
    this.whole = this.windows({ largest: rows, smallest: rows }, (grid) => new Uint8Array(rows));
    this.network = this.#network(rows);
    this.pixels = this.network.memory.floats("pixels", 3 * config.patchSize ** 2);
  }
}
