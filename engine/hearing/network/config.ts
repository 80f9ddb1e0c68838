// The numbers of an audio encoder from its metadata, `clip.audio.*`. All norms have the same epsilon.

import { Config } from "../../nn/mod.ts";

/**
 * Typed access to an encoder's metadata. All methods throw GgufError for a value of another type.
 */
export class HearingConfig extends Config {
  /** Bands of the features. */
  get bins(): number {
    return this.size("num_mel_bins");
  }

  override epsilon(): number {
    return this.numberOr("attention.layer_norm_epsilon", 1e-5);
  }
}
