// How encoders of images and of sounds are loaded, whatever they read.

import type { Device } from "../../kernels/mod.ts";
import type { GgufFile, TensorBytes } from "../gguf/mod.ts";
import type { LoadProgress } from "../types/mod.ts";
import type { Placement } from "../weights/mod.ts";

/** The options of both. */
export interface EncoderOptions {
  /** Whether activations, keys and values are f32. Default true. */
  exact?: boolean;
  /** Opens the source of the weights. Default: the file. */
  openTensors?: (gguf: GgufFile) => Promise<TensorBytes>;
  /** Where its weights and operations are, by the device that it is loaded on. Default: all there. */
  placementOn?: (device: Device) => Placement;
  onProgress?: (progress: LoadProgress) => void;
  signal?: AbortSignal;
}
