// A family of audio encoders: everything about one type of projector. Each family is an object in
// families/; no other code knows one by name.

import type { FloatRows } from "../../../kernels/mod.ts";
import type { GgufFile } from "../../gguf/mod.ts";
import type { SoundFeatures } from "../features.ts";
import type { SoundBuilder } from "./builder.ts";
import type { HearingConfig } from "./config.ts";
import type { Stem } from "./convolutions.ts";

/** Small tensors of the file as numbers. */
export interface TensorValues {
  /** Errors: GgufError if it is missing or has another shape. */
  values(name: string, shape: readonly number[]): Float32Array;
}

/** An audio encoder with its projector, its input, and how decoders use its rows. */
export interface HearingFamily {
  /** The `clip.audio.projector_type` of its files, or `clip.projector_type`, such as "ultravox". */
  readonly projector: string;
  /** The features that it hears, and the windows into which it divides a sound. */
  features(config: HearingConfig, weights: TensorValues): SoundFeatures;
  /** Rows that a window becomes. */
  tokens(frames: number, config: HearingConfig): number;
  /** The texts before and after a sound, with which models were trained: control tokens, or empty. */
  readonly marks: readonly [before: string, after: string];
  /** Columns of its output rows, from the header of its file. Errors: GgufError. */
  columns(gguf: GgufFile): number;
  /** Builds the network. Errors: GgufError. */
  build(sound: SoundBuilder): Promise<BuiltHearing>;
}

/** A network that was built. */
export interface BuiltHearing {
  /** The output of a run: [tokens, columns]. */
  readonly output: FloatRows;
  /** What runs before it, piece by piece. */
  readonly stem?: Stem;
  /** Rows of the output for a window. Default: its tokens. */
  readonly rows?: (frames: number) => number;
  /** Makes the decoder's input from the output, if they differ. */
  readonly finish?: (rows: Float32Array, columns: number) => Float32Array | Promise<Float32Array>;
}
